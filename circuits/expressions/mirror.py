"""Mirrored values: an order turned around, so that what never grows is what never falls.

    x <= y  ⇒  mirrored(y) <= mirrored(x)        mirrored(mirrored(x)) = x, but for NaN

So one algebra of lower bounds proves upper ones too: x <= u is mirrored(x) >= mirrored(u). In a map from
columns to bounds, i stands for the column i and ~i for the column mirrored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeGuard, TypeVar

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal

MIRRORED = "mirrored"
T = TypeVar("T")


def mirrored(expression: Expression) -> Expression:
    """The expression with its order turned around; NULL is in no order."""
    if is_mirrored(expression):
        return expression.arguments[0]
    if isinstance(expression, Literal) and expression.value is None:
        return expression
    return Call(MIRRORED, (expression,), expression.type, expression.nullable)


def is_mirrored(expression: Expression) -> TypeGuard[Call]:
    """Whether it is something mirrored."""
    return isinstance(expression, Call) and expression.function == MIRRORED


def column_at(key: int, data_type: pa.DataType) -> Expression:
    """What a key of a map from columns to bounds stands for."""
    return Column(key, data_type) if key >= 0 else mirrored(Column(~key, data_type))


def column_of(key: int) -> int:
    """The column that it is of."""
    return key if key >= 0 else ~key


def both(columns: Iterable[int]) -> Iterator[int]:
    """Each column, as it is and mirrored."""
    for column in columns:
        yield column
        yield ~column


def taken(of: Mapping[int, T], columns: Iterable[tuple[int, int]]) -> dict[int, T]:
    """What is known of old columns, of the new ones that they become. columns: (new, old)."""
    found = {}
    for new, old in columns:
        for here, there in ((new, old), (~new, ~old)):
            if there in of:
                found[here] = of[there]
    return found
