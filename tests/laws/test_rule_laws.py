"""GENERATED columns and CHECKs of random expressions: tables hold what Spark makes of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyspark.errors import PySparkException

from dbsp.circuits.errors import DataError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.spark.frames import to_arrow, to_frame
from dbsp.sql.compiler.load import compile_program
from dbsp.testing.bags import arrow_values, same_rows
from dbsp.testing.choices import Seeded
from dbsp.testing.strategies import Drawn
from tests.effort import examples, pool_of
from tests.generators.strategies import Row, draw_row
from tests.generators.wide.ruled import Ruled, draw_ruled
from tests.oracles.oracle import declared

pytestmark = pytest.mark.spark

POOL = pool_of(12)


def whole(spark: Any, ruled: Ruled, rows: list[Row]) -> tuple[list[Row], list[bool]]:
    """By Spark, the rows with what is computed of them, and whether each breaks a condition."""
    frame = to_frame(spark, declared(ruled.table, rows))
    made = [f"CAST(({e.text}) AS {e.type}) AS {name}" for name, e in ruled.computed.items()]
    broken = " OR ".join(["false", *(f"coalesce(NOT ({check}), false)" for check in ruled.checks)])
    found = arrow_values(to_arrow(frame.selectExpr("*", *made, f"{broken} AS broken")))
    return [row[:-1] for row in found], [row[-1] for row in found]


@contextmanager
def in_ansi(spark: Any) -> Iterator[None]:
    """The session is that of all tests."""
    before = {name: spark.conf.get(name) for name in ("spark.sql.ansi.enabled", "spark.sql.session.timeZone")}
    spark.conf.set("spark.sql.ansi.enabled", "true")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


@examples(12)
@given(data=st.data())
def test_a_table_holds_what_spark_makes_of_rows_that_break_nothing(spark: Any, data: st.DataObject) -> None:
    ruled = draw_ruled(Seeded(data.draw(st.integers(0, POOL - 1))))
    choices = Drawn(data.draw)
    rows = [draw_row(choices, ruled.table) for _ in range(data.draw(st.integers(1, 8)))]
    with in_ansi(spark):
        try:
            expected, broken = whole(spark, ruled, rows)
        except PySparkException:
            assume(False)  # an expression that fails of a row is a law of its own
    program = compile_program(f"{ruled.text} CREATE VIEW v AS SELECT * FROM t0;", session=spark)
    names = [column.name for column in ruled.table.columns]
    taken = [row for row, breaks in zip(expected, broken, strict=True) if not breaks]
    with Pipeline(program, runner="inline", partitions=2) as pipeline:
        for row, breaks in zip(rows, broken, strict=True):
            given_ = [dict(zip(names, row, strict=True))]
            if breaks:
                with pytest.raises(DataError, match=r"CHECK .* isn't met"):
                    pipeline.insert("t0", given_)
            else:
                pipeline.insert("t0", given_)
        pipeline.step()
        difference = same_rows(arrow_values(pipeline["v"].to_arrow()), taken)
        assert difference is None, f"{difference}\n{ruled.text}\n{rows}"
        # a row is taken back by what was said of it
        for row, breaks in zip(rows, broken, strict=True):
            if not breaks:
                pipeline.delete("t0", [dict(zip(names, row, strict=True))])
        pipeline.step()
        assert len(pipeline["v"]) == 0


def test_what_is_written_once_and_read_twice_is_drawn() -> None:
    texts = " ".join(draw_ruled(Seeded(seed)).text for seed in range(60))
    assert "BETWEEN -1 AND 3" in texts
    assert "nullif(" in texts
