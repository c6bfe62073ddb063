"""Set operations within set operations: UNION, INTERSECT, EXCEPT, each with ALL or without."""

from __future__ import annotations

from collections.abc import Sequence

from dbsp.testing.choices import chance
from tests.generators.programs import Column
from tests.generators.random_parts import ORDERED, Expr, Parts

Shape = tuple[str, tuple[Column, ...], int, str]
_OPERATORS = ("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL", "MINUS")


def nest(select: Parts) -> Shape:
    """Of up to four queries of the same types, with parentheses or by precedence."""
    choices, first = select.choices, select.relation(4)
    able = [c for c in first.columns if c.exact and c.type in ORDERED]
    if not able:
        return select.everything()
    drawn = [choices.choice(able) for _ in range(choices.integer(1, 2))]
    kinds = [c.type for c in drawn]
    query, bounds = _of(select, kinds, choices.integer(1, 2))
    columns = tuple(
        Column(f"c{n}", kind, True, bound, summable=False)
        for n, (kind, bound) in enumerate(zip(kinds, bounds, strict=True))
    )
    if chance(choices, 3):
        counted = f"SELECT {', '.join(c.name for c in columns)}, count(*) AS n FROM ({query}) q GROUP BY ALL"
        return counted, (*columns, Column("n", "BIGINT", True, 1000)), 1, ""
    return query, columns, 12, ""


def _of(select: Parts, kinds: Sequence[str], depth: int) -> tuple[str, list[int]]:
    """(a query of these types, the largest number of each column)."""
    choices = select.choices
    if not depth:
        relation = select.relation(6)
        exact = [c for c in relation.columns if c.exact]
        parts: list[Expr] = [select.typed(exact, kind) for kind in kinds]
        text = select.listed(parts)[0]
        return f"SELECT {text} FROM {relation.name}{select.where(relation.columns)}", [e.bound for e in parts]
    left, lows = _of(select, kinds, depth - 1)
    right, highs = _of(select, kinds, choices.integer(0, depth - 1))
    bounds = [max(pair) for pair in zip(lows, highs, strict=True)]
    operator = choices.choice(_OPERATORS)
    if chance(choices, 2):
        return f"({left}) {operator} ({right})", bounds
    return f"{left} {operator} {right}", bounds


SHAPES = (nest,)
