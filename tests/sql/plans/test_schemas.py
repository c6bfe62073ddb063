"""What columns a relation has; what is said of windows in them is no part of it."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.plans.schemas import Field, Windows, arrow_schema, columns_of_schema

HOUR = 3_600_000_000
TIME = pa.timestamp("us", tz="UTC")


def test_a_struct_of_a_window_has_its_start_and_its_end() -> None:
    window = Windows("both", HOUR)
    assert (window.field(0), window.field(1)) == (Windows("start", HOUR), Windows("end", HOUR))
    assert Windows("both", None).field(1) == Windows("end", None)
    assert Windows("start", HOUR).field(0) is None


def test_windows_are_no_part_of_what_a_field_is() -> None:
    plain, end = Field("e", TIME), Field("e", TIME, window=Windows("end", HOUR))
    assert plain == end
    assert hash(plain) == hash(end)
    assert plain != Field("e", TIME, nullable=False)


def test_columns_as_they_are() -> None:
    schema = (Field("a", TIME), Field("b", pa.int32(), nullable=False))
    assert columns_of_schema(schema) == (Column(0, TIME, True), Column(1, pa.int32(), False))


def test_nullability_stays_with_the_plan() -> None:
    for nullable in (True, False):
        (field,) = arrow_schema((Field("a", pa.int32(), nullable),))
        assert (field.name, field.type, field.nullable) == ("a", pa.int32(), True)
