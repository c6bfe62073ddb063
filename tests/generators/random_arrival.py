"""Random queries with first, last and lists, and UPSERTs, over what has an order of arrival, beside DuckDB's.

In DuckDB a table's rows have their number as a column n, and a source's rows a list o, which orders them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.testing.choices import Choices, chance
from tests.generators.programs import Upsert, View

# rows that come of one, as by a table's union with itself, are in the order of their values
_ORDER = "o, x NULLS FIRST"
_CONDITIONS = ("x > 0", "x IS NOT NULL", "g <> 1", "x <= g")


@dataclass(frozen=True)
class Ordered:
    """Rows (g, x), in both dialects. size: how long o is."""

    ours: str
    duckdb: str
    size: int = 1


def draw_by_arrival(choices: Choices, name: str, tables: Sequence[str]) -> View:
    source = _source(choices, tables, depth=2)
    keyed = choices.integer(0, 3) > 0
    texts: tuple[list[str], list[str]] = (["g"], ["g"]) if keyed else ([], [])
    for i in range(choices.integer(1, 3)):
        function = choices.choice(["first", "last", "list", "array_agg", "listagg"])
        condition = choices.choice(_CONDITIONS) if chance(choices, 3) else ""
        nulls = chance(choices, 3)
        ours = f" FILTER (WHERE {condition})" if condition else ""
        both = [condition] if condition else []
        theirs = " AND ".join(both + (["x IS NOT NULL"] if nulls else []))
        if function == "listagg":
            texts[0].append(f"listagg(CAST(x AS STRING), ','){ours} AS c{i}")
            filtered = f" FILTER (WHERE {condition})" if condition else ""
            texts[1].append(f"string_agg(CAST(x AS VARCHAR), ',' ORDER BY {_ORDER}){filtered} AS c{i}")
            continue
        if function in ("list", "array_agg"):
            texts[0].append(f"{'collect_list' if function == 'list' else function}(x){ours} AS c{i}")
            known = " AND ".join([*both, "x IS NOT NULL"])
            texts[1].append(f"coalesce(list(x ORDER BY {_ORDER}) FILTER (WHERE {known}), []) AS c{i}")
            continue
        texts[0].append(f"{function}(x){ours}{' IGNORE NULLS' if nulls else ''} AS c{i}")
        texts[1].append(
            f"{function}(x ORDER BY {_ORDER}){f' FILTER (WHERE {theirs})' if theirs else ''} AS c{i}"
        )
    by = " GROUP BY g" if keyed else ""
    queries = (
        f"SELECT {', '.join(text)} FROM ({inner}) q{by}"
        for text, inner in zip(texts, (source.ours, source.duckdb), strict=True)
    )
    return View(name, *queries)


def draw_upsert(choices: Choices, target: str, tables: Sequence[str]) -> Upsert:
    source = _source(choices, tables, depth=2)
    key = choices.choice(["g", "coalesce(x, 0)"])
    known = f" WHERE {key} IS NOT NULL" if key == "g" else ""
    columns = f"SELECT CAST({key} AS BIGINT) AS g, CAST(x AS BIGINT) AS x FROM"
    return Upsert(
        target,
        f"{columns} ({source.ours}) q{known}",
        f"{columns} ({source.duckdb}) q{known} ORDER BY o, x DESC NULLS LAST",
    )


def _source(choices: Choices, tables: Sequence[str], depth: int) -> Ordered:
    form = choices.integer(0, 4) if depth else 0
    if form == 0:
        table = choices.choice(tables)
        return Ordered(f"SELECT k AS g, i AS x FROM {table}", f"SELECT k AS g, i AS x, [n] AS o FROM {table}")
    one = _source(choices, tables, depth - 1)
    if form == 1:
        condition = choices.choice(_CONDITIONS)
        x = choices.choice(["x", "x + 1", "-x"])
        ours, theirs = (
            f"SELECT g, {x} AS x{o} FROM ({text}) q WHERE {condition}"
            for text, o in ((one.ours, ""), (one.duckdb, ", o"))
        )
        return Ordered(ours, theirs, one.size)
    other = _source(choices, tables, depth - 1)
    if form == 2:
        size = max(one.size, other.size)
        left, right = (
            f"SELECT g, x, list_concat(o, {[0] * (size - each.size)}) AS o FROM ({each.duckdb}) q"
            for each in (one, other)
        )
        return Ordered(f"{one.ours} UNION ALL {other.ours}", f"{left} UNION ALL {right}", size)
    if form == 3:
        test = choices.choice(["", "NOT "])
        match = f"WHERE {test}EXISTS (SELECT 1 FROM ({{}}) r WHERE r.g = l.g)"
        return Ordered(
            f"SELECT l.g, l.x FROM ({one.ours}) l {match.format(other.ours)}",
            f"SELECT l.g, l.x, l.o FROM ({one.duckdb}) l {match.format(other.duckdb)}",
            one.size,
        )
    join = choices.choice(["JOIN", "LEFT JOIN"])
    x = choices.choice(["l.x", "r.x", "coalesce(r.x, l.x)"])
    on = choices.choice(["l.g = r.g", "l.g = r.g AND l.x <= r.x", "l.g = r.x"])
    theirs = f"coalesce(r.o, {[0] * other.size})"
    order = f"list_concat([greatest(l.o[1], {theirs}[1])], list_concat(l.o, {theirs}))"
    return Ordered(
        f"SELECT l.g, {x} AS x FROM ({one.ours}) l {join} ({other.ours}) r ON {on}",
        f"SELECT l.g, {x} AS x, {order} AS o FROM ({one.duckdb}) l {join} ({other.duckdb}) r ON {on}",
        1 + one.size + other.size,
    )
