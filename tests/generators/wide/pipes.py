"""Queries in pipes: each step takes the relation so far, and makes another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dbsp.testing.choices import chance
from tests.generators.programs import Column
from tests.generators.random_parts import ORDERED, Expr, Parts

Shape = tuple[str, tuple[Column, ...], int, str]
# (the step's text, the columns after it, how many times the rows there may be)
Step = tuple[str, tuple[Column, ...], int]
_FLOATING = ("FLOAT", "DOUBLE")


def piped(select: Parts) -> Shape:
    """One to four steps behind a relation; at last its columns by names of their own."""
    choices, relation = select.choices, select.relation(4)
    columns, fanout = relation.columns, relation.fanout
    text = f"{choices.choice(['FROM', 'TABLE'])} {relation.name}"
    steps: list[Callable[[Parts, tuple[Column, ...]], Step]] = [
        _where, _extend, _set, _drop, _aggregate, _joined, _united, _limited, _exploded, _named
    ]  # fmt: skip
    for _ in range(choices.integer(1, 4)):
        step, columns, times = choices.choice(steps)(select, columns)
        text += f" |> {step}"
        fanout *= times
    listed, named = select.listed([_plain(c) for c in columns])
    return f"{text} |> SELECT {listed}", named, fanout, ""


def expressed(select: Parts) -> Shape:
    """A common table expression, and what is selected of it."""
    choices, relation = select.choices, select.relation()
    condition = select.condition(relation.columns)
    text, named = select.listed([select.expression(relation.columns) for _ in range(2)])
    first = f"SELECT * FROM {relation.name} WHERE {condition}"
    if chance(choices, 3):
        where = select.where(relation.columns)
        return (
            f"WITH q AS ({first}), r AS (FROM q{where and f' |>{where}'}) SELECT {text} FROM r",
            named,
            relation.fanout,
            "",
        )
    return f"WITH q AS ({first}) SELECT {text} FROM q", named, relation.fanout, ""


def _plain(c: Column) -> Expr:
    return Expr(c.name, c.type, c.bound, c.exact, c.summable)


def _where(select: Parts, columns: tuple[Column, ...]) -> Step:
    return f"WHERE {select.condition(columns)}", columns, 1


def _extend(select: Parts, columns: tuple[Column, ...]) -> Step:
    e = select.expression(columns)
    name = f"e{len(columns)}"
    if any(c.name == name for c in columns):
        return _where(select, columns)
    made = Column(name, e.type, True, e.bound, e.exact, e.summable)
    return f"EXTEND {e.text} AS {name}", (*columns, made), 1


def _set(select: Parts, columns: tuple[Column, ...]) -> Step:
    e, c = select.expression(columns), select.choices.choice(columns)
    changed = Column(c.name, e.type, True, e.bound, e.exact, e.summable)
    return f"SET {c.name} = {e.text}", tuple(changed if x is c else x for x in columns), 1


def _drop(select: Parts, columns: tuple[Column, ...]) -> Step:
    if len(columns) < 2:
        return _where(select, columns)
    c = select.choices.choice(columns)
    return f"DROP {c.name}", tuple(x for x in columns if x is not c), 1


def _aggregate(select: Parts, columns: tuple[Column, ...]) -> Step:
    """The keys come first."""
    keys = [replace(e, text=e.text) for e in select.keys(columns, 2)]
    drawn = select.aggregates(columns)
    made = [Column(f"a{n}", e.type, True, e.bound, e.exact, e.summable) for n, e in enumerate(drawn)]
    names = [Column(f"g{n}", e.type, True, e.bound, e.exact, e.summable) for n, e in enumerate(keys)]
    text = f"AGGREGATE {', '.join(f'{e.text} AS {c.name}' for e, c in zip(drawn, made, strict=True))}"
    if keys:
        text += f" GROUP BY {', '.join(f'{e.text} AS {c.name}' for e, c in zip(keys, names, strict=True))}"
    return text, (*names, *made), 1


def _joined(select: Parts, columns: tuple[Column, ...]) -> Step:
    """With another relation's key: an equality of a column of either, of names that don't meet."""
    choices, right = select.choices, select.relation(1)
    pairs = [
        (a, b)
        for a in columns
        for b in right.columns
        if a.exact and b.exact and a.type == b.type and a.type in ORDERED
    ]
    if not pairs:
        return _where(select, columns)
    a, b = choices.choice(pairs)
    taken = {c.name for c in columns}
    new = next(f"j{n}" for n in range(10) if f"j{n}" not in taken)
    kind = choices.choice(["JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "FULL JOIN"])
    made = replace(b, name=new, nullable=True)
    # of a FULL JOIN the left columns may be NULL, too
    left = tuple(replace(c, nullable=True) for c in columns)
    after = left if "SEMI" in kind or "ANTI" in kind else (*left, made)
    inner = f"(SELECT {b.name} AS {new} FROM {right.name}{select.where(right.columns)}) r"
    return f"{kind} {inner} ON {a.name} = r.{new}", after, 3


def _united(select: Parts, columns: tuple[Column, ...]) -> Step:
    """A set operation with the same columns of another relation, or what stands for them."""
    choices, right = select.choices, select.relation(1)
    comparable = all(c.exact and c.type in ORDERED for c in columns)
    operators = ["UNION ALL", "UNION ALL"]
    if comparable:
        operators += ["UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"]
    operator = choices.choice(operators)
    parts = [select.typed([c for c in right.columns if c.exact], c.type) for c in columns]
    text = select.listed(parts)[0]
    both = tuple(
        replace(c, nullable=True, bound=max(c.bound, e.bound), summable=c.summable and e.summable)
        for c, e in zip(columns, parts, strict=True)
    )
    return f"{operator} SELECT {text} FROM {right.name}{select.where(right.columns)}", both, 2


def _limited(select: Parts, columns: tuple[Column, ...]) -> Step:
    """The first rows, in an order of all columns; a filter where one of them has none."""
    choices = select.choices
    if not all(c.exact and c.type in ORDERED and c.type not in _FLOATING for c in columns):
        return _where(select, columns)
    order = ", ".join(f"{c.name} {choices.choice(['ASC', 'DESC'])}" for c in columns)
    offset = choices.choice(["", "", " |> OFFSET 1"])
    return f"ORDER BY {order}{offset} |> LIMIT {choices.integer(1, 4)}", columns, 1


def _exploded(select: Parts, columns: tuple[Column, ...]) -> Step:
    c = select.choices.choice(columns)
    taken = {x.name for x in columns}
    new = next(f"x{n}" for n in range(10) if f"x{n}" not in taken)
    made = replace(c, name=new, nullable=True)
    join = select.choices.choice(["JOIN", "LEFT JOIN"])
    call = f"explode(if({select.condition(columns)}, array({c.name}, NULL), array()))"
    return f"{join} LATERAL {call} AS u({new})", (*columns, made), 2


def _named(select: Parts, columns: tuple[Column, ...]) -> Step:
    """A name for the relation so far, and a column by it."""
    c = select.choices.choice(columns)
    return f"AS q |> WHERE q.{c.name} IS NOT NULL", columns, 1


SHAPES: tuple[Callable[[Parts], Shape], ...] = (piped, piped, expressed)
