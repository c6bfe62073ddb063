"""The k-th value of groups, over runs of any weights: a sort in Python says which."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.aggregates.ranked import ranks as module
from dbsp.circuits.operators.groups.aggregates.ranked.ranks import RankedPlaces, Ranks
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import HIGH, Layout, of_placement
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral
from tests.circuits.traces.narrow.test_merging import reread
from tests.circuits.traces.test_sorted_run import cut
from tests.generators.columns.zsets import zset_of

# values that share a code, beside others that don't
VALUES: dict[pa.DataType, list[Any]] = {
    pa.int64(): [0, 1, 2, -5, 2**24, 2**24 + 1, 2**60, 2**60 + 1, 2**63 - 1, -(2**63)],
    pa.float64(): [0.0, -0.0, 1.0, 1.0 + 2**-40, 1e300, -1e300, math.inf, -math.inf, math.nan],
    pa.string(): ["", "a", "same", "same a", "same b", "samf", "z"],
    pa.decimal128(20, 2): [
        Decimal(n) for n in ("0.00", "0.01", "-3.00", "123456789012345678.01", "1234567890.02")
    ],
}
places_of = st.lists(st.integers(0, 12), min_size=1, max_size=3)


@pytest.fixture(scope="module", autouse=True, params=[(0, 2, 4), (0, 16, 1 << 14), (3, 16, 1 << 14)])
def searched(request: pytest.FixtureRequest) -> Iterator[None]:
    """Down to one code, or to a few rows; in many rounds, of few places together."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in zip(("_FEW", "_PARTS", "_TOGETHER"), request.param, strict=True):
            patch.setattr(module, name, value)
        yield


@st.composite
def histories(draw: st.DrawFn) -> Any:
    """(type, parts): rows (group, value) and weights. Parts cancel each other, but nothing is there less than
    not at all before the last one, nor after it.
    """
    kind = draw(st.sampled_from(list(VALUES)))
    row = st.tuples(st.integers(0, 2), st.integers(0, len(VALUES[kind]) - 1))
    parts = draw(st.lists(st.dictionaries(row, st.integers(-2, 3), max_size=10), min_size=1, max_size=4))
    before = Counter[Any]()
    for part in parts:
        before.update(part)
    parts.append({key: draw(st.integers(0, 2)) - total for key, total in before.items() if total < 0})
    delta = draw(st.dictionaries(row, st.integers(-2, 2), max_size=6))
    before.update(parts[-1])
    parts.append({key: max(weight, -before[key]) for key, weight in delta.items()})
    named = [[((g, VALUES[kind][v]), w) for (g, v), w in part.items() if w] for part in parts]
    return kind, named


def integral_of(kind: pa.DataType, parts: list[Any], at: list[int], narrow: bool, seed: int = 0) -> Integral:
    schema = pa.schema([("k", pa.int64()), ("x", kind)])
    layout = Layout(schema, (0,), order=1)
    *before, delta = (Batch.build(layout, zset_of(schema, part), seed) for part in parts)
    if narrow:
        before = [reread(batch, layout) if len(batch) else batch for batch in before]
    return Integral(layout, tuple(SortedRun(cut(batch, at)) for batch in before if len(batch)), delta)


def in_order(values: list[Any], descending: bool) -> list[Any]:
    """NaN is the greatest; -0.0 ties with 0.0, and comes first in either order."""
    plain = sorted((x for x in values if str(x) != "nan"), key=lambda x: str(x) == "0.0")
    plain.sort(reverse=descending)
    rest = [x for x in values if str(x) == "nan"]
    return rest + plain if descending else plain + rest


@pytest.mark.parametrize("descending", [False, True])
@given(history=histories(), at=st.lists(st.integers(0, 9), max_size=3), narrow=st.booleans(), asked=places_of)
def test_the_value_at_a_place(
    descending: bool, history: Any, at: list[int], narrow: bool, asked: list[int]
) -> None:
    kind, parts = history
    integral = integral_of(kind, parts, at, narrow)
    if not integral.after:
        return
    high = integral.layout.placed([pa.array([0, 1, 2], pa.int64())], 3, 0) & HIGH
    ranges = [(run, *run.ranges(*of_placement(high))) for run in integral.after]
    places = RankedPlaces(Ranks(ranges, len(integral.before), high, 1), descending)
    wanted = np.minimum(np.array([asked]).T, np.maximum(places.sizes - 1, 0))
    found = places.values(wanted).to_pylist()
    for place in range(6):
        held = values_of(parts if place >= 3 else parts[:-1], place % 3, VALUES[kind])
        assert places.sizes[place] == len(held)
        for i, at_place in enumerate(wanted[:, place].tolist()):
            got = found[i * 6 + place]
            assert repr(got) == repr(in_order(held, descending)[at_place] if held else None)


def values_of(parts: list[Any], group: int, among: list[Any]) -> list[Any]:
    """What is left in a group, copies counted."""
    totals = Counter[Any]()
    for part in parts:
        for (k, value), weight in part:
            totals[k, repr(value)] += weight
    return [value for value in among for _ in range(totals[group, repr(value)])]


def test_few_rows_are_read() -> None:
    """Of a large group, those of a few codes."""
    parts = [[((0, i), 1) for i in range(5000)], [((0, i), -1) for i in range(0, 5000, 2)], []]
    integral = integral_of(pa.int64(), parts, [], narrow=False)
    high = integral.layout.placed([pa.array([0], pa.int64())], 1, 0) & HIGH
    ranges = [(run, *run.ranges(*of_placement(high))) for run in integral.before]
    taken: list[int] = []

    def counted(run: SortedRun, positions: np.ndarray) -> Batch:
        taken.append(len(positions))
        return take(run, positions)

    take = SortedRun.take
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SortedRun, "take", counted)
        values = RankedPlaces(Ranks(ranges, 2, high, 1), descending=False).values(
            np.array([[0, 0], [2499, 1250]])
        )
    assert values.to_pylist() == [1, 1, 4999, 2501]
    assert 0 < sum(taken) <= 4 * 64
