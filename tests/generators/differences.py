"""Random joins by how far a value of one side is from one of the other: differences of integers, dates and
times, compared with constants, alone and beside other conditions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dbsp.testing.choices import Choices, chance
from tests.generators.programs import Column, Program, Table, View
from tests.generators.strategies import Change, Run

INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_TIMES = ("TIMESTAMP", "TIMESTAMP_NTZ")
_LENGTHS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1000,
    "SECOND": 10**6,
    "MINUTE": 60 * 10**6,
    "HOUR": 3600 * 10**6,
}
_LENGTHS |= {"DAY": 24 * 3600 * 10**6, "WEEK": 7 * 24 * 3600 * 10**6}
_ROUNDED = {"unix_seconds": 10**6, "unix_millis": 1000, "unix_micros": 1}
_JOINS = ("JOIN", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
# what integers become whose differences overflow
_FAR = {-1: (-1, 0), 2: (1, -1), 3: (1, -2)}
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}

Spelled = tuple[str, str]  # in Spark, in DuckDB


def draw_differences(choices: Choices, fails: bool = False) -> Program:
    """Up to two views over two tables. fails: conditions beside the difference may fail, and times are none
    that DuckDB has.
    """
    types = [choices.choice(INTEGERS), choices.choice(INTEGERS), choices.choice(_TIMES), "DATE"]
    columns = (
        Column("k", "BOOLEAN", not chance(choices, 3)),
        Column("n", "INT", False),
        *(Column(f"c{i}", kind, bool(choices.integer(0, 2))) for i, kind in enumerate(types)),
    )
    tables = tuple(Table(name, columns) for name in ("t", "u"))
    drawn = [_query(choices, columns[2:], fails) for _ in range(choices.integer(1, 2))]
    return Program(tables, tuple(View(f"v{i}", *query) for i, query in enumerate(drawn)))


def _query(choices: Choices, columns: tuple[Column, ...], fails: bool) -> Spelled:
    right, kind = choices.choice(("t", "u", "u")), choices.choice((*_JOINS, "EXISTS", "NOT EXISTS"))
    nullable = any(column.nullable for column in columns)
    tests = [_test(choices, columns) for _ in range(1 + chance(choices, 3))]
    beside = []
    if chance(choices, 2):
        beside.append(choices.choice(("l.c0 < r.c0", "r.c1 >= l.c0", "l.c2 <= r.c2", "l.c3 <> r.c3")))
    # of NULL in an inner join Spark computes nothing of what comes after
    if fails and not (nullable and kind in ("JOIN", "EXISTS")) and chance(choices, 2):
        beside.append(choices.choice(("l.n + r.n > 0", "l.n * r.n < 5", "1 / l.n >= 0")))
    for one in beside:
        tests.insert(choices.integer(0, len(tests)), (one, one))
    if choices.integer(0, 3):
        tests.insert(0, ("l.k = r.k", "l.k = r.k"))
    spark, duckdb = (" AND ".join(test[i] for test in tests) for i in range(2))
    if kind.endswith("EXISTS"):
        query = f"SELECT l.* FROM t l WHERE {kind} (SELECT 1 FROM {right} r WHERE "
        return f"{query}{spark})", f"{query}{duckdb})"
    query = f"SELECT l.n, l.c0, l.c2, r.n AS m, r.c1, r.c2 AS d FROM t l {kind} {right} r ON "
    return query + spark, query + duckdb


def _test(choices: Choices, columns: tuple[Column, ...]) -> Spelled:
    """A comparison of a difference, or of its absolute value."""
    a, b = ("l", "r") if choices.integer(0, 1) else ("r", "l")
    match choices.choice(("integers", "integers", "integers", "times", "times", "dates")):
        case "integers":
            i, j = choices.integer(0, 1), choices.integer(0, 1)
            wide = max(_BITS[columns[i].type], _BITS[columns[j].type])
            of_duckdb = next(kind for kind, bits in _BITS.items() if bits == wide)
            apart = f"{a}.c{i} - {b}.c{j}"
            return _compared(
                choices, (apart, f"{a}.c{i}::{of_duckdb} - {b}.c{j}::{of_duckdb}"), (0, 1, 2, -1, 5)
            )
        case "dates":
            spark = choices.choice((f"datediff({a}.c3, {b}.c3)", f"unix_date({a}.c3) - unix_date({b}.c3)"))
            return _compared(choices, (spark, f"({a}.c3 - {b}.c3)"), (0, 1, 2, -1, 30))
    return _of_times(choices, columns[2].type, a, b)


def _of_times(choices: Choices, kind: str, a: str, b: str) -> Spelled:
    x, y = f"{a}.c2", f"{b}.c2"
    if choices.integer(0, 1):
        unit = choices.choice([*_LENGTHS])
        spark = f"timestampdiff({unit}, {y}, {x})"
        length = _LENGTHS[unit]
        duckdb = f"trunc((epoch_us({x}) - epoch_us({y})) / {length})::BIGINT"
        return _compared(
            choices, (spark, duckdb), (0, 1, 600 * 10**6 // length, -1, -(600 * 10**6) // length)
        )
    if kind == "TIMESTAMP" and choices.integer(0, 1):
        name = choices.choice([*_ROUNDED])
        unit, rounding = _ROUNDED[name], "floor"
    else:
        name = choices.choice(("unix_timestamp", "to_unix_timestamp"))
        unit, rounding = 10**6, "trunc"
    second = [f"{rounding}(epoch_us({one}) / {unit})::BIGINT" for one in (x, y)]
    amounts = (0, 1, 600 * 10**6 // unit, -1, -(599 * 10**6) // unit)
    if chance(choices, 4):
        sign, amount = choices.choice(("<", "<=", ">", ">=")), choices.choice(amounts)
        return f"{name}({x}) {sign} {name}({y}) + {amount}", f"{second[0]} {sign} {second[1]} + {amount}"
    return _compared(choices, (f"{name}({x}) - {name}({y})", f"{second[0]} - {second[1]}"), amounts)


def _compared(choices: Choices, apart: Spelled, amounts: tuple[int, ...]) -> Spelled:
    c, more = choices.choice(amounts), choices.choice(amounts)
    sign = choices.choice(("<", "<=", ">", ">=", "="))
    form = choices.choice(
        (
            "{} " + f"{sign} {c}",
            f"{c} {sign} " + "{}",
            "{} BETWEEN " + f"{min(c, more)} AND {max(c, more)}",
            "abs({}) " + f"{choices.choice(('<', '<=', '='))} {abs(c)}",
            f"{c} >= " + "abs({})",
        )
    )
    return form.format(apart[0]), form.format(apart[1])


def far_apart(program: Program, run: Run) -> Run:
    """The run with the ends of each integer type in place of some small numbers."""
    tables = {table.name: table for table in program.tables}

    def stretched(kind: str, value: Any) -> Any:
        if kind not in _BITS or value not in _FAR or isinstance(value, bool):
            return value
        sign, more = _FAR[value]
        return sign * (1 << (_BITS[kind] - 1)) + more

    def row(name: str, change: Change) -> Change:
        kinds = [column.type for column in tables[name].columns]
        return replace(change, row=tuple(map(stretched, kinds, change.row)))

    return [
        {name: [row(name, change) for change in changes] for name, changes in delta.items()} for delta in run
    ]
