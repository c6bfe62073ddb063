"""Percentile waterlines, against a definition that takes one event time after the other."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.progress.percentile import Percentile, Recent

EXAMPLE = Percentile(Decimal(20), 5)


def by_the_book(arrived: list[Any], percentile: Percentile) -> list[Any]:
    """Per event time, the candidate at it, or None."""
    found = []
    for i in range(1, len(arrived) + 1):
        due = i >= percentile.over and (i - percentile.over) % percentile.every == 0
        last = sorted(arrived[i - percentile.over : i]) if due else []
        found.append(last[-1 - percentile.exceeding] if due else None)
    return found


def after(recent: Recent, values: list[Any], percentile: Percentile) -> tuple[Recent, Any]:
    data_type = recent.values.type
    recent, candidate = recent.after(pa.array(values, data_type), percentile)
    return recent, None if candidate is None else candidate.as_py()


def test_the_worked_example_at_once_and_one_by_one() -> None:
    recent = Recent.empty(EXAMPLE, pa.int64())
    recent, candidate = after(recent, [4, 7, 2, 3, 8], EXAMPLE)
    assert candidate == 7
    recent, candidate = after(recent, [10], EXAMPLE)
    assert candidate == 8
    recent, candidate = after(recent, [9], EXAMPLE)
    assert candidate == 9
    assert recent.values.to_pylist() == [2, 3, 8, 10, 9]
    assert by_the_book([4, 7, 2, 3, 8, 10, 9], EXAMPLE) == [None] * 4 + [7, 8, 9]


@given(
    values=st.lists(st.integers(0, 6), max_size=30),
    cuts=st.lists(st.integers(0, 30), max_size=4),
    share=st.sampled_from(["0", "20", "33.4", "50", "100"]),
    over=st.integers(1, 6),
    every=st.integers(1, 8),
)
def test_a_step_has_the_greatest_candidate_of_its_rows(
    values: list[int], cuts: list[int], share: str, over: int, every: int
) -> None:
    percentile = Percentile(Decimal(share), over, every)
    expected = by_the_book(values, percentile)
    recent = Recent.empty(percentile, pa.int64())
    ends = sorted({min(cut, len(values)) for cut in cuts} | {len(values)})
    start = 0
    for end in ends:
        recent, candidate = after(recent, values[start:end], percentile)
        there = [value for value in expected[start:end] if value is not None]
        assert candidate == max(there, default=None)
        recent = Recent.from_json(json.loads(json.dumps(recent.to_json())), pa.int64())
        start = end
    assert recent.values.to_pylist() == values[-over:]


@pytest.mark.parametrize(
    "data_type",
    [
        pa.int8(),
        pa.timestamp("us", tz="UTC"),
        pa.date32(),
        pa.float64(),
        pa.decimal128(6, 2),
        pa.decimal128(38),
    ],
    ids=str,
)
def test_any_type_that_can_be_late(data_type: pa.DataType) -> None:
    numbers = [4, 7, 2, 3, 8]
    values = pa.array(list(map(Decimal, numbers)) if pa.types.is_decimal(data_type) else numbers, data_type)
    recent, candidate = Recent.empty(EXAMPLE, data_type).after(values, EXAMPLE)
    assert candidate == values[1]
    saved = json.loads(json.dumps(recent.to_json()))
    assert Recent.from_json(saved, data_type).values.equals(values)
