"""Queries along collations."""

# ruff: noqa: E501  a query a line
from __future__ import annotations

from dbsp.testing.choices import chance
from tests.generators.collated.calls import TEXT
from tests.generators.collated.texts import Collated, Shape, Text
from tests.generators.programs import Column
from tests.generators.random_parts import Expr


def standing(select: Collated) -> Shape:
    """Texts that stand for groups, as they are."""
    relation = select.choices.choice([r for r in select.relations if select.texts(r)])
    text = select.some(relation)
    form, where = select.choices.integer(0, 4), select.filtered(relation)
    columns = (Column("c0", TEXT + text.collation, exact=False),)
    if form == 0:
        return f"SELECT DISTINCT {text.sql} AS c0 FROM {relation.name}{where}", columns, 1, ""
    if form <= 2:
        operator = select.choice_of("UNION", "INTERSECT", "EXCEPT")
        other = select.text(relation, collation=text.collation)
        assert other is not None
        query = f"SELECT {text.sql} AS c0 FROM {relation.name}{where} {operator} SELECT {other.sql} FROM {relation.name}"
        return query, columns, 1, ""
    query = f"SELECT {text.sql} AS c0, count(*) AS c1 FROM {relation.name}{where} GROUP BY {text.sql}"
    return query, (*columns, Column("c1", "BIGINT", False, 1000)), 1, ""


def called(select: Collated) -> Shape:
    relation = select.source()
    if relation in select.kept:
        made = [Expr(select.tested(relation), "BOOLEAN") for _ in range(2)]
        return select.shape([*select.told(relation), *made], f"{relation.name}{select.filtered(relation)}", 1)
    made = [select.call(relation) for _ in range(select.choices.integer(1, 4))]
    text = select.some(relation)
    made.append(Expr(text.sql, TEXT + text.collation, exact=False))
    return select.shape(
        [*select.told(relation), *made], f"{relation.name}{select.filtered(relation)}", relation.fanout
    )


def grouped(select: Collated) -> Shape:
    relation = select.source()
    text = select.some(relation)
    more = [c for c in relation.columns if c.exact and c.type in ("INT", "BIGINT", "STRING", "BOOLEAN")]
    other = select.choices.choice(more) if more and chance(select.choices, 2) else None
    keys = [text.sql] + ([other.name] if other else [])
    made = [select.stands(text), *(select.folded(relation) for _ in range(select.choices.integer(1, 3)))]
    if other:
        made.append(Expr(other.name, other.type, other.bound))
    form = select.choices.integer(0, 9)
    if form == 0:
        keys, made[0] = [f"struct({text.sql} AS x, array({text.sql}) AS y)"], Expr("1", "INT", 1)
        made = [e for e in made if not other or e.text != other.name]
    by = ", ".join(keys)
    if 1 <= form <= 3:
        by = [f"ROLLUP ({by})", f"CUBE ({by})", f"GROUPING SETS (({by}), ())"][form - 1]
    having = "" if form <= 3 or not chance(select.choices, 4) else f" HAVING {text.sql} > 'a' OR count(*) > 1"
    return select.shape(made, f"{relation.name}{select.filtered(relation)} GROUP BY {by}{having}", 1)


def totals(select: Collated) -> Shape:
    relation = select.source()
    made = [select.folded(relation) for _ in range(select.choices.integer(1, 4))]
    return select.shape(made, f"{relation.name}{select.filtered(relation)}", 1)


def once(select: Collated) -> Shape:
    """Each text once, of one relation or two."""
    left, right = select.source(), select.source()
    text = select.some(left)
    other = select.text(right, collation=text.collation)
    if other is None or chance(select.choices, 3):
        inner = f"SELECT DISTINCT {text.sql} AS x FROM {left.name}{select.filtered(left)}"
    else:
        operator = select.choice_of("UNION", "UNION", "INTERSECT", "EXCEPT")
        inner = f"SELECT {text.sql} AS x FROM {left.name}{select.filtered(left)} {operator} SELECT {other.sql} FROM {right.name}"
    made = [select.stands(Text("q.x", text.collation))]
    made += [Expr("q.x < 'b'", "BOOLEAN")] if chance(select.choices, 2) else []
    return select.shape(made, f"({inner}) q", 1)


def joined(select: Collated) -> Shape:
    left, right = select.source(3), select.source(3)
    a = select.some(left, "l")
    b = select.text(right, "r", a.collation)
    if b is None:
        return called(select)
    kind = select.choice_of(
        "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"
    )
    on = f"{a.sql} {select.choice_of('=', '=', '=', '<=>', '<')} {b.sql}"
    if chance(select.choices, 4):
        on += f" AND {select.tested(left, 'l')}"
    mine = select.told(left, "l")
    made = mine if "SEMI" in kind or "ANTI" in kind else [*mine, *select.told(right, "r")]
    return select.shape(made, f"{left.name} l {kind} {right.name} r ON {on}", left.fanout * right.fanout * 3)


def shared(select: Collated) -> Shape:
    """Joins along columns of one name."""
    left, right = select.source(3), select.source(3)
    a = select.text(left, own=True)
    b = a and select.text(right, collation=a.collation)
    if a is None or b is None:
        return grouped(select)
    kind = select.choice_of("JOIN", "LEFT JOIN", "FULL JOIN")
    mine, yours = (
        f"(SELECT {a.sql} AS x FROM {left.name}) l",
        f"(SELECT {b.sql} AS x, 1 AS n FROM {right.name}) r",
    )
    made = [select.stands(Text("x", a.collation)), Expr("r.n", "INT", 1)]
    return select.shape(made, f"{mine} {kind} {yours} USING (x)", left.fanout * right.fanout * 3)


def among(select: Collated) -> Shape:
    """Rows whose text is, or isn't, among others."""
    left, right = select.source(), select.source()
    a = select.some(left, "l")
    b = select.text(right, "r", a.collation)
    if b is None:
        return called(select)
    rows = f"{right.name} r{' WHERE ' + select.tested(right, 'r') if chance(select.choices, 3) else ''}"
    exists = f"EXISTS (SELECT 1 FROM {right.name} r WHERE {b.sql} = {a.sql}"
    value = f"(SELECT {select.choice_of('max', 'min')}(struct({b.sql} AS x)).x FROM {rows})"
    # Spark groups the rows of such a sub-query by a column that it compares, along the column's own collation
    mine = select.text(right, "r", a.collation, own=True)
    tests = [f"{a.sql} IN (SELECT {b.sql} FROM {rows})", f"{a.sql} NOT IN (SELECT {b.sql} FROM {rows})",
             f"{exists})", f"NOT {exists})", f"{a.sql} {select.choice_of('=', '<')} {value}"]  # fmt: skip
    if mine:
        tests.append(f"(SELECT count(*) FROM {right.name} r WHERE {mine.sql} = {a.sql}) > 1")
    return select.shape(
        select.told(left, "l"), f"{left.name} l WHERE {select.choices.choice(tests)}", left.fanout
    )


def first_few(select: Collated) -> Shape:
    relation = select.source()
    text = select.some(relation)
    clause = f"ORDER BY {text.sql}{select.choice_of('', ' DESC')} LIMIT {select.choices.integer(1, 3)}"
    inner = f"(SELECT {text.sql} AS x FROM {relation.name}{select.filtered(relation)} {clause}) q"
    return select.shape([select.stands(Text("q.x", text.collation))], inner, relation.fanout)


def pivoted(select: Collated) -> Shape:
    relation = select.source()
    text = select.some(relation)
    inner = f"(SELECT {text.sql} AS x, 1 AS n FROM {relation.name}{select.filtered(relation)})"
    query = f"SELECT * FROM {inner} PIVOT (count(n) FOR x IN ('a' AS c0, 'SS' AS c1, 'B' AS c2))"
    return query, tuple(Column(f"c{n}", "BIGINT", True, 1000) for n in range(3)), 1, ""


def exploded(select: Collated) -> Shape:
    """The texts of lists."""
    lists = [
        (r, c)
        for r in select.relations
        for c in r.columns
        if c.type.startswith(f"ARRAY<{TEXT}") and r.fanout < 4
    ]
    if not lists:
        return totals(select)
    relation, c = select.choices.choice(lists)
    item = Text("e", c.type.removeprefix(f"ARRAY<{TEXT}").rstrip(">"))
    source = f"{relation.name} LATERAL VIEW {select.choice_of('', 'OUTER ')}explode({c.name}) u AS e"
    if chance(select.choices, 2):
        return select.shape(
            [select.stands(item), Expr("count(*)", "BIGINT", 1000)], f"{source} GROUP BY e", 1
        )
    made = [Expr("e", TEXT + item.collation, exact=False), Expr("e = 'A'", "BOOLEAN"),
            Expr(f"array_contains({c.name}, 'Ss')", "BOOLEAN"), Expr(f"{c.name} < array('b')", "BOOLEAN")]  # fmt: skip
    return select.shape(made[: select.choices.integer(1, 4)], source, relation.fanout * 3)


def piped(select: Collated) -> Shape:
    relation = select.source()
    text = select.some(relation)
    query = f"FROM {relation.name} |> EXTEND {text.sql} AS x |> WHERE x <> 'B' |> AGGREGATE count(*) AS n GROUP BY x"
    e = select.stands(Text("x", text.collation))
    return (
        f"{query} |> SELECT {e.text} AS c0, n AS c1",
        (Column("c0", e.type, True, 10, e.exact), Column("c1", "BIGINT", True, 1000)),
        1,
        "",
    )


SHAPES = (
    *(called, called, grouped, grouped, totals, once, joined, joined, shared),
    *(among, among, first_few, pivoted, exploded, piped),
)
