"""Typed scalar expressions over the columns of one batch.

An expression is a tree of four node kinds. Types are Arrow's; columns are positions, so that equal
expressions are equal values and a circuit can be hash-consed, hashed and pickled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa

# a sum of n terms is n levels, each of which takes several calls to walk; Spark takes some hundreds of them
sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))


@dataclass(frozen=True, slots=True)
class Column:
    """The value of column `index` of the input rows."""

    index: int
    type: pa.DataType
    nullable: bool = True

    def __str__(self) -> str:
        return f"#{self.index}"


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant: what `pa.scalar(value, type)` holds; None is NULL."""

    value: object
    type: pa.DataType

    # by spelling: 0.0 and -0.0 are different constants, NaN is the same as NaN
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._spelled == other._spelled

    @property
    def _spelled(self) -> tuple[str, pa.DataType]:
        return repr(self.value), self.type

    def __hash__(self) -> int:
        return hash(self._spelled)

    @property
    def nullable(self) -> bool:
        return self.value is None

    def __str__(self) -> str:
        return "NULL" if self.value is None else repr(self.value)


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter of a lambda: `Call("lambda_function", (body, *parameters))`, as in `x -> x + 1`.

    index: how many parameters the lambdas around it have, plus its place among its own lambda's; so equal
    lambdas are equal values, whatever their parameters are called.
    """

    index: int
    type: pa.DataType
    nullable: bool = True
    name: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.name or f"${self.index}"


@dataclass(frozen=True, slots=True)
class Call:
    """`function(arguments)`; `function` is a name in `dbsp.circuits.functions.library`.

    options: what is not an expression (time zone, evaluation mode, escape character ...), as sorted
    (name, value) pairs. text: the user's spelling, for messages only.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: pa.DataType
    nullable: bool = True
    options: tuple[tuple[str, object], ...] = ()
    text: str = field(default="", compare=False)

    def option(self, name: str, default: object = None) -> object:
        return dict(self.options).get(name, default)

    def __str__(self) -> str:
        return self.text or f"{self.function}({', '.join(map(str, self.arguments))})"


Expression = Column | Literal | Variable | Call


def columns_of(expression: Expression) -> Iterator[int]:
    """The input positions an expression reads, with repetitions."""
    if isinstance(expression, Column):
        yield expression.index
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from columns_of(argument)


def remap(expression: Expression, position: dict[int, int]) -> Expression:
    """The same expression over reordered input columns."""
    return substitute(expression, lambda column: replace(column, index=position[column.index]))


def substitute(expression: Expression, instead: Callable[[Column], Expression]) -> Expression:
    """The expression with something in place of each column."""
    if isinstance(expression, Column):
        return instead(expression)
    if isinstance(expression, Call):
        arguments = tuple(substitute(argument, instead) for argument in expression.arguments)
        return replace(expression, arguments=arguments)
    return expression
