"""Random queries with OVER, top-k and LIMIT, whose answer ties can't change.

Only the columns that partition and order are read, and the order lists them all: rows that tie are copies of
one row. Doubles take no part: 0.0 and -0.0 tie and are different rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbsp.testing.choices import chance
from tests.generators.programs import Column
from tests.generators.random_parts import ORDERED, Expr, Parts, Relation

_TOTAL = ("INT", "BIGINT", "STRING", "DATE", "TIMESTAMP", "BOOLEAN", "DECIMAL(10,2)")
_NUMBERS = ("INT", "BIGINT")
_FRAMES = (
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)

Shape = tuple[str, tuple[Column, ...], int, str]


def over(select: Parts) -> Shape:
    """Window functions, the first few of each partition, or the first few of all; else a plain query."""
    relation = select.relation()
    able = [c for c in relation.columns if c.exact and c.type in _TOTAL]
    if not able:
        return select.everything()
    choices = select.choices
    drawn = [choices.choice(able) for _ in range(choices.integer(1, 3))]
    columns = [c for i, c in enumerate(drawn) if c not in drawn[:i]]
    keys = columns[: choices.integer(0, len(columns) - 1)]
    order = ", ".join(_ordered(select, c) for c in reversed(columns))
    where = select.where(relation.columns)
    plain = [Expr(c.name, c.type, c.bound, c.exact, c.summable) for c in columns]
    form = choices.integer(0, 3)
    if form == 0:
        text, named = select.listed(plain)
        # qualified: a new column may have an old one's name
        order = ", ".join(f"{relation.name}.{_ordered(select, c)}" for c in columns)
        query = f"SELECT {text} FROM {relation.name}{where} ORDER BY {order} LIMIT {choices.integer(1, 4)}"
        query += f" OFFSET {choices.integer(0, 2)}" if chance(choices, 3) else ""
        return query, named, relation.fanout, query
    window = f"PARTITION BY {', '.join(c.name for c in keys)} " if keys else ""
    window += f"ORDER BY {order}"
    if form == 1:
        rank = choices.choice(["row_number", "rank", "dense_rank"])
        text, named = select.listed([*plain, Expr(f"CAST({rank}() OVER ({window}) AS INT)", "INT", 1000)])
        top = f"{named[-1].name} {choices.choice(['<=', '<', '='])} {choices.integer(1, 3)}"
        query = f"SELECT * FROM (SELECT {text} FROM {relation.name}{where}) q WHERE {top}"
        return query, named, relation.fanout, query
    functions = [_function(select, columns, window) for _ in range(choices.integer(1, 3))]
    if form == 3 and chance(choices, 2):
        return _rolling(select, relation, keys, columns[-1], where)
    if form == 2 and columns[-1].type in _NUMBERS:
        functions.append(_near(select, keys, columns[-1]))
    text, named = select.listed([*plain, *functions])
    query = f"SELECT {text} FROM {relation.name}{where}"
    return query, named, relation.fanout, query


def _rolling(select: Parts, relation: Relation, keys: Sequence[Column], column: Column, where: str) -> Shape:
    """Over ranges of an ascending column alone, so that rows below a waterline may go."""
    unit = {"DATE": "INTERVAL '{}' DAY", "TIMESTAMP": "INTERVAL '{}' MINUTE"}.get(column.type, "{}")
    if column.type not in (*_NUMBERS, "DATE", "TIMESTAMP"):
        return select.everything()
    near, far = (unit.format(n * (7 if column.type == "TIMESTAMP" else 1)) for n in (1, 2))
    window = f"PARTITION BY {', '.join(c.name for c in keys)} " if keys else ""
    functions = []
    for _ in range(select.choices.integer(1, 2)):
        lower, upper = select.choices.choice(
            [
                (f"{far} PRECEDING", "CURRENT ROW"),
                (f"{near} PRECEDING", f"{near} FOLLOWING"),
                (f"{far} PRECEDING", f"{near} PRECEDING"),
                (f"{near} FOLLOWING", f"{far} FOLLOWING"),
                ("CURRENT ROW", f"{far} FOLLOWING"),
            ]
        )
        over = f"OVER ({window}ORDER BY {column.name} RANGE BETWEEN {lower} AND {upper})"
        call = select.choices.choice([("count(*)", "BIGINT"), (f"max({column.name})", column.type)])
        functions.append(Expr(f"{call[0]} {over}", call[1], max(1000, column.bound)))
    plain = [Expr(c.name, c.type, c.bound, c.exact, c.summable) for c in (*keys, column)]
    text, named = select.listed([*plain, *functions])
    query = f"SELECT {text} FROM {relation.name}{where}"
    return query, named, relation.fanout, query


def _ordered(select: Parts, column: Column) -> str:
    direction, nulls = (select.choices.choice(pair) for pair in (["ASC", "DESC"], ["FIRST", "LAST"]))
    return f"{column.name} {direction} NULLS {nulls}"


def _function(select: Parts, columns: Sequence[Column], window: str) -> Expr:
    choices = select.choices
    c = choices.choice(columns)
    frame = f"{window} {choices.choice(_FRAMES)}"
    options = [
        Expr(f"CAST({name} OVER ({window}) AS INT)", "INT", 1000)
        for name in ("row_number()", "rank()", "dense_rank()", f"ntile({choices.integer(1, 3)})")
    ]
    options += [
        Expr(f"{name}({c.name}{argument}) OVER ({where})", c.type, c.bound, True, c.summable)
        for name, argument, where in (
            ("lag", "", window),
            ("lead", ", 2", window),
            ("first_value", "", frame),
            ("last_value", "", frame),
            ("min", "", frame),
            ("max", "", frame),
        )
    ]
    options.append(Expr(f"count({c.name}) OVER ({frame})", "BIGINT", 1000))
    options.append(Expr(f"count(*) FILTER (WHERE {select.condition([c])}) OVER ({frame})", "BIGINT", 1000))
    if c.type in _NUMBERS and c.bound <= 1000:
        statistic = choices.choice(["var_pop", "var_samp", "stddev_pop", "stddev_samp"])
        options += [
            Expr(
                f"{choices.choice(['bit_xor', 'bit_or', 'bit_and'])}({c.name}) OVER ({frame})", c.type, 2048
            ),
            Expr(f"{statistic}({c.name}) OVER ({frame})", "DOUBLE", c.bound**2, exact=False, summable=False),
        ]
    if c.type in ORDERED:
        by = choices.choice(["max_by", "min_by"])
        options.append(Expr(f"{by}({c.name}, {c.name}) OVER ({frame})", c.type, c.bound, True, c.summable))
    if c.type in _NUMBERS and c.bound < 10**5:
        options.append(Expr(f"CAST(sum({c.name}) OVER ({frame}) AS BIGINT)", "BIGINT", c.bound * 1000))
    return choices.choice(options)


def _near(select: Parts, keys: Sequence[Column], column: Column) -> Expr:
    """Over the rows whose value is near: the same for rows that tie."""
    window = f"PARTITION BY {', '.join(c.name for c in keys)} " if keys else ""
    low, high = select.choices.integer(0, 2), select.choices.integer(0, 1)
    frame = f"RANGE BETWEEN {low} PRECEDING AND {high} FOLLOWING"
    return Expr(f"count(*) OVER ({window}ORDER BY {_ordered(select, column)} {frame})", "BIGINT", 1000)
