"""Intervals of months, days and time: in Arrow and as text, and back, also sliced and within others."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.calendar_intervals import (
    CALENDAR_INTERVAL,
    from_arrow,
    from_texts,
    holds_calendar,
    in_arrow,
    texts,
)
from dbsp.circuits.columns.forms.months import CALENDAR, MONTHS
from dbsp.circuits.columns.forms.outside import from_outside, outside_type, to_outside, to_spark
from tests.effort import examples

_MOST = (2**63 - 1) // 1000
PART = st.sampled_from([0, 1, -1, 13, -13, 2**31 - 1, -(2**31)])
TIME = st.sampled_from([0, 1, -1, 1_500_000, -90_500_000, 3_600_000_000, _MOST, -_MOST])
VALUES = st.lists(st.none() | st.tuples(PART, PART, TIME), max_size=6)


@examples(60)
@given(VALUES, VALUES)
def test_there_and_back(
    values: list[tuple[int, int, int] | None], before: list[tuple[int, int, int]]
) -> None:
    column = pa.array([*before, *values], CALENDAR_INTERVAL).slice(len(before))
    arrow = in_arrow(column)
    arrow.validate(full=True)
    assert arrow.to_pylist() == [
        None if v is None else pa.MonthDayNano([*v[:2], v[2] * 1000]) for v in values
    ]
    assert from_arrow(pa.concat_arrays([arrow, arrow]).slice(len(arrow))).equals(column)
    assert from_texts(texts(column)).equals(column)


def test_what_is_longer_than_arrow_s() -> None:
    for most in (_MOST + 1, -_MOST - 1, 2**63 - 1, -(2**63)):
        with pytest.raises(ValueError, match="CAST it AS STRING"):
            in_arrow(pa.array([(0, 0, most)], CALENDAR_INTERVAL))
        assert from_texts(texts(pa.array([(0, 0, most)], CALENDAR_INTERVAL))).to_pylist()[0]
    there = pa.StructArray.from_arrays(
        [pa.array([0], pa.int32()), pa.array([0], pa.int32()), pa.array([2**63 - 1])],
        fields=list(CALENDAR_INTERVAL),
        mask=pa.array([True]),
    )
    assert in_arrow(there).to_pylist() == [None]


def test_within_others() -> None:
    inside = pa.struct([("i", CALENDAR_INTERVAL), ("m", MONTHS)])
    kind = pa.list_(inside)
    assert holds_calendar(kind)
    assert not holds_calendar(pa.list_(MONTHS))
    assert outside_type(kind) == pa.list_(pa.struct([("i", CALENDAR), ("m", CALENDAR)]))
    given_kind = pa.list_(pa.struct([("i", pa.string()), ("m", pa.int32())]))
    column = from_outside(pa.array([[{"i": "1 days", "m": 14}, None], None, []], given_kind), kind)
    assert column.type == kind
    assert from_outside(to_outside(column), kind).equals(column)
    assert to_spark(column).to_pylist() == [[{"i": "1 days", "m": 14}, None], None, []]
