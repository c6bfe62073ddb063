"""Rows of a batch by the hash of their values, which are hashed once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.blocks import identities
from dbsp.circuits.traces.blocks.identities import of_hash
from tests.laws.operators_laws import hash_seeds

SCHEMA = pa.schema([("t", pa.string()), ("n", pa.int64())])
row = st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2))


def batch_of(rows: list[Any]) -> pa.RecordBatch:
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(SCHEMA)]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


@given(st.lists(row, min_size=1), st.lists(row, max_size=5), st.data(), hash_seeds)
def test_all_with_a_hash(held: list[Any], asked: list[Any], data: st.DataObject, seed: int) -> None:
    end = data.draw(st.integers(1, len(held)))
    begin = data.draw(st.integers(0, end - 1))
    batch = Batch(np.zeros(len(held), np.uint64), batch_of(held), np.ones(len(held), np.int64))
    hashes = hash_rows(batch_of(asked).columns, len(asked), seed)
    of_held = hash_rows(batch.rows.columns, len(held), seed)
    expected = {(i, at) for i, h in enumerate(hashes) for at in range(begin, end) if of_held[at] == h}
    for _ in range(2):
        i, positions = of_hash(batch, begin, end, hashes, seed)
        assert sorted(zip(i.tolist(), positions.tolist(), strict=True)) == sorted(expected)


def test_they_are_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = Batch(np.zeros(2, np.uint64), batch_of([("a", 1), ("b", 2)]), np.ones(2, np.int64))
    hashes = hash_rows(batch.rows.columns, 2, 0)
    first = of_hash(batch, 0, 2, hashes, 0)
    monkeypatch.setattr(identities, "hash_rows", None)
    again = of_hash(batch, 0, 2, hashes, 0)
    assert [each.tolist() for each in first] == [each.tolist() for each in again] == [[0, 1], [0, 1]]
