"""GROUPING SETS, ROLLUP and CUBE, also beside and within one another; which set a row is of."""

# ruff: noqa: E501  a query a line

from __future__ import annotations

from collections.abc import Callable

from dbsp.testing.choices import chance
from tests.generators.programs import Column
from tests.generators.random_parts import ORDERED, Expr, Parts

Shape = tuple[str, tuple[Column, ...], int, str]


def sets(select: Parts) -> Shape:
    """Of two columns, or of three expressions."""
    choices, relation = select.choices, select.relation()
    able = [c for c in relation.columns if c.exact and c.type in ORDERED]
    if not able:
        return select.everything()
    a, b = choices.choice(able), choices.choice(able)
    x, y = a.name, b.name
    by = choices.choice(
        [
            f"ROLLUP ({x}, {y})",
            f"CUBE ({x}, {y})",
            f"GROUPING SETS (({x}), ({y}), ())",
            f"GROUPING SETS (({x}, {y}), ({x}, {y}), ({y}))",
            f"{x}, {y} WITH ROLLUP",
            f"{x}, {y} GROUPING SETS (({y}), ())",
            f"{x}, CUBE ({y})",
            f"ROLLUP ({x}), CUBE ({y})",
            f"GROUPING SETS (ROLLUP ({x}, {y}), CUBE ({y}))",
            f"ROLLUP (({x}, {y}))",
        ]
    )
    marks = choices.choice(
        [
            f"CAST(grouping({x}) AS INT)",
            "CAST(grouping_id() AS INT)",
            f"CAST(grouping({x}) + 2 * grouping({y}) AS INT)",
            f"CAST(CASE WHEN grouping({y}) = 1 THEN 7 ELSE 0 END AS INT)",
        ]
    )
    if "()" not in marks and not {x, y} <= set(
        by.replace("(", " ").replace(")", " ").replace(",", " ").split()
    ):
        marks = "CAST(grouping_id() AS INT)"
    text, named = select.listed([_plain(a), _plain(b), *select.aggregates(relation.columns)])
    having = f" HAVING grouping_id() <> {choices.integer(0, 3)} OR count(*) > 1" if chance(choices, 4) else ""
    if x == y or f"({x}, {y}), ({x}" in by or "(ROLLUP" in by:
        having = ""  # of a set that is there twice Spark finds no grouping_id() there
    query = f"SELECT {text}, {marks} AS of_set FROM {relation.name}{select.where(relation.columns)} GROUP BY {by}{having}"
    return query, (*named, Column("of_set", "INT")), 3, ""


def everything_else(select: Parts) -> Shape:
    """GROUP BY ALL, by positions and by the names of the select list."""
    choices, relation = select.choices, select.relation()
    keys = select.keys(relation.columns, 2)
    text, named = select.listed([*keys, *select.aggregates(relation.columns)])
    query = f"SELECT {text} FROM {relation.name}{select.where(relation.columns)}"
    if not keys:
        return f"{query} GROUP BY ALL", named, 1, ""
    positions = ", ".join(str(n + 1) for n in range(len(keys)))
    by = choices.choice(["ALL", positions])
    return f"{query} GROUP BY {by}", named, 1, ""


def _plain(c: Column) -> Expr:
    return Expr(c.name, c.type, c.bound, c.exact, c.summable)


SHAPES: tuple[Callable[[Parts], Shape], ...] = (sets, sets, everything_else)
