"""Clauses that say the same in other words: orders of a sub-query, names that are texts, USING, VALUES."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.generators.programs import Column
from tests.generators.random_parts import ORDERED, Expr, Parts

Shape = tuple[str, tuple[Column, ...], int, str]
_FLOATING = ("FLOAT", "DOUBLE")


def arranged(select: Parts) -> Shape:
    """A sub-query in an order, or spread over tasks by one, of which nothing is left outside."""
    choices, relation = select.choices, select.relation()
    able = [c.name for c in relation.columns if c.type in ORDERED]
    if not able:
        return select.everything()
    a, b = choices.choice(able), choices.choice(able)
    clause = choices.choice(
        [f"SORT BY {a} DESC, {b}", f"DISTRIBUTE BY {a}", f"CLUSTER BY {a}", f"DISTRIBUTE BY {a} SORT BY {b}",
         f"ORDER BY {a}, {b} DESC NULLS FIRST"]
    )  # fmt: skip
    hint = choices.choice(["", "", "/*+ REPARTITION(2) */ ", "/*+ COALESCE(1) */ "])
    inner = f"(SELECT {hint}* FROM {relation.name}{select.where(relation.columns)} {clause}) q"
    if choices.integer(0, 1):
        keys = select.keys(relation.columns, 1)
        text, named = select.listed([*keys, *select.aggregates(relation.columns)])
        by = f" GROUP BY {keys[0].text}" if keys else ""
        return f"SELECT {text} FROM {inner}{by}", named, 1, ""
    text, named = select.listed([select.expression(relation.columns) for _ in range(2)])
    return f"SELECT {text} FROM {inner}", named, relation.fanout, ""


def identified(select: Parts) -> Shape:
    """Names that are texts."""
    choices, relation = select.choices, select.relation()
    c = choices.choice(relation.columns)
    halves = f"'{relation.name[:1]}' || '{relation.name[1:]}'"
    source = choices.choice([f"IDENTIFIER('{relation.name}')", f"IDENTIFIER({halves})"])
    named = replace(c, name="c0", nullable=True)
    column = choices.choice([f"IDENTIFIER('{c.name}')", f"IDENTIFIER('q.{c.name}')"])
    more = select.expression(relation.columns)
    call = Expr("IDENTIFIER('coalesce')(NULL, 3)", "INT")
    text, others = select.listed([Expr("0", "INT"), more, call])
    text = text.replace("0 AS c0", f"{column} AS c0", 1)
    return (
        f"SELECT {text} FROM {source} q{select.where(relation.columns)}",
        (named, *others[1:]),
        relation.fanout,
        "",
    )


def using(select: Parts) -> Shape:
    """Joins along columns of one name, which are one column after it."""
    choices, left, right = select.choices, select.relation(3), select.relation(3)
    pairs = [
        (a, b)
        for a in left.columns
        for b in right.columns
        if a.exact and b.exact and a.type == b.type and a.type in ORDERED and a.type not in _FLOATING
    ]
    if not pairs:
        return select.everything()
    a, b = choices.choice(pairs)
    x, y = choices.choice(left.columns), choices.choice(right.columns)
    kind = choices.choice(
        ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "NATURAL JOIN", "NATURAL FULL JOIN"]
    )
    mine = f"(SELECT {a.name} AS key_, {x.name} AS x FROM {left.name}) l"
    yours = f"(SELECT {b.name} AS key_, {y.name} AS y FROM {right.name}{select.where(right.columns)}) r"
    on = "" if "NATURAL" in kind else " USING (key_)"
    columns = [Expr("key_", a.type, max(a.bound, b.bound), True, False), _of(x, "x"), _of(y, "y")]
    text, named = select.listed(columns)
    return f"SELECT {text} FROM {mine} {kind} {yours}{on}", named, left.fanout * right.fanout * 3, ""


def listed(select: Parts) -> Shape:
    """Beside rows that are written down, by every kind of join."""
    choices, relation = select.choices, select.relation(4)
    able = [c for c in relation.columns if c.exact and c.type in ORDERED and c.type != "TIMESTAMP_NTZ"]
    if not able:
        return select.everything()
    c = choices.choice(able)
    rows = ", ".join(
        f"(CAST({select.literal(c.type)} AS {c.type}), {n})" for n in range(choices.integer(1, 3))
    )
    kind = choices.choice(
        ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"]
    )
    values = f"(VALUES {rows}, (NULL, 9)) AS w(x, n)"
    operator = choices.choice(["=", "<=>", "<", *(["COLLATE UTF8_LCASE ="] if c.type == "STRING" else [])])
    on = "" if kind == "CROSS JOIN" else f" ON q.{c.name} {operator} w.x"
    made = [Expr(f"q.{c.name}", c.type, c.bound, True, False)]
    if "SEMI" not in kind and "ANTI" not in kind:
        made += [Expr("w.x", c.type, c.bound, True, False), Expr("w.n", "INT", 10)]
    text, named = select.listed(made)
    return f"SELECT {text} FROM {relation.name} q {kind} {values}{on}", named, relation.fanout * 4, ""


def aliased(select: Parts) -> Shape:
    """A column of the select list that reads one before it; all but some columns; the select list last."""
    choices, relation = select.choices, select.relation()
    form = choices.integer(0, 2)
    where = select.where(relation.columns)
    if form == 0:
        first = select.expression(relation.columns)
        earlier = Column("first_", first.type, True, first.bound, first.exact, first.summable)
        then = select.expression((earlier,))
        query = f"SELECT {first.text} AS first_, {then.text} AS c1 FROM {relation.name}{where}"
        return (
            query,
            (earlier, Column("c1", then.type, True, then.bound, then.exact, then.summable)),
            relation.fanout,
            "",
        )
    if form == 1 and len(relation.columns) > 1:
        c = choices.choice(relation.columns)
        kept = tuple(x for x in relation.columns if x is not c)
        return f"SELECT * EXCEPT ({c.name}) FROM {relation.name}{where}", kept, relation.fanout, ""
    text, named = select.listed([select.expression(relation.columns) for _ in range(2)])
    return f"FROM {relation.name} SELECT {text}{where}", named, relation.fanout, ""


def _of(c: Column, name: str) -> Expr:
    return Expr(name, c.type, c.bound, c.exact, c.summable)


SHAPES: tuple[Callable[[Parts], Shape], ...] = (arranged, identified, using, listed, aliased)
