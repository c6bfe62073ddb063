"""Aggregates over moving frames are those of each frame's values on their own."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.groups.windows import moving
from dbsp.circuits.operators.groups.windows.calls import WindowFunction

INT, DOUBLE, BIG = pa.int64(), pa.float64(), pa.decimal128(30, 2)
Frames = list[tuple[int, int]]


@st.composite
def cases(draw: st.DrawFn, value: st.SearchStrategy[Any]) -> tuple[list[Any], Frames]:
    """(values, frames over them)"""
    values = draw(st.lists(st.one_of(st.none(), value), max_size=9))
    ends = st.integers(0, len(values))
    frames = draw(st.lists(st.tuples(ends, ends).map(lambda ab: (min(ab), max(ab))), max_size=9))
    return values, frames


def runs(frames: Frames) -> tuple[np.ndarray, np.ndarray]:
    start, stop = (np.array([frame[i] for frame in frames], np.int64) for i in range(2))
    return start, stop


def known(values: list[Any], frames: Frames) -> list[list[Any]]:
    return [[v for v in values[a:b] if v is not None] for a, b in frames]


def of(function: str, data_type: pa.DataType = INT) -> WindowFunction:
    return WindowFunction(function, data_type)


integers = st.one_of(st.integers(-5, 5), st.sampled_from([2**62, -(2**62)]))


@given(cases(integers))
def test_integers(case: tuple[list[Any], Frames]) -> None:
    values, frames = case
    array, seen = pa.array(values, INT), known(values, frames)
    assert moving.counts(array, runs(frames)).tolist() == [len(each) for each in seen]
    averages = moving.average(of("avg", DOUBLE), array, runs(frames)).to_pylist()
    assert averages == [sum(each) / len(each) if each else None for each in seen]
    for name, pick in (("min", min), ("max", max)):
        found = moving.extreme(of(name), array, runs(frames)).to_pylist()
        assert found == [pick(each) if each else None for each in seen]
    for name, operate in (("bit_and", operator.and_), ("bit_or", operator.or_), ("bit_xor", operator.xor)):
        found = moving.bits(of(name), array, runs(frames)).to_pylist()
        assert found == [reduce(operate, each) if each else None for each in seen]


@given(cases(integers))
@example(([2**62, 2**62, None], [(0, 2), (0, 1), (2, 3)]))
def test_a_sum_that_does_not_fit(case: tuple[list[Any], Frames]) -> None:
    values, frames = case
    sums = [sum(each) if each else None for each in known(values, frames)]
    fits = [s is None or -(2**63) <= s < 2**63 for s in sums]
    array = pa.array(values, INT)
    lenient = WindowFunction("sum", INT, lenient=True)
    expected = [s if good else None for s, good in zip(sums, fits, strict=True)]
    assert moving.total(lenient, array, runs(frames)).to_pylist() == expected
    if not all(fits):
        with pytest.raises(EvaluationError, match="ARITHMETIC_OVERFLOW"):
            moving.total(of("sum"), array, runs(frames))


doubles = st.sampled_from([0.0, -0.0, 0.1, 1e16, -1e16, 1.0, float("inf"), float("nan"), 3e-5])


@given(cases(doubles))
def test_doubles_are_added_exactly(case: tuple[list[Any], Frames]) -> None:
    values, frames = case
    array = pa.array(values, DOUBLE)
    found = moving.total(of("sum", DOUBLE), array, runs(frames)).to_pylist()
    expected = [math.fsum(each) + 0.0 if each else None for each in known(values, frames)]
    assert [None if v is None else repr(v + 0.0) for v in found] == [
        None if v is None else repr(v) for v in expected
    ]
    greatest = moving.extreme(of("max", DOUBLE), array, runs(frames)).to_pylist()
    for value, each in zip(greatest, known(values, frames), strict=True):
        nan = any(math.isnan(v) for v in each)
        assert value is None if not each else math.isnan(value) if nan else value == max(each)


@given(cases(st.integers(-(10**27), 10**27).map(lambda n: Decimal(n).scaleb(-2))))
def test_decimals(case: tuple[list[Any], Frames]) -> None:
    values, frames = case
    found = moving.total(of("sum", pa.decimal128(38, 2)), pa.array(values, BIG), runs(frames)).to_pylist()
    assert found == [sum(each) if each else None for each in known(values, frames)]


pairs = st.tuples(st.one_of(st.none(), st.integers(0, 2)), st.one_of(st.none(), st.sampled_from(["a", "b"])))


@given(cases(pairs))
def test_the_value_beside_the_extreme(case: tuple[list[Any], Frames]) -> None:
    """Of several greatest, the one with the greatest value, NULL being less than any."""
    values, frames = case
    listed = [pair or (None, None) for pair in values]
    ordering, value = pa.array([o for o, _ in listed], INT), pa.array([v for _, v in listed], pa.string())
    for name, pick in (("max_by", max), ("min_by", min)):
        found = moving.beside_extreme(of(name, pa.string()), ordering, value, runs(frames)).to_pylist()
        for got, (a, b) in zip(found, frames, strict=True):
            there = [(o, v is not None, v or "") for o, v in listed[a:b] if o is not None]
            assert got == (None if not there else pick(there)[2] if pick(there)[1] else None), name


@given(cases(integers))
def test_lists(case: tuple[list[Any], Frames]) -> None:
    values, frames = case
    found = moving.lists(pa.array(values, INT), runs(frames), pa.list_(INT))
    assert found.to_pylist() == [values[a:b] for a, b in frames]
