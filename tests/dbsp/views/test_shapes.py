"""A changelog in each shape says the same: applied in order, its records give the view."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.sorting import sort_rows
from dbsp.views.shapes import Records, retracts, upserts

SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string()), ("v", pa.int64())])
KEYS = st.sampled_from([None, 1, 2, 3])
ROWS = st.tuples(KEYS, st.sampled_from([None, "a", "b"]), st.integers(0, 1))


def delta_between(before: Counter, after: Counter) -> ZSet:
    change = Counter(after)
    change.subtract(before)
    rows = list(change)
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(SCHEMA)]
    weights = np.array([change[row] for row in rows], np.int64)
    return sort_rows(ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), weights).consolidate())


def listed(records: Records) -> list[tuple]:
    rows = zip(*(column.to_pylist() for column in records.rows.columns), strict=True)
    return [*zip(rows, records.weights.tolist(), records.ops.to_pylist(), strict=True)]


@given(st.lists(st.lists(ROWS, max_size=6), min_size=1, max_size=6), st.sampled_from([(0,), (0, 1), (1, 0)]))
def test_upserts_in_order_are_the_view(states, key):
    table, before = {}, Counter()
    for rows in states:
        after = {tuple(row[i] for i in key): row for row in rows}
        delta = delta_between(before, Counter(after.values()))
        for row, weight, op in listed(upserts(delta, key)):
            name = tuple(row[i] for i in key)
            assert op == ("D" if weight < 0 else "U" if name in table else "I")
            if op == "D":
                assert all(value is None for i, value in enumerate(row) if i not in key)
                del table[name]
            else:
                assert table.get(name) != row
                table[name] = row
        assert table == after
        before = Counter(after.values())


@given(st.lists(st.lists(ROWS, max_size=8), min_size=1, max_size=5))
def test_retractions_in_order_are_the_view(states):
    before, applied = Counter(), Counter()
    for rows in states:
        records = retracts(delta_between(before, Counter(rows)))
        for repeated in listed(records.repeated()):
            row, weight, op = repeated
            assert (weight, op) in ((1, "I"), (-1, "D"))
            applied[row] += weight
        assert +applied == Counter(rows)
        before = Counter(rows)


@pytest.mark.parametrize(("before", "after", "op"), [((), (1,), "I"), ((1,), (2,), "U"), ((1,), (), "D")])
def test_a_view_of_one_row_has_the_empty_key(before, after, op):
    delta = delta_between(*(Counter([(n, "a", n) for n in rows]) for rows in (before, after)))
    (record,) = listed(upserts(delta, ()))
    assert record[2] == op
