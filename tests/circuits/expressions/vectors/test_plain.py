"""Columns plain enough for Arrow's parsers; all others are left to ours, whole."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.vectors.plain import read_plain

DIGITS = b"0123456789-"


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), max_size=40))
def test_numbers_are_read(values: list[int | None]) -> None:
    strings = pa.array([None if value is None else str(value) for value in values], pa.string())
    found = read_plain(strings, pa.int64(), DIGITS)
    assert found is not None and found.to_pylist() == values


@pytest.mark.parametrize("odd", ["0x1", "1e3", " 1", "+1", "é", "\x00", "1_0"])
def test_a_byte_outside_of_the_alphabet_leaves_it_to_others(odd: str) -> None:
    assert read_plain(pa.array(["1", odd]), pa.int64(), DIGITS) is None
    assert read_plain(pa.array([odd, "1"]).slice(1), pa.int64(), DIGITS).to_pylist() == [1]


@pytest.mark.parametrize("bad", ["", "-", "1-1", "--1", "9223372036854775808"])
@pytest.mark.parametrize("before", [0, 100])
def test_so_does_what_arrow_cannot_read(bad: str, before: int) -> None:
    assert read_plain(pa.array(["1"] * before + [bad]), pa.int64(), DIGITS) is None


def test_nothing_is_read_as_nothing() -> None:
    assert read_plain(pa.array([], pa.string()), pa.float64(), DIGITS) == pa.array([], pa.float64())
    assert read_plain(pa.array([None], pa.string()), pa.float64(), DIGITS).null_count == 1
