"""Rows taken out of a file, against Python's Counter."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.zset import ZSet
from dbsp.declared.tables.rewriting import hashes_of, may_hold, pieces, repeated, take_out

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
rows = st.lists(st.tuples(st.sampled_from([None, 0, 1]), st.sampled_from([None, "x", ""])), max_size=12)


def batch(listed):
    columns = [pa.array([row[i] for row in listed], field.type) for i, field in enumerate(SCHEMA)]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def counted(found):
    return Counter(tuple(row.values()) for row in found.to_pylist())


@given(rows, rows)
def test_bags_are_subtracted(held, retracted):
    going = ZSet(batch(retracted), np.ones(len(retracted), np.int64)).consolidate()
    kept, left = take_out(batch(held), going)
    assert counted(kept) == Counter(held) - Counter(retracted)
    assert counted(repeated(left)) == Counter(retracted) - Counter(held)


@given(st.lists(rows, max_size=3), st.integers(1, 5))
def test_pieces_are_the_sum(parts, size):
    zsets = [ZSet(batch(part), np.array([(-1) ** i for i in range(len(part))], np.int64)) for part in parts]
    found = list(pieces(SCHEMA, zsets, size))
    assert ZSet.sum(SCHEMA, found) == ZSet.sum(SCHEMA, zsets)
    assert sum(map(len, found)) == len(ZSet.sum(SCHEMA, found).consolidate())


@given(st.lists(rows, max_size=4), st.integers(1, 5))
def test_rows_that_stay_come_as_they_lie(parts, size):
    zsets = [ZSet(batch(part), np.arange(1, len(part) + 1)) for part in parts]
    found, whole = list(pieces(SCHEMA, zsets, size)), ZSet.sum(SCHEMA, zsets)
    assert [len(piece) for piece in found[:-1]] == [size] * len(found[:-1])
    assert ZSet.sum(SCHEMA, found).to_batch().to_pylist() == whole.to_batch().to_pylist()


@given(rows, rows)
def test_a_row_that_is_there_is_found(held, wanted):
    found = may_hold(np.sort(hashes_of(batch(held))), hashes_of(batch(wanted)))
    assert all(there for there, row in zip(found, wanted, strict=True) if row in held)
