"""The rows that come first: all that tie for it on either side of a step, and the rows that change."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.groups import groups_of
from dbsp.circuits.operators.groups.leading import touched_leading
from dbsp.circuits.operators.groups.windows.leads import Lead
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from dbsp.circuits.traces.zset import ZSet
from tests.laws.operators_laws import hash_seeds

pytestmark = pytest.mark.usefixtures("worth", "ties")

SCHEMA = pa.schema([("k", pa.int64()), ("x", pa.int64())])
LAYOUT = Layout(SCHEMA, (0,), order=1, nulls_greatest=True)
UP, DOWN = Lead(1, False, True), Lead(1, True, True)

Rows = list[tuple[int, int]]
rows = st.lists(st.tuples(st.sampled_from([0, 1]), st.integers(0, 60)), max_size=40)


def zset(counted: dict[tuple[int, int], int]) -> ZSet:
    columns = [pa.array([row[i] for row in counted], pa.int64()) for i in (0, 1)]
    batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    return ZSet(batch, np.array(list(counted.values()), dtype=np.int64))


@given(
    rows,
    rows.filter(bool),
    rows,
    st.integers(0, 40),
    st.sampled_from([(UP,), (DOWN,), (UP, DOWN)]),
    hash_seeds,
)
def test_what_tells_is_listed_as_often_as_it_is_there(
    first: Rows, then: Rows, come: Rows, gone: int, leads: tuple[Lead, ...], seed: int
) -> None:
    held = Counter([*first, *then])
    change = Counter(come)
    change.subtract(sorted(held.elements())[:gone])
    delta = {row: n for row, n in change.items() if n}
    if not delta:
        return
    runs = as_runs(*(Batch.build(LAYOUT, zset(Counter(part)), seed) for part in (first, then) if part))
    integral = Integral(LAYOUT, runs, Batch.build(LAYOUT, zset(delta), seed))
    groups = groups_of(integral.delta.rows, (0,), seed)
    touched = touched_leading(integral, groups, (0,), (), leads, seed)
    if touched is None:
        return
    found: Any = list(zip(*(column.to_pylist() for column in touched.rows.columns), strict=True))
    after = Counter(held)
    after.update(delta)
    for weights, side in ((touched.before, held), (touched.after, after)):
        listed = {row: n for row, n in zip(found, weights.tolist(), strict=True) if n}
        assert listed.items() <= {**side}.items()
        for key in {k for k, _ in delta}:
            values = [x for (k, x), n in side.items() if k == key and n]
            for pick in (min if lead is UP else max for lead in leads):
                assert not values or (key, pick(values)) in listed
    assert set(delta) <= set(found)
