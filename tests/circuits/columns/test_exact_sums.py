"""Sums of ranges are the nearest doubles of exact sums, whatever stands before the range."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.exact_sums import sum_ranges

finite = st.one_of(
    st.sampled_from([1e16, -1e16, 1.0, 0.1, 5e-324, -0.0, 1e300, -1e300]), st.floats(-1e9, 1e9)
)


def summed(values: list[float]) -> float:
    if any(math.isnan(v) for v in values) or {math.inf, -math.inf} <= set(values):
        return math.nan
    infinite = [v for v in values if math.isinf(v)]
    return infinite[0] if infinite else float(sum(map(Fraction, values), Fraction(0)))


@given(st.lists(st.one_of(finite, st.sampled_from([math.nan, math.inf, -math.inf])), max_size=8))
def test_every_range(values: list[float]) -> None:
    ranges = [(a, b) for a in range(len(values) + 1) for b in range(a, len(values) + 1)]
    start, stop = np.array(ranges, np.int64).T
    found = sum_ranges(np.array(values, np.float64), start, stop)
    for (a, b), total in zip(ranges, found.tolist(), strict=True):
        expected = summed(values[a:b])
        assert total == expected or (math.isnan(total) and math.isnan(expected)), (values[a:b], total)
