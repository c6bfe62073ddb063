"""Aggregates over frames: each way of computing one gives what the frame's rows give as a group."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.aggregates.collected import Mode
from dbsp.circuits.operators.groups.aggregates.percentiles import Percentile
from dbsp.circuits.operators.groups.aggregates.statistics import FUNCTIONS, Statistic
from dbsp.circuits.operators.groups.state.members import Finalizer
from dbsp.circuits.operators.groups.windows import values
from dbsp.circuits.operators.groups.windows.calls import Frame, Gathered, WindowFunction
from dbsp.circuits.operators.groups.windows.partitions import Partitions
from dbsp.circuits.operators.groups.windows.quantiles import Quantiles
from dbsp.circuits.operators.groups.windows.values import of_values

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, 2.5, -3e-5, 1e16, 7e100, float("nan"), float("inf"), None])
ROWS = st.lists(
    st.tuples(st.integers(0, 2), NUMBERS, st.integers(0, 3), st.sampled_from([True, False, None]))
)
EDGES = st.none() | st.integers(-3, 3)
PERCENTAGES = (0.0, 0.3, 0.5, 1.0)
FINISHES: dict[str, tuple[Finalizer, pa.DataType, int]] = {
    **{
        name: (Statistic(name), pa.float64(), len(powers[0]))
        for name, (powers, _) in FUNCTIONS.items()
        if name in ("var_samp", "kurtosis", "corr")
    },
    **{
        kind: (Percentile(kind, PERCENTAGES, many=True), pa.list_(pa.float64()), 1)
        for kind in ("continuous", "discrete", "approximate")
    },
    "descending": (Percentile("discrete", (0.2,), descending=True), pa.float64(), 1),
    "frequencies": (Percentile("discrete", (0.4,), frequencies=True), pa.float64(), 2),
    "mode": (Mode(), pa.float64(), 1),
    "greatest mode": (Mode(greatest=True), pa.float64(), 1),
}


def partitions(rows: list[tuple[int, float | None, int, bool | None]]) -> Partitions:
    rows = sorted(rows, key=lambda row: row[0])
    columns = [pa.array([row[i] for row in rows], t) for i, t in enumerate(TYPES)]
    partition = np.array([row[0] for row in rows], dtype=np.int64)
    distinct = pa.RecordBatch.from_arrays(columns, ["k", "x", "n", "b"])
    return Partitions(distinct, np.arange(len(rows)), partition, np.arange(len(rows)), ())


TYPES = (pa.int64(), pa.float64(), pa.int64(), pa.bool_())


@pytest.mark.slow
@pytest.mark.parametrize("name", FINISHES)
@given(rows=ROWS, lower=EDGES, upper=EDGES, filtered=st.booleans(), few=st.booleans())
def test_as_of_the_frame_s_rows(
    name: str,
    rows: list[tuple[int, float | None, int, bool | None]],
    lower: int | None,
    upper: int | None,
    filtered: bool,
    few: bool,
) -> None:
    finalizer, kind, arity = FINISHES[name]
    arguments = (*range(1, 1 + arity), *((3,) if filtered else ()))
    values_ = Gathered(finalizer, tuple(range(arity)))
    frame = Frame(True, lower, upper)
    call = WindowFunction(name, kind, (), arguments, frame, filtered=filtered, values=values_)
    with pytest.MonkeyPatch.context() as patch:
        if few:
            patch.setattr(values, "_FRAMES", 2)
            patch.setattr(values, "_VALUES", 3)
        found = of_values(call, partitions(rows))
        patch.setattr(values, "_method", lambda _: values._gathered)
        expected = of_values(call, partitions(rows))
    assert repr(found.to_pylist()) == repr(expected.to_pylist())


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=20),
    st.integers(0, 20),
    st.integers(0, 20),
)
def test_quantiles(values: list[tuple[int, int]], start: int, stop: int) -> None:
    ranks, often = (np.array([value[i] for value in values], dtype=np.int64) for i in (0, 1))
    start = min(start, len(values))
    stop = min(max(start, stop), len(values))
    listed = sorted(np.repeat(ranks[start:stop], often[start:stop]).tolist())
    places = np.arange(len(listed))
    found = Quantiles(ranks, often).find(np.full(len(listed), start), np.full(len(listed), stop), places)
    assert found.tolist() == listed
