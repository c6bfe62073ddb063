"""Codes of intervals: a level that is long enough, and within it the order of their starts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.columns.order_codes import order_code
from dbsp.circuits.functions.logic.interval_codes import (
    BUCKETS,
    INTERVAL_CODE,
    LAST_LEVEL,
    LEVEL_BITS,
    levels,
)
from tests.circuits.functions.calling import called

INT = pa.int64()
long = st.integers(-(2**63), 2**63 - 1)
pairs = st.lists(st.tuples(long, st.one_of(long, st.integers(0, 2**40))), min_size=1, max_size=5)


def decoded(starts: list[int | None], ends: list[int | None]) -> list[tuple[int, int] | None]:
    """(level, bucket) of each, by the order code that a trace makes of the value."""
    found = called("interval_code", INTERVAL_CODE, pa.array(starts, INT), pa.array(ends, INT))
    codes = order_code(pa.array(found, INTERVAL_CODE)).tolist()
    return [
        None if value is None else (code >> LEVEL_BITS, code & int(BUCKETS))
        for value, code in zip(found, codes, strict=True)
    ]


@given(pairs)
@example([(-(2**63), 2**63 - 1), (0, 0), (0, 1), (5, 3)])
def test_a_bucket_is_no_shorter_than_the_interval(listed: list[tuple[int, int]]) -> None:
    starts, ends = (np.array([pair[i] for pair in listed], np.int64) for i in range(2))
    for level, (start, end) in zip(levels(starts, ends).tolist(), listed, strict=True):
        assert 0 <= level <= LAST_LEVEL
        assert level == LAST_LEVEL or 4**level >= end - start
        assert level == 0 or 4 ** (level - 1) <= 2 * max(end - start, 1), "and not much longer"
        assert end > start or level == 0


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=6))
def test_intervals_lie_by_level_and_start(listed: list[tuple[int, int]]) -> None:
    starts, ends = [a for a, _ in listed], [a + length for a, length in listed]
    found = decoded(list(starts), list(ends))
    expected = levels(np.array(starts), np.array(ends)).tolist()
    for pair, start, level in zip(found, starts, expected, strict=True):
        assert pair == (level, start // 4**level)


def test_nothing_has_no_code() -> None:
    assert decoded([None, 1, 1], [1, None, 2]) == [None, None, (1, 0)]
