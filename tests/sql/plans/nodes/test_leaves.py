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
