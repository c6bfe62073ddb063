"""A DEFAULT that is a value is there at once; one of the clock is of a moment, or left to the step."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column, Literal
from dbsp.circuits.operators.inputs.defaults import Default
from dbsp.dml.defaults import with_defaults
from dbsp.rows.incoming import arrow_schema
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import table

TIMESTAMP = pa.timestamp("us", tz="UTC")
NOTED = replace(
    table("noted", (Field("id", pa.int64(), False), Field("n", pa.int32()), Field("at", TIMESTAMP))),
    defaults=(Default(1, Literal(7, pa.int32())), Default(2, Column(0, TIMESTAMP))),
)


def test_values_are_filled_in_and_what_is_given_stays() -> None:
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    rows = [{"id": 1}, {"id": 2, "n": 3, "at": moment}]
    found = with_defaults(NOTED, pa.RecordBatch.from_pylist(rows, arrow_schema(NOTED)))
    assert found.to_pylist() == [{"id": 1, "n": 7, "at": None}, {"id": 2, "n": 3, "at": moment}]
    assert found.schema == arrow_schema(NOTED)


def test_one_of_the_clock_is_of_the_moment() -> None:
    moment = datetime(2024, 1, 1, 12, 30, 0, 1, tzinfo=UTC)
    rows = pa.RecordBatch.from_pylist(
        [{"id": 1}, {"id": 2, "at": datetime(2023, 1, 1, tzinfo=UTC)}], arrow_schema(NOTED)
    )
    found = with_defaults(NOTED, rows, moment)
    assert found.column("at").to_pylist() == [moment, datetime(2023, 1, 1, tzinfo=UTC)]
