"""Extremes of ranges of runs: what plain Python finds of the same rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.blocks import extremes as module
from dbsp.circuits.traces.blocks.extremes import Extreme, nothing, range_extremes
from tests.circuits.traces.blocks.test_sums import ranges_of, run_of

ENDS = [-(2**63), 2**63 - 1]
rows = st.lists(
    st.tuples(st.one_of(st.integers(-3, 3), st.none(), st.sampled_from(ENDS)), st.integers(-2, 2)),
    min_size=1,
    max_size=12,
)
runs = st.lists(rows, min_size=1, max_size=4)  # of batches


@given(
    st.lists(runs, min_size=1, max_size=3),
    st.data(),
    st.sampled_from([1, 2, 3, 256]),
    st.sampled_from([min, max]),
)
def test_extremes_of_ranges(held, data: st.DataObject, block: int, pick) -> None:
    count = data.draw(st.integers(1, 4))
    ranges, within = ranges_of(held, count, data)
    extreme = Extreme(0, pick is min)
    expected = []
    for rows in within:
        value = pick((x for x, _ in rows if x is not None), default=nothing(extreme.least))
        expected.append((value, sum(weight for x, weight in rows if x == value)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        for _ in range(2):  # they are kept with the batches
            found = range_extremes(ranges, extreme, count)
            assert [*zip(*(each.tolist() for each in found), strict=True)] == expected


def test_of_a_long_range_few_rows_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of([[(x, 1) for x in range(5_000)], [(7, 1)] * 5_000])
    ranges = [(run, np.array([100]), np.array([9_900]))]
    extreme = Extreme(0, False)
    range_extremes(ranges, extreme, 1)
    looked_at = []
    weighed = Extreme.weighed
    monkeypatch.setattr(
        Extreme,
        "weighed",
        lambda self, values, weights: looked_at.append(len(values)) or weighed(self, values, weights),
    )
    codes, weights = range_extremes(ranges, extreme, 1)
    assert (codes.tolist(), weights.tolist()) == ([4_999], [1])
    assert sum(looked_at) <= 4 * module._BLOCK
