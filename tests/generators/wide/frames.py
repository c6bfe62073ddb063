"""Window functions over frames that DuckDB has other words for: by a span of values, NULLs left out, lists.

What is read in an order that ties is a column of that order, so that rows which tie are alike; what adds up
takes any column.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbsp.testing.choices import chance
from tests.generators.programs import Column
from tests.generators.random_parts import ORDERED, Expr, Parts

Shape = tuple[str, tuple[Column, ...], int, str]
_FLOATING = ("FLOAT", "DOUBLE")
# by type: how far a frame may reach, to both of its sides by spans of one kind
_SPANS: dict[str, list[list[str]]] = {
    "INT": [["1", "2"]],
    "BIGINT": [["1", "2"]],
    "SMALLINT": [["1S", "2S"]],
    "DECIMAL(10,2)": [["1.50", "2.00"]],
    "DOUBLE": [["0.5D", "2D"]],
    "DATE": [["INTERVAL '1' DAY"], ["INTERVAL '1' MONTH", "INTERVAL '2' MONTH"], ["1", "2"]],
    "TIMESTAMP": [
        ["INTERVAL '10' MINUTE", "INTERVAL '1 00:00:01' DAY TO SECOND"],
        ["INTERVAL '1' MONTH"],
    ],
    "TIMESTAMP_NTZ": [["INTERVAL '10' MINUTE"], ["INTERVAL '1' YEAR"]],
    "INTERVAL YEAR TO MONTH": [["INTERVAL '1' MONTH"], ["INTERVAL '2' YEAR"]],
}


def ranged(select: Parts) -> Shape:
    """Aggregates of the rows whose value is within a span of the row's own."""
    choices, relation = select.choices, select.relation()
    able = [c for c in relation.columns if c.exact and c.type in _SPANS]
    if not able:
        return select.everything()
    by = choices.choice(able)
    keys = [c for c in (choices.choice(relation.columns) for _ in range(choices.integer(0, 1)))
            if c.exact and c.type in ORDERED and c.type not in _FLOATING]  # fmt: skip
    frame = f"RANGE BETWEEN {_between(select, choices.choice(_SPANS[by.type]))}"
    window = f"({_partition(keys)}ORDER BY {_ordered(select, by)} {frame})"
    shown = [_plain(c) for c in (*keys, by)]
    calls = [_added(select, relation.columns, by, window) for _ in range(choices.integer(1, 2))]
    text, named = select.listed([*shown, *calls])
    return f"SELECT {text} FROM {relation.name}{select.where(relation.columns)}", named, relation.fanout, ""


def positioned(select: Parts) -> Shape:
    """Functions of the order of rows, which all of the columns that are read decide."""
    choices, relation = select.choices, select.relation()
    able = [c for c in relation.columns if c.exact and c.type in ORDERED and c.type not in _FLOATING]
    if not able:
        return select.everything()
    drawn = [choices.choice(able) for _ in range(choices.integer(1, 3))]
    columns = [c for i, c in enumerate(drawn) if c not in drawn[:i]]
    keys = columns[: choices.integer(0, len(columns) - 1)]
    order = ", ".join(_ordered(select, c) for c in columns)
    window = f"{_partition(keys)}ORDER BY {order}"
    calls = [_position(select, columns) for _ in range(choices.integer(1, 3))]
    texts = []
    for call, framed in calls:
        frame = (
            f" {choices.choice(['ROWS', 'ROWS', 'RANGE'])} BETWEEN {_between(select, [])}" if framed else ""
        )
        if frame.startswith(" ROWS"):
            frame = f" ROWS BETWEEN {_between(select, ['1', '2'])}"
        texts.append((call, frame))
    if chance(choices, 3):
        listed = [(c, f"OVER ({window}{frame})" if frame else "OVER w") for c, frame in texts]
        declared = f" WINDOW w AS ({window})"
    else:
        listed, declared = [(c, f"OVER ({window}{frame})") for c, frame in texts], ""
    made = [Expr(c.text.replace("{over}", over), c.type, c.bound, c.exact, c.summable) for c, over in listed]
    text, named = select.listed([*(_plain(c) for c in columns), *made])
    query = f"SELECT {text} FROM {relation.name}{select.where(relation.columns)}{declared}"
    return query, named, relation.fanout, ""


def of_groups(select: Parts) -> Shape:
    """Window functions over what GROUP BY makes, and the first few groups."""
    choices, relation = select.choices, select.relation()
    able = [c for c in relation.columns if c.exact and c.type in ORDERED and c.type not in _FLOATING]
    if not able:
        return select.everything()
    a, b = choices.choice(able), choices.choice(able)
    total = choices.choice(["count(*)", f"count({b.name})", f"max(length(CAST({b.name} AS STRING)))"])
    keys = [a.name] if a is b or chance(choices, 2) else [a.name, b.name]
    order, by = ", ".join(keys), ", ".join(keys)
    # of keys that are all there, so that no two groups tie
    calls = [
        (f"CAST(sum({total}) OVER (ORDER BY {order}) AS BIGINT)", "BIGINT"),
        (f"CAST(rank() OVER (ORDER BY {total} DESC, {order}) AS INT)", "INT"),
        (f"CAST({total} - lag({total}, 1, 0) OVER (ORDER BY {order}) AS BIGINT)", "BIGINT"),
        (f"CAST(dense_rank() OVER (PARTITION BY {total} ORDER BY {order}) AS INT)", "INT"),
        (f"CAST(max({total}) OVER (PARTITION BY {a.name}) AS BIGINT)", "BIGINT"),
    ]
    call, kind = choices.choice(calls)
    made = [Expr(f"CAST({total} AS BIGINT)", "BIGINT", 1000), Expr(call, kind, 10**6, True, False)]
    text, named = select.listed([_plain(a), *made])
    query = f"SELECT {text} FROM {relation.name}{select.where(relation.columns)} GROUP BY {by}"
    form = choices.integer(0, 3)
    if form == 0:
        query = f"SELECT * FROM ({query}) q WHERE c2 <= 2"
    elif form == 1:
        text, named = select.listed([_plain(a), made[0]])
        query = f"SELECT {text} FROM {relation.name}{select.where(relation.columns)} GROUP BY {by}"
        query += f" ORDER BY count(*) DESC, {', '.join(f'{relation.name}.{key}' for key in keys)} LIMIT 2"
    return query, named, 1, ""


def _plain(c: Column) -> Expr:
    return Expr(c.name, c.type, c.bound, c.exact, c.summable)


def _partition(keys: Sequence[Column]) -> str:
    return f"PARTITION BY {', '.join(c.name for c in keys)} " if keys else ""


def _ordered(select: Parts, c: Column) -> str:
    direction, nulls = (
        select.choices.choice(["", " ASC", " DESC"]),
        select.choices.choice(["", " NULLS FIRST", " NULLS LAST"]),
    )
    return f"{c.name}{direction}{nulls}"


def _between(select: Parts, spans: list[str]) -> str:
    """Two bounds, the lower one first; of two spans to one side, one that is empty or not."""
    choices = select.choices
    bounds = ["UNBOUNDED PRECEDING", *(f"{span} PRECEDING" for span in reversed(spans)), "CURRENT ROW"]
    bounds += [*(f"{span} FOLLOWING" for span in spans), "UNBOUNDED FOLLOWING"]
    low = choices.integer(0, len(bounds) - 2)
    high = choices.integer(max(low, 1), len(bounds) - 1)
    return f"{bounds[low]} AND {bounds[high]}"


def _added(select: Parts, columns: Sequence[Column], by: Column, window: str) -> Expr:
    """What doesn't ask for the order of the frame's rows."""
    choices = select.choices
    able = [c for c in columns if c.exact and c.type in ORDERED and c.type not in _FLOATING]
    c = choices.choice(able or [by])
    options = [
        Expr(f"count({c.name})", "BIGINT", 1000),
        Expr(f"count_if({select.condition(columns)})", "BIGINT", 1000),
        Expr(f"to_json(sort_array(collect_set({c.name}) {{over}}))", "STRING"),
        Expr(f"max({c.name})", c.type, c.bound, True, c.summable),
        Expr(f"min({c.name}) FILTER (WHERE {select.condition(columns)})", c.type, c.bound, True, c.summable),
        Expr(f"first_value({by.name})", by.type, by.bound, True, False),
        Expr(f"last_value({by.name}) IGNORE NULLS {{over}}", by.type, by.bound, True, False),
        Expr(f"nth_value({by.name}, 2)", by.type, by.bound, True, False),
        Expr(f"max_by({c.name}, {c.name})", c.type, c.bound, True, False),
        Expr(f"approx_count_distinct({c.name})", "BIGINT", 1000),
    ]
    if c.type in ("INT", "BIGINT") and c.bound <= 1000:
        options += [
            Expr(f"sum({c.name})", "BIGINT", c.bound * 1000, True, False),
            Expr(f"avg({c.name})", "DOUBLE", c.bound, False, False),
            Expr(f"percentile({c.name}, 0.4)", "DOUBLE", c.bound, False, False),
            Expr(f"bit_xor({c.name})", c.type, 2048, True, False),
        ]
    drawn = choices.choice(options)
    text = drawn.text if "{over}" in drawn.text else f"{drawn.text} {{over}}"
    return Expr(
        text.replace("{over}", f"OVER {window}"), drawn.type, drawn.bound, drawn.exact, drawn.summable
    )


def _position(select: Parts, columns: Sequence[Column]) -> tuple[Expr, bool]:
    """(a call, with {over} where its window stands; whether it takes a frame)."""
    choices, c = select.choices, select.choices.choice(columns)
    nulls = choices.choice(["", " IGNORE NULLS", " RESPECT NULLS"])
    offset = choices.integer(0, 2)
    like = (c.type, c.bound, True, False)
    options = [
        (Expr(f"lag({c.name}, {offset}){nulls} {{over}}", *like), False),
        (Expr(f"lead({c.name}, {offset}){nulls} {{over}}", *like), False),
        (Expr(f"lag({c.name}, {offset}, {select.literal(c.type)}){nulls} {{over}}", *like), False),
        (Expr("percent_rank() {over}", "DOUBLE", 1, False, False), False),
        (Expr("cume_dist() {over}", "DOUBLE", 1, False, False), False),
        (Expr(f"first_value({c.name}){nulls} {{over}}", *like), True),
        (Expr(f"last_value({c.name}){nulls} {{over}}", *like), True),
        (Expr(f"any_value({c.name}){nulls} {{over}}", *like), True),
        (Expr(f"nth_value({c.name}, {offset + 1}){nulls} {{over}}", *like), True),
        (Expr(f"to_json(collect_list({c.name}) {{over}})", "STRING", summable=False), True),
        (Expr(f"mode({c.name}, true) {{over}}", *like), True),
        (Expr(f"concat_ws('-', collect_list(CAST({c.name} AS STRING)) {{over}})", "STRING"), True),
        (Expr(f"listagg(CAST({c.name} AS STRING), '-') {{over}}", "STRING"), True),
    ]
    return choices.choice(options)


SHAPES = (ranged, ranged, positioned, positioned, of_groups)
