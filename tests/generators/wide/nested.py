"""Sub-queries within sub-queries: scalar, EXISTS and IN, each correlated with the query around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbsp.testing.choices import chance
from tests.generators.programs import Column
from tests.generators.random_parts import ORDERED, Expr, Parts, Relation

Shape = tuple[str, tuple[Column, ...], int, str]
_SMALL = ("INT", "BIGINT")


def nested(select: Parts) -> Shape:
    """Rows that a sub-query of up to three depths chooses, or beside what one computes."""
    choices, outer = select.choices, select.relation()
    columns = _named(outer, "l")
    expressions = [select.expression(columns) for _ in range(choices.integer(1, 2))]
    depth = choices.integer(1, 3)
    where = ""
    if chance(choices, 2):
        expressions.append(_value(select, columns, depth))
    else:
        where = f" WHERE {_test(select, columns, depth)}"
    text, named = select.listed(expressions)
    return f"SELECT {text} FROM {outer.name} l{where}", named, outer.fanout, ""


def grouped(select: Parts) -> Shape:
    """A sub-query of each group: in HAVING, as a value of its key, or within an aggregate's FILTER."""
    choices, outer = select.choices, select.relation()
    columns = _named(outer, "l")
    able = [c for c in columns if c.exact and c.type in ORDERED]
    if not able:
        return select.everything()
    key = choices.choice(able)
    expressions = [Expr(key.name, key.type, key.bound, True, key.summable), *select.aggregates(columns)]
    having = ""
    form = choices.integer(0, 2)
    if form == 0:
        # Spark takes none of a group's key but within an aggregate
        value = _value(select, (key,), 1)
        expressions.append(replace(value, text=f"max({value.text})"))
    elif form == 1:
        having = f" HAVING {_test(select, (key,), 2)}"
    else:
        # of a condition that isn't correlated, which is what Spark takes within an aggregate
        inner = select.relation()
        total = f"(SELECT count(*) FROM {inner.name}{select.where(inner.columns)})"
        expressions.append(Expr(f"sum(length(CAST({key.name} AS STRING)) + {total})", "BIGINT", 10**6))
    text, named = select.listed(expressions)
    return f"SELECT {text} FROM {outer.name} l GROUP BY {key.name}{having}", named, 1, ""


def _named(relation: Relation, alias: str) -> tuple[Column, ...]:
    return tuple(replace(c, name=f"{alias}.{c.name}") for c in relation.columns)


def _correlation(select: Parts, outer: Sequence[Column], inner: Sequence[Column]) -> str:
    """A condition between the two, mostly an equality; none where nothing compares."""
    pairs = [
        (a, b)
        for a in outer
        for b in inner
        if a.exact and b.exact and a.type in ORDERED and select.comparable(a.type, b.type)
    ]
    if not pairs:
        return ""
    a, b = select.choices.choice(pairs)
    operator = select.choices.choice(["=", "=", "=", "<=>", "<", ">="])
    return f"{b.name} {operator} {a.name}"


def _where(select: Parts, outer: Sequence[Column], inner: Sequence[Column], depth: int) -> str:
    """Of a sub-query: correlated, and of what the next depth says of its rows."""
    tests = [_correlation(select, outer, inner)]
    if chance(select.choices, 3):
        tests.append(select.condition(inner))
    if depth > 1:
        tests.append(_test(select, inner, depth - 1))
    found = " AND ".join(test for test in tests if test)
    return f" WHERE {found}" if found else ""


def _test(select: Parts, outer: Sequence[Column], depth: int) -> str:
    """A condition on the outer row by a sub-query of that many depths."""
    choices, relation = select.choices, select.relation()
    inner = _named(relation, f"s{depth}")
    source = f"{relation.name} s{depth}"
    pairs = [
        (a, b) for a in outer for b in inner if a.exact and b.exact and a.type == b.type and a.type in ORDERED
    ]
    forms = ["exists", "exists", "count"]
    if pairs:
        forms += ["in", "in", "in two", "compared", "in a set"]
    form = choices.choice(forms)
    negated = choices.choice(["", "NOT "])
    if form == "exists":
        return f"{negated}EXISTS (SELECT 1 FROM {source}{_where(select, outer, inner, depth)})"
    if form == "count":
        operator, least = choices.choice(["=", "<", ">="]), choices.integer(0, 2)
        return f"(SELECT count(*) FROM {source}{_where(select, outer, inner, depth)}) {operator} {least}"
    a, b = choices.choice(pairs)
    if form == "in":
        return f"{a.name} {negated}IN (SELECT {b.name} FROM {source}{_where(select, outer, inner, depth)})"
    if form == "in two":
        c, d = choices.choice(pairs)
        wanted = f"SELECT {b.name}, {d.name} FROM {source}{_where(select, outer, inner, depth)}"
        return f"({a.name}, {c.name}) {negated}IN ({wanted})"
    if form == "in a set":
        # of no correlation, as Spark has none within a set operation
        operator = choices.choice(["UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL"])
        first = f"SELECT {b.name} FROM {source}"
        second = f"SELECT {b.name} FROM {source} WHERE {select.condition(inner)}"
        return f"{a.name} {negated}IN ({first} {operator} {second})"
    function, operator = choices.choice(["min", "max"]), choices.choice(["=", "<>", "<", ">="])
    where = _where(select, outer, inner, depth)
    return f"{a.name} {operator} (SELECT {function}({b.name}) FROM {source}{where})"


def _value(select: Parts, outer: Sequence[Column], depth: int) -> Expr:
    """A scalar sub-query: an aggregate of the rows that belong to the outer one, or whether there are any."""
    choices, relation = select.choices, select.relation()
    inner = _named(relation, f"s{depth}")
    source = f"{relation.name} s{depth}{_where(select, outer, inner, depth)}"
    able = [c for c in inner if c.exact and c.type in ORDERED]
    form = choices.integer(0, 3)
    if form == 0:
        return Expr(f"CASE WHEN {_test(select, outer, depth)} THEN 'y' ELSE 'n' END", "STRING")
    if form == 1 or not able:
        return Expr(f"(SELECT count(*) FROM {source})", "BIGINT", 1000, summable=False)
    c = choices.choice(able)
    if form == 2 and c.type in _SMALL:
        return Expr(
            f"coalesce((SELECT count({c.name}) + max({c.name} % 10) FROM {source}), -1)", "BIGINT", 1000
        )
    return Expr(
        f"(SELECT {choices.choice(['min', 'max'])}({c.name}) FROM {source})", c.type, c.bound, True, False
    )


SHAPES = (nested, nested, grouped)
