"""Scan and Values: what is read as it is."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Literal
from dbsp.sql.plans.nodes import Scan, Values
from dbsp.sql.plans.schemas import Field
from tests.sql.hand_made import INT, T, column, literal, rows_of

ARRIVING = Scan("t", (*T.schema, Field("arrival", INT, False)), arrival=True)
TIME = Field("rowtime", pa.timestamp("us", "UTC"), False)
NUMBER = Field("_row_id", INT, False)
VALUES = Values(
    ((literal(1), Literal("x", pa.string())), (literal(None), Literal("x", pa.string()))),
    (Field("n", INT), Field("s", pa.string(), False)),
)


def test_a_scan_is_as_its_relation() -> None:
    assert T.append_only({"t": True})
    assert T.stream_key({"t": (2,)}) == (2,)
    assert T.asked_for({"t": {1}}) == {1}
    assert T.monotonic({"t": {1: (column(1),)}}) == {1: (column(1),)}
    assert (T.monotonic({}), T.asked_for({})) == ({}, set())
    assert (T.scanned(), T.forgets({"t"}), T.forgets({"u"})) == ({"t"}, True, False)
    with pytest.raises(KeyError):
        T.append_only({})


def test_a_scan_keeps_all_columns() -> None:
    assert T.pruned({2}) == (T, {i: i for i in range(4)})
    assert (T.cost, T.spelled) == ("", "scan t")


def test_what_stands_beside_is_kept_where_it_is_read() -> None:
    both = Scan("t", (*T.schema, TIME, NUMBER), arrival=True, rowtime=True)
    assert both.pruned({0}) == (T, {i: i for i in range(4)})
    assert both.pruned({4, 5}) == (both, {i: i for i in range(6)})
    assert both.pruned({0, 4}) == (
        replace(T, schema=(*T.schema, TIME), rowtime=True),
        {i: i for i in range(5)},
    )
    assert both.pruned({5}) == (
        replace(T, schema=(*T.schema, NUMBER), arrival=True),
        {0: 0, 1: 1, 2: 2, 3: 3, 5: 4},
    )


def test_when_rows_came_is_monotonic_where_it_is_read() -> None:
    known = {"t": {1: (column(1),), 4: (column(4),)}}
    timed = replace(T, schema=(*T.schema, TIME), rowtime=True)
    assert timed.monotonic(known) == known["t"]
    assert ARRIVING.monotonic(known) == T.monotonic(known) == {1: (column(1),)}
    assert (timed.timed(), ARRIVING.timed()) == ({"t"}, frozenset())
    assert replace(timed, schema=(*timed.schema, NUMBER), arrival=True).spelled == (
        "scan t with its times of arrival and its order of arrival"
    )


def test_who_reads_the_order_of_arrival() -> None:
    assert (T.arriving(), ARRIVING.arriving()) == (frozenset(), {"t"})
    assert ARRIVING.spelled == "scan t with its order of arrival"
    assert replace(ARRIVING, arrival=False) != ARRIVING


def test_constant_rows_never_change_and_may_be_equal() -> None:
    assert VALUES.append_only({})
    assert VALUES.stream_key({}) is None
    assert (VALUES.scanned(), VALUES.asked_for({}), VALUES.never_null({})) == (frozenset(), set(), {1})
    assert rows_of(VALUES, {}) == {(1, "x"): 1, (None, "x"): 1}


def test_constant_columns_that_are_read() -> None:
    narrower, position = VALUES.pruned({1})
    assert narrower == Values(tuple((row[1],) for row in VALUES.rows), VALUES.schema[1:])
    assert position == {1: 0}
    assert [field.name for field in VALUES.named().schema] == ["c0", "c1"]


def test_rows_have_the_columns_types() -> None:
    with pytest.raises(AssertionError, match="Values: types"):
        replace(VALUES, schema=VALUES.schema[:1]).verify()
