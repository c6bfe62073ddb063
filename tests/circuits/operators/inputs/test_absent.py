"""Absent: what it puts out makes up for what a delta takes back in vain, and for no more."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.operators.inputs.absent import Absent, Excuses
from dbsp.circuits.operators.inputs.bad import REFUSED_SCHEMA
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from dbsp.circuits.traces.zset import ZSet

SCHEMA = pa.schema([pa.field("a", pa.int64()), pa.field("b", pa.string())])
ROW = st.tuples(st.none() | st.integers(0, 3), st.sampled_from([None, "x"]))
DELTA = st.dictionaries(ROW, st.integers(-2, 2).filter(bool), max_size=6)


def zset(rows: dict) -> ZSet:
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(SCHEMA)]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.array([*rows.values()], np.int64))


@given(st.dictionaries(ROW, st.integers(1, 3)), DELTA, st.sampled_from([0, FOUR_BITS]))
def test_nothing_is_there_less_than_zero_times(held: dict, delta: dict, seed: int) -> None:
    layout = Layout(SCHEMA, (0, 1))
    built = [Batch.build(layout, zset(rows), seed) for rows in (held, delta)]
    out = Absent().step(Context(seed, 1, None, True), Integral(layout, as_runs(built[0]), built[1]))
    found = {tuple(row.values()): int(w) for row, w in zip(out.rows.to_pylist(), out.weights, strict=True)}
    after = Counter(held)
    after.update(delta)
    assert found == {row: -n for row, n in after.items() if n < 0}


def test_what_is_said_of_them() -> None:
    out = Excuses("t", "in/t", ("a", "b")).step(Context(0, 1, None, True), zset({(1, None): 2}))
    assert out.schema == REFUSED_SCHEMA
    row = ("t", "in/t", '{"a": 1, "b": null}', "the row is taken back, and isn't there")
    assert [(*each.values(),) for each in out.rows.to_pylist()] == [row]
    assert out.weights.tolist() == [2]
