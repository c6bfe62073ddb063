"""What operators say of themselves."""

from __future__ import annotations

import pytest

from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.shown.boxes import boxes

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("on", "cost"),
    [
        ("a.x BETWEEN b.x - 1 AND b.x + 1", "lookup of a range"),
        ("a.k = b.k AND a.ts >= b.ts AND a.ts <= b.ts + INTERVAL 1 HOUR", "lookup of a range"),
        ("a.k = b.k AND a.ts - b.ts BETWEEN INTERVAL 0 SECONDS AND INTERVAL 1 HOUR", "lookup of a range"),
        ("a.k = b.k AND a.ts - b.ts < INTERVAL 1 HOUR", "lookup of a half-open range"),
        ("a.k = b.k AND a.ts BETWEEN b.ts AND b.ends", "lookup of a range"),
        ("a.x > b.k", "lookup of a half-open range"),
        ("a.k = b.k", "lookup"),
        ("a.x <> b.x", "all rows of the other side"),
    ],
)
def test_what_a_join_looks_up(spark: object, on: str, cost: str) -> None:
    tables = "".join(
        f"CREATE TABLE {t} (k BIGINT, x INT, ts TIMESTAMP, ends TIMESTAMP);\n" for t in ("a", "b")
    )
    program = compile_program(f"{tables}CREATE VIEW v AS SELECT a.x FROM a JOIN b ON {on};", session=spark)  # type: ignore[arg-type]
    assert [box.cost for box in boxes(program) if box.title == "Join"] == [cost]
