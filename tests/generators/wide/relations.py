"""Relations that DuckDB has no words for: LATERAL, variants, PIVOT, nested keys, LEFT JOIN in recursion."""

# ruff: noqa: E501  a query a line
from __future__ import annotations

from dataclasses import replace

from dbsp.testing.choices import chance
from tests.generators.programs import Column, View
from tests.generators.random_parts import ORDERED, Expr, Parts, Relation

Shape = tuple[str, tuple[Column, ...], int, str]
_GENERATED = {
    "explode(array({c}, {o}))": ("{t}",),
    "explode_outer(if({p}, array({c}), NULL))": ("{t}",),
    "posexplode(array({c}, {o}))": ("INT", "{t}"),
    "inline(array(struct({c}, {o}), NULL))": ("{t}", "{t}"),
    "stack(2, {c}, 1, {o}, 2)": ("{t}", "INT"),
}
_OF_STRINGS = {
    "json_tuple(concat('{{\"a\": \"', {c}, '\"}}'), 'a', 'b')": ("STRING", "STRING"),
    "explode(split({c}, ''))": ("STRING",),
}
_OF_VARIANTS = ("variant_explode({c})", "variant_explode_outer({c})")


def lateral(select: Parts) -> Shape:
    """Rows beside what a generator, a function or a sub-query makes of each."""
    choices, relation = select.choices, select.relation(4)
    able = [c for c in relation.columns if c.type in (*ORDERED, "VARIANT")]
    if not able:
        return select.everything()
    c = choices.choice(able)
    o, condition = choices.choice(select.of(relation.columns, c.type)), select.condition(relation.columns)
    made = [*_GENERATED.items(), *(_OF_STRINGS.items() if c.type == "STRING" else ())]
    if c.type == "VARIANT":
        made = [(call, ("INT", "STRING", "VARIANT")) for call in _OF_VARIANTS]
    if c.type == "INT":
        made.append(("sql_twice({c})", ("INT", "INT")))
    if c.type == "BIGINT":
        made.append(("sql_below({c})", ("BIGINT",)))
    call, types = choices.choice(made)
    is_function = call.startswith("sql_")
    text = call.format(c=f"q.{c.name}" if is_function else c.name, o=o.name, p=condition)
    like = replace(c, bound=max(c.bound, o.bound), exact=c.exact and o.exact, summable=False)
    new = [
        replace(like, name=f"g{n}", type=kind.format(t=c.type), nullable=True) for n, kind in enumerate(types)
    ]
    columns = (*relation.columns, *new)
    names = ", ".join(column.name for column in new)
    outer = choices.choice(["", "OUTER "])
    source = f"{relation.name} q, LATERAL {text} u({names})"
    if not is_function and c.type != "VARIANT" and choices.integer(0, 1):
        source = f"{relation.name} q LATERAL VIEW {outer}{text} u AS {names}"
    more = [select.expression(columns) for _ in range(choices.integer(0, 2))]
    text, named = select.listed([*(_plain(column) for column in new), *more])
    return f"SELECT {text} FROM {source}{select.where(columns)}", named, relation.fanout * 3, ""


def correlated(select: Parts) -> Shape:
    """A LATERAL sub-query of the other rows that belong to a row: an aggregate, the first few, each once, a join."""
    choices, left, right = select.choices, select.relation(4), select.relation()
    pairs = [
        (a, b)
        for a in left.columns
        for b in right.columns
        if a.type == b.type and a.type in ORDERED and a.exact and b.exact
    ]
    if not pairs:
        return select.everything()
    a, b = choices.choice(pairs)
    g, given = f"r.{b.name}", f"l.{a.name}"
    source = f"{right.name} r WHERE {g} {choices.choice(['=', '=', '<=', '<>'])} {given}"
    body = choices.choice(
        [
            f"SELECT max({g}) AS g, count(*) AS n FROM {source}",
            f"SELECT {g} AS g, count(*) AS n FROM {source} GROUP BY {g}",
            f"SELECT {g} AS g, 1L AS n FROM {source} ORDER BY {g} LIMIT {choices.integer(1, 2)}",
            f"SELECT DISTINCT {g} AS g, 1L AS n FROM {source}",
            f"SELECT {g} AS g, 1L AS n FROM {source} UNION ALL SELECT {given}, 2L",
            f"SELECT {g} AS g, row_number() OVER (ORDER BY {g}) + 0L AS n FROM {source}",
            f"SELECT mine.g, w.n FROM (SELECT {given} AS g) mine, LATERAL (SELECT count(*) AS n FROM {right.name} r WHERE {g} > mine.g) w",
        ]
    )
    inner = f"LATERAL ({body}) u"
    kind = choices.choice([",", "LEFT JOIN", f"LEFT JOIN LATERAL (SELECT {given} AS h) v JOIN"])
    text, named = select.listed(
        [Expr(given, a.type, a.bound, True, a.summable), Expr("u.g", b.type, max(a.bound, b.bound), True, False),
         Expr("u.n", "BIGINT", 1000)]
    )  # fmt: skip
    return f"SELECT {text} FROM {left.name} l {kind} {inner}", named, left.fanout * 4, ""


def pivot(select: Parts) -> Shape:
    """By one column or two; or the way back."""
    choices, relation = select.choices, select.relation()
    able = [
        c for c in relation.columns if c.exact and c.type in ("INT", "BIGINT", "STRING", "BOOLEAN", "DATE")
    ]
    if not able:
        return select.everything()
    by, other, value, key = (choices.choice(able) for _ in range(4))
    if chance(choices, 4):
        names = [replace(c, name="v") for c in (value, by) if c.type == value.type]
        listed = ", ".join(dict.fromkeys(c.name for c in (value, by) if c.type == value.type))
        inner = f"(SELECT 1 AS p, {listed} FROM {relation.name})"
        query = f"SELECT c AS c0, v AS c1 FROM {inner} UNPIVOT {choices.choice(['', 'INCLUDE NULLS '])}(v FOR c IN ({listed}))"
        value = replace(names[0], bound=max(c.bound for c in names))
        return (
            query,
            (Column("c0", "STRING"), replace(value, name="c1", nullable=True)),
            relation.fanout * 2,
            "",
        )
    inner = (
        f"SELECT {key.name} AS p, {by.name} AS x, {other.name} AS y, {value.name} AS v FROM {relation.name}"
    )
    one, two = select.literal(by.type), select.literal(by.type)
    if choices.integer(0, 1):
        cells = f"x IN ({one} AS a, {two} AS b)"
    else:
        third = select.literal(other.type)
        cells = f"(x, y) IN (({one}, {third}) AS a, ({two}, {third}) AS b)"
    query = f"SELECT * FROM ({inner}{select.where(relation.columns)}) PIVOT (max(v) AS m, count(v) AS n FOR {cells})"
    kept = [replace(key, name="p")] + ([] if "(x, y)" in cells else [replace(other, name="y")])
    found = [
        column
        for cell in "ab"
        for column in (
            replace(value, name=f"{cell}_m", nullable=True),
            Column(f"{cell}_n", "BIGINT", True, 1000),
        )
    ]
    return query, (*kept, *found), 1, ""


def nested_keys(select: Parts) -> Shape:
    """GROUP BY of what is no atom: arrays, structs, maps; or of a text's folded case."""
    choices, relation = select.choices, select.relation()
    able = [c for c in relation.columns if c.exact and c.type in ORDERED]
    if not able:
        return select.everything()
    a, b = choices.choice(able), choices.choice(able)
    key, shown, kind = choices.choice(
        [
            (f"array({a.name})", "key_[0]", a.type),
            (f"struct({a.name} AS x, {b.name} AS y)", "key_.y", b.type),
            # no NULL of a number or time in a map: Spark's generated code for map_sort, which GROUP BY puts around
            # it, makes 0 of one, and 1970-01-01; interpreted (spark.sql.codegen.factoryMode=NO_CODEGEN) it doesn't
            (f"map('k', coalesce(CAST({a.name} AS STRING), '-'))", "key_['k']", "STRING"),
        ]
    )
    part = Expr(shown, kind, max(a.bound, b.bound), True, False)
    text, named = select.listed([part, *select.aggregates(relation.columns)])
    inner = f"(SELECT *, {key} AS key_ FROM {relation.name}{select.where(relation.columns)}) q"
    return f"SELECT {text} FROM {inner} GROUP BY key_", named, 1, ""


def numbers(select: Parts) -> Shape:
    """range() as a relation, beside rows."""
    relation = select.relation(4)
    able = [c for c in relation.columns if c.type == "BIGINT" and c.exact]
    if not able:
        return select.everything()
    c = select.choices.choice(able)
    text, named = select.listed([Expr("r.id", "BIGINT", 4), *(_plain(x) for x in relation.columns[:2])])
    kind = select.choices.choice(["JOIN", "LEFT JOIN"])
    return (
        f"SELECT {text} FROM range(0, 3) r {kind} {relation.name} ON r.id = {c.name}",
        named,
        relation.fanout * 3,
        "",
    )


def called(select: Parts) -> Shape:
    """A function in SQL as a relation: by itself, beside a row's own argument, or joined."""
    choices, relation = select.choices, select.relation(4)
    able = [c for c in relation.columns if c.type == "BIGINT" and c.exact]
    given = [Expr("u.y", "BIGINT", 4, True, False), Expr("u.z", "BIGINT", 1000, True, False)]
    call = choices.choice(["sql_counted()", "sql_counted(2)", "sql_counted(least => 1)"])
    if not able:
        return f"SELECT {select.listed(given)[0]} FROM {call} u", select.listed(given)[1], 1, ""
    c = choices.choice(able)
    text, named = select.listed([*given, _plain(replace(c, name=f"q.{c.name}"))])
    source = choices.choice(
        [
            f"{relation.name} q, LATERAL sql_counted(q.{c.name}) u",
            f"{relation.name} q LEFT JOIN LATERAL sql_counted(least => q.{c.name}) u ON u.y = q.{c.name}",
            f"{relation.name} q FULL JOIN {call} u ON u.y = q.{c.name}",
        ]
    )
    return f"SELECT {text} FROM {source}", named, relation.fanout * 4, ""


def qualified(select: Parts) -> Shape:
    """Rows that a window function chooses."""
    relation = select.relation()
    able = [
        c for c in relation.columns if c.exact and c.type in ORDERED and c.type not in ("FLOAT", "DOUBLE")
    ]
    if not able:
        return select.everything()
    a, b = select.choices.choice(able), select.choices.choice(able)
    rank = select.choices.choice(["rank", "dense_rank"])
    text, named = select.listed([_plain(a), _plain(b)])
    query = f"SELECT {text} FROM {relation.name}{select.where(relation.columns)} QUALIFY {rank}() OVER (PARTITION BY {relation.name}.{a.name} ORDER BY {relation.name}.{b.name}) <= 2"
    return query, named, relation.fanout, ""


def walk(name: str, pair: tuple[str, Column, Column], outer: str) -> tuple[View, Relation]:
    """A recursion of three levels whose term is a LEFT JOIN, or one with a condition. outer: 'LEFT JOIN' or 'JOIN'."""
    relation, a, b = pair
    x = replace(a, name="x", nullable=True, bound=max(a.bound, b.bound))
    query = (
        f"WITH RECURSIVE r(x, n) AS (SELECT {a.name}, 0 FROM {relation} UNION ALL SELECT q.y, r.n + 1 "
        f"FROM r {outer} (SELECT DISTINCT {a.name} AS x, {b.name} AS y FROM {relation}) q ON r.x = q.x "
        "WHERE r.n < 2) SELECT x, n FROM r"
    )
    return View(name, query, None), Relation(name, (x, Column("n", "INT", bound=2)), fanout=6)


def _plain(c: Column) -> Expr:
    return Expr(c.name, c.type, c.bound, c.exact, c.summable)


SHAPES = (lateral, lateral, correlated, pivot, nested_keys, numbers, called, qualified)
