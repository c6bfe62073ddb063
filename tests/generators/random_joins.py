"""Random joins: of every kind, by equalities, by a range, or by both; and with the nearest row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbsp.testing.choices import chance
from tests.generators.programs import Column
from tests.generators.random_parts import ORDERED, Parts, Relation

Shape = tuple[str, tuple[Column, ...], int, str]
Pairs = Sequence[tuple[Column, Column]]
# without values that tie and are different
_TIMES = ("INT", "BIGINT", "STRING", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "DECIMAL(10,2)")


def join(select: Parts) -> Shape:
    """Two relations; a plain query where no column of one can be compared with one of the other."""
    choices = select.choices
    left, right = select.relation(3), select.relation(3)
    columns, pairs = _pairs(select, left, right)
    if not pairs:
        return select.everything()
    tests = []
    for _ in range(choices.integer(1, 2)):
        a, b = choices.choice(pairs)
        operator = "IS NOT DISTINCT FROM" if chance(choices, 6) else "="
        tests.append(f"{a.name} {operator} {b.name}")
    kind = choices.choice(["JOIN", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    if chance(choices, 3):
        tests.append(select.condition(columns))
    if chance(choices, 3):
        ranged = _range(select, pairs)
        tests = [ranged] if chance(choices, 4) else [*tests, ranged]
    expressions = [select.expression(columns) for _ in range(choices.integer(1, 4))]
    text, named = select.listed(expressions)
    query = (
        f"SELECT {text} FROM {left.name} l {kind} {right.name} r ON {' AND '.join(dict.fromkeys(tests))}"
        f"{select.where(columns)}"
    )
    return query, named, left.fanout * right.fanout * 3, query


def as_of(select: Parts) -> Shape:
    """ASOF JOIN with right rows of which each key and time has one: it is clear which is the nearest."""
    choices = select.choices
    left, right = select.relation(3), select.relation(3)
    columns, pairs = _pairs(select, left, right)
    pairs = [pair for pair in pairs if pair[0].type in _TIMES and pair[1].type in _TIMES]
    if not pairs:
        return select.everything()
    mine, other = choices.choice(pairs)
    keys = [choices.choice(pairs)] if choices.integer(0, 3) else []
    once = [*dict.fromkeys(column.name.removeprefix("r.") for _, column in [*keys, (mine, other)])]
    value = choices.choice([c for c in right.columns if c.exact and c.type in ORDERED])
    nearest = (
        f"(SELECT {', '.join(once)}, max({value.name}) AS v FROM {right.name}{select.where(right.columns)} "
        f"GROUP BY {', '.join(once)})"
    )
    read = [c for c in columns if c.name.startswith("l.") or c.name.removeprefix("r.") in once]
    read.append(replace(value, name="r.v"))
    text, named = select.listed([select.expression(read) for _ in range(choices.integer(1, 4))])
    outer = choices.choice(["", "LEFT "])
    match = f"{mine.name} {choices.choice(['>=', '>', '<=', '<'])} {other.name}"
    equal = [f"{a.name} = {b.name}" for a, b in keys]
    where = select.where(read)
    query = f"SELECT {text} FROM {left.name} l {outer}ASOF JOIN {nearest} r MATCH_CONDITION ({match})"
    query += f" ON {equal[0]}{where}" if equal else where
    there = (
        f"SELECT {text} FROM {left.name} l ASOF {outer}JOIN {nearest} r ON {' AND '.join([*equal, match])}"
    )
    return query, named, left.fanout, there + where


def _pairs(select: Parts, left: Relation, right: Relation) -> tuple[tuple[Column, ...], Pairs]:
    """(the columns of both, as l.x and r.x; those of either that compare exactly)."""
    sides = [
        tuple(replace(c, name=f"{alias}.{c.name}") for c in r.columns)
        for alias, r in (("l", left), ("r", right))
    ]
    pairs = [
        (a, b)
        for a in sides[0]
        for b in sides[1]
        if a.exact and b.exact and select.comparable(a.type, b.type) and a.type in ORDERED
    ]
    return sides[0] + sides[1], pairs


def _range(select: Parts, pairs: Pairs) -> str:
    """A condition that one column is beyond another, or within bounds that the other gives."""
    choices = select.choices
    a, b = choices.choice(pairs)
    if choices.integer(0, 1):
        a, b = b, a
    if choices.integer(0, 1):
        return f"{a.name} {choices.choice(['<', '<=', '>', '>='])} {b.name}"
    others = [pair[i] for pair in pairs for i in (0, 1) if pair[1 - i].name == a.name]
    low, high = b.name, choices.choice(others).name
    if b.type in ("INT", "BIGINT"):
        low, high = f"{b.name} - {choices.integer(0, 2)}", f"{b.name} + 1"
    elif b.type in ("TIMESTAMP", "TIMESTAMP_NTZ") and choices.integer(0, 1):
        high = f"{b.name} + INTERVAL '10' MINUTE"
    return f"{a.name} BETWEEN {low} AND {high}"
