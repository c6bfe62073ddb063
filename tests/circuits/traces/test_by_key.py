"""A change by key: applied to a keyed relation it gives what the change gives."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.by_key import by_key
from dbsp.circuits.traces.zset import ZSet

SCHEMA = pa.schema([pa.field("k", pa.int64(), False), pa.field("v", pa.string(), False)])
KEYED = st.dictionaries(st.integers(0, 4), st.sampled_from("ab"))


def zset(rows: dict[int, str], weight: int) -> ZSet:
    columns = [pa.array([*rows], pa.int64()), pa.array([*rows.values()], pa.string())]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.full(len(rows), weight, np.int64))


@given(KEYED, KEYED)
def test_it_turns_one_relation_into_the_other(before: dict[int, str], after: dict[int, str]) -> None:
    changes, was_there = by_key((zset(after, 1) + zset(before, -1)).consolidate(), [0])
    now = dict(before)
    keys, values = (column.to_pylist() for column in changes.rows.columns)
    assert len(set(keys)) == len(keys)
    for key, value, weight, known in zip(keys, values, changes.weights, was_there, strict=True):
        assert known == (key in before)
        if weight > 0:
            now[key] = value
        else:
            assert value is None
            del now[key]
    assert now == after
