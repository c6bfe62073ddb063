"""Every spelling of a window is Spark's: the same plan, and errors at the user's own place."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

TABLES = "CREATE TABLE orders (rowtime TIMESTAMP, product INT, units INT);\n"
LENGTH, HOUR = "window(rowtime, '1 hour')", "INTERVAL '1' HOUR"
ALIGNED = "window(rowtime, '30 minutes', '30 minutes', '12 minutes')"
HOPPING = "window(rowtime, '3 hours', '1 hour')"
SHIFTED = "window(rowtime, '3 hours', '1 hour', '5 minutes')"


def grouped(window: str, ends: str = "window.start AS s, window.end AS e") -> str:
    return f"SELECT {ends}, product, count(*) AS c FROM orders GROUP BY {window}, product"


def listed(table: str) -> str:
    return f"SELECT product, units, window_start, window_end FROM {table}"


def of_table(window: str) -> str:
    return f"SELECT product, units, {window}.start AS window_start, {window}.end AS window_end FROM orders"


SAME = {
    "tumble": (f"TUMBLE(rowtime, {HOUR})", LENGTH),
    "lower case, spaces, a comment": (f"tumble  ( rowtime , -- the time\n {HOUR} )", LENGTH),
    "tumble aligned to nothing": (f"TUMBLE(rowtime, {HOUR}, TIME '0:00')", LENGTH),
    "tumble aligned": ("TUMBLE(rowtime, INTERVAL '30' MINUTE, TIME '0:12')", ALIGNED),
    "tumble aligned by an interval": ("TUMBLE(rowtime, INTERVAL 30 MINUTES, INTERVAL 12 MINUTES)", ALIGNED),
    "tumble aligned more than once around": ("TUMBLE(rowtime, INTERVAL 30 MINUTES, TIME '1:12:00')", ALIGNED),
    "tumble as hop": ("HOP(rowtime, INTERVAL 30 MINUTES, INTERVAL 30 MINUTES, TIME '0:12')", ALIGNED),
    "hop": (f"HOP(rowtime, {HOUR}, INTERVAL '3' HOUR)", HOPPING),
    "hop aligned": (f"HOP(rowtime, {HOUR}, INTERVAL '3' HOUR, TIME '0:05')", SHIFTED),
    "an interval of two units": (
        "TUMBLE(rowtime, INTERVAL '1:30' HOUR TO MINUTE)",
        "window(rowtime, '90 minutes')",
    ),
}


def same(spark: Any, ours: str, sparks: str) -> None:
    found, expected = (
        compile_program(f"{TABLES}CREATE VIEW v AS {query};", session=spark) for query in (ours, sparks)
    )
    assert found.views["v"].plan == expected.views["v"].plan


@pytest.mark.parametrize("name", SAME)
def test_windows_of_a_time(spark: Any, name: str) -> None:
    ours, sparks = SAME[name]
    same(spark, grouped(ours), grouped(sparks))


@pytest.mark.parametrize(
    ("ours", "sparks"),
    [
        (
            grouped(
                f"TUMBLE(rowtime, {HOUR})",
                f"TUMBLE_START(rowtime, {HOUR}) AS s, TUMBLE_END(rowtime, {HOUR}) AS e",
            ),
            LENGTH,
        ),
        (
            grouped(
                f"HOP(rowtime, {HOUR}, INTERVAL '3' HOUR)",
                f"HOP_START(rowtime, {HOUR}, INTERVAL '3' HOUR) AS s, "
                f"HOP_END(rowtime, {HOUR}, INTERVAL '3' HOUR) AS e",
            ),
            HOPPING,
        ),
    ],
    ids=["tumble", "hop"],
)
def test_starts_and_ends(spark: Any, ours: str, sparks: str) -> None:
    same(spark, ours, grouped(sparks))


@pytest.mark.parametrize(
    ("ours", "sparks"),
    [
        (f"TABLE(TUMBLE(TABLE orders, DESCRIPTOR(rowtime), {HOUR}))", LENGTH),
        (f"TUMBLE(TABLE orders, DESCRIPTOR(rowtime), {HOUR})", LENGTH),
        (f"TUMBLE(TABLE orders, DESCRIPTOR(rowtime), {HOUR}) AS w", LENGTH),
        ("TUMBLE(TABLE orders, DESCRIPTOR(rowtime), INTERVAL 30 MINUTES, INTERVAL 12 MINUTES)", ALIGNED),
        (f"TABLE(HOP(TABLE orders, DESCRIPTOR(rowtime), {HOUR}, INTERVAL '3' HOUR))", HOPPING),
        (
            f"HOP(DATA => TABLE orders, TIMECOL => DESCRIPTOR(rowtime), SLIDE => {HOUR}, "
            "SIZE => INTERVAL '3' HOUR)",
            HOPPING,
        ),
        (f"tumble(source=>TABLE(orders), time_field=>DESCRIPTOR(rowtime), window_length=>{HOUR})", LENGTH),
        (
            "tumble(window_length => INTERVAL 30 MINUTES, offset => INTERVAL 12 MINUTES, "
            "source => TABLE(orders), time_field => DESCRIPTOR(rowtime))",
            ALIGNED,
        ),
        (f"TUMBLE(TABLE (SELECT * FROM orders), DESCRIPTOR(rowtime), {HOUR})", LENGTH),
    ],
)
def test_windows_of_a_table(spark: Any, ours: str, sparks: str) -> None:
    same(spark, listed(ours), of_table(sparks))


@pytest.mark.parametrize(("gap", "sparks"), [("10 MINUTES", "10 minutes"), ("1 DAY", "1 day")])
def test_sessions(spark: Any, gap: str, sparks: str) -> None:
    ends = f"SESSION_START(rowtime, INTERVAL {gap}) AS s, SESSION_END(rowtime, INTERVAL {gap}) AS e"
    same(
        spark,
        grouped(f"SESSION(rowtime, INTERVAL {gap})", ends),
        grouped(f"session_window(rowtime, '{sparks}')", "session_window.start AS s, session_window.end AS e"),
    )


@pytest.mark.parametrize("unit", ["SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"])
def test_floors_of_a_time(spark: Any, unit: str) -> None:
    same(
        spark,
        f"SELECT FLOOR(rowtime TO {unit}) AS f, FLOOR(units) AS u, CEIL(units / 2) AS h FROM orders",
        f"SELECT date_trunc('{unit}', rowtime) AS f, floor(units) AS u, ceil(units / 2) AS h FROM orders",
    )


def test_calls_within_calls(spark: Any) -> None:
    same(
        spark,
        f"SELECT TUMBLE_START(FLOOR(rowtime TO MINUTE), {HOUR}) AS s FROM orders "
        f"GROUP BY TUMBLE(FLOOR(rowtime TO MINUTE), {HOUR})",
        "SELECT window.start AS s FROM orders GROUP BY window(date_trunc('MINUTE', rowtime), '1 hour')",
    )


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (
            f"SELECT count(*) AS c FROM orders GROUP BY TUMBLE(rowtime, {HOUR}), prodct",
            "2:96: unknown column 'prodct'",
        ),
        (
            f"SELECT count(*) AS c FROM orders GROUP BY TUMBLE(rowtme, {HOUR})",
            "2:67: unknown column 'rowtme'",
        ),
        (f"SELECT count(*) AS c FROM orders GROUP BY TUMBLE(units, {HOUR})", "2:60: "),
        (
            "SELECT count(*) AS c FROM orders GROUP BY TUMBLE(rowtime)",
            "2:60: TUMBLE takes TUMBLE(ts, INTERVAL '1' HOUR",
        ),
        (
            "SELECT count(*) AS c FROM orders GROUP BY HOP_END(rowtime, INTERVAL 1 HOUR)",
            "2:60: HOP_END takes HOP_END(ts,",
        ),
        (
            "SELECT count(*) AS c FROM orders GROUP BY TUMBLE(rowtime, INTERVAL 1 MONTH)",
            "2:76: 'INTERVAL 1 MONTH' is no",
        ),
        ("SELECT count(*) AS c FROM orders GROUP BY TUMBLE(rowtime, units)", "2:76: 'units' is no constant"),
        (
            f"SELECT count(*) AS c FROM orders GROUP BY TUMBLE(rowtime, {HOUR}, TIME 'noon')",
            "2:100: TIME 'noon' is no",
        ),
        (
            f"SELECT count(*) AS c FROM orders GROUP BY TUMBLE(rowtime, {HOUR}",
            "2:60: 'TUMBLE(' is never closed",
        ),
        (
            f"SELECT 1 AS x FROM TUMBLE(TABLE orders, rowtime, {HOUR})",
            "2:58: the column of the time is given as DESCRIPTOR",
        ),
        (
            f"SELECT 1 AS x FROM TUMBLE(TABLE ordrs, DESCRIPTOR(rowtime), {HOUR})",
            "2:50: unknown table 'ordrs'",
        ),
        (
            f"SELECT 1 AS x FROM TUMBLE(TABLE orders, DESCRIPTOR(rowtim), {HOUR})",
            "2:69: unknown column 'rowtim'",
        ),
        (
            f"SELECT 1 AS x FROM TUMBLE(source => TABLE(orders), width => {HOUR})",
            "2:78: TUMBLE has no 'width' here; it takes TUMBLE(TABLE t, DESCRIPTOR(ts)",
        ),
        ("SELECT 1 AS x FROM TUMBLE(TABLE orders, DESCRIPTOR(rowtime))", "2:37: TUMBLE of a table takes"),
        ("SELECT 1 AS x FROM SESSION(TABLE orders, DESCRIPTOR(rowtime))", "2:37: SESSION of a table takes"),
        (
            f"SELECT 1 AS x FROM SESSION(TABLE orders, DESCRIPTOR(rowtime), product, {HOUR})",
            "2:80: a key is given as DESCRIPTOR",
        ),
        (
            f"SELECT 1 AS x FROM SESSION(TABLE orders, DESCRIPTOR(rowtime), DESCRIPTOR(prodct), {HOUR})",
            "2:91: unknown column 'prodct'",
        ),
        (
            f"SELECT 1 AS x FROM SESSION(TABLE orders, DESCRIPTOR(rowtime), {HOUR}, offset => {HOUR})",
            "2:109: SESSION has no 'offset' here; it takes SESSION(TABLE t, DESCRIPTOR(ts)",
        ),
    ],
)
def test_errors_stand_at_the_users_own_place(spark: Any, query: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compile_program(f"{TABLES}CREATE VIEW v AS {query};", "p.sql", session=spark)
    assert f"p.sql:{error}" in str(raised.value)


def test_what_a_user_calls_so_is_no_window(spark: Any) -> None:
    table = "CREATE TABLE t (tumble INT, hop INT, floor INT);"
    text = f"{table} CREATE VIEW v AS SELECT tumble, t.hop, floor FROM t;"
    schema = compile_program(text, session=spark).views["v"].schema
    assert [field.name for field in schema] == ["tumble", "hop", "floor"]
