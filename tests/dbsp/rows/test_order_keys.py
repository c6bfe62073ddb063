"""Keys of rows, compared one by one, give the order in which all rows at once are sorted."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.order_keys import order_keys
from dbsp.rows.sorting import sort_rows
from dbsp.sql.plans.calls import SortOrder
from tests.generators.values import ARROW, DOMAINS

COUNT = 60
NESTED = {
    "DECIMAL(38,0)": (pa.decimal128(38, 0), [None, -(10**37), -1, 0, 1, 1 << 64, (1 << 64) + 1, 10**37]),
    "ARRAY<STRING>": (pa.list_(pa.string()), [None, [], ["a"], ["a", None], ["a", "b"], [None], ["b"]]),
    "ARRAY<DOUBLE>": (pa.list_(pa.float64()), [None, [0.0], [-0.0], [float("nan")], [1.0, None], [1e300]]),
    "MAP": (pa.map_(pa.string(), pa.int32()), [None, [], [("a", 1)], [("a", None)], [("a", 1), ("b", 2)]]),
}
VALUES = {name: (kind, DOMAINS[name]) for name, kind in ARROW.items()} | NESTED


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nulls_last", [False, True])
def test_keys_order_rows_as_sorting_does(name: str, descending: bool, nulls_last: bool) -> None:
    data_type, values = VALUES[name]
    choose = random.Random(name)
    by = (SortOrder(Column(1, pa.int32()), descending, nulls_last),) if name == "MAP" else ()
    by = by or (SortOrder(Column(0, data_type), descending, nulls_last),)
    column = pa.array([choose.choice(values) for _ in range(COUNT)], data_type)
    other = pa.array([choose.choice([None, 1, 2]) for _ in range(COUNT)], pa.int32())
    rows = pa.RecordBatch.from_arrays([column, other], names=["x", "y"])
    zset = ZSet(rows, np.ones(COUNT, np.int64)).consolidate()
    expected = sort_rows(zset, by).rows
    # a batch a row: nothing of a key may depend on other rows
    keys = [order_keys(zset.rows.slice(i, 1), by)[0] for i in range(len(zset))]
    found = zset.rows.take(pa.array(sorted(range(len(keys)), key=keys.__getitem__)))
    assert str(found.to_pylist()) == str(expected.to_pylist())
    assert len(set(keys)) == len(zset)
    assert keys == order_keys(zset.rows, by)
