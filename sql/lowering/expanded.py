"""A GROUP BY over expanded rows that can be combined before they are multiplied (`CombineExpanded`).

The keys of all projections are taken apart into the largest expressions that they share: of windows that hop,
the start of a row's last window; of ROLLUP and CUBE, the columns of the finest grouping.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dbsp.circuits.expressions.nodes import Call, Column, Expression, columns_of, substitute

Row = tuple[Expression, ...]


@dataclass(frozen=True)
class Shared:
    """projections: the keys of each, over `shared`. shared, arguments: over the rows before they expand."""

    projections: tuple[Row, ...]
    shared: Row
    arguments: Row


def shared_parts(projections: Sequence[Row], keys: Row, arguments: Row) -> Shared | None:
    """keys, arguments: over the expanded rows. None: the projections share nothing, or not the arguments."""
    made = [tuple(_over(row, e) for e in keys) for row in projections]
    values = {tuple(_over(row, e) for e in arguments) for row in projections}
    parts: dict[Expression, Column] = {}
    for column in zip(*made, strict=True):
        found = _common([e for e in column if any(True for _ in columns_of(e))])
        if found is None:
            return None
        for part in found:
            parts.setdefault(part, Column(len(parts), part.type, part.nullable))
    if len(values) > 1 or not parts:
        return None
    rows = tuple(tuple(_in_terms_of(parts, e) for e in row) for row in made)
    return Shared(rows, tuple(parts), values.pop())


def _over(row: Row, expression: Expression) -> Expression:
    return substitute(expression, lambda column: row[column.index])


def _common(expressions: Sequence[Expression]) -> list[Expression] | None:
    """The largest parts that all of them have, and of which each is a function; None: there are no such."""
    if not expressions:
        return []
    first, *others = expressions
    inside = [set(_parts(other)) for other in others]
    found = _cover(first, inside)
    if found is None:
        return None
    known = dict.fromkeys(found, True)
    return found if all(_is_covered(other, known) for other in others) else None


def _cover(expression: Expression, inside: Sequence[set[Expression]]) -> list[Expression] | None:
    if not any(True for _ in columns_of(expression)):
        return []
    if all(expression in parts for parts in inside):
        return [expression]
    if not isinstance(expression, Call):
        return None
    found = [_cover(argument, inside) for argument in expression.arguments]
    return None if None in found else [part for parts in found for part in parts or ()]


def _parts(expression: Expression) -> Iterator[Expression]:
    yield expression
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _parts(argument)


def _is_covered(expression: Expression, parts: Mapping[Expression, object]) -> bool:
    if expression in parts or not any(True for _ in columns_of(expression)):
        return True
    return isinstance(expression, Call) and all(_is_covered(a, parts) for a in expression.arguments)


def _in_terms_of(parts: Mapping[Expression, Column], expression: Expression) -> Expression:
    if expression in parts:
        return parts[expression]
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_in_terms_of(parts, a) for a in expression.arguments))
    return expression
