"""Which of the first rows a step has brought: those that its delta has more of, by DuckDB."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.zset import ZSet
from dbsp.views.marking import brought

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
ROWS = st.lists(st.tuples(st.none() | st.integers(0, 2), st.none() | st.sampled_from(["", "x"])), max_size=6)


def batch(rows: list[Any]) -> pa.RecordBatch:
    columns = [pa.array([row[i] for row in rows], SCHEMA.field(i).type) for i in range(2)]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


@given(ROWS, ROWS, st.data())
def test_marked_rows_are_those_that_a_delta_adds(rows: list[Any], changed: list[Any], data: Any) -> None:
    changed = [*dict.fromkeys(changed)]
    weight = st.sampled_from([-2, -1, 1, 3])
    weights = data.draw(st.lists(weight, min_size=len(changed), max_size=len(changed)))
    delta = ZSet(batch(changed), np.array(weights, np.int64))
    shown = pa.Table.from_batches(
        [batch(rows).append_column("place", pa.array(range(len(rows)), pa.int64()))]
    )
    added = pa.Table.from_batches([delta.to_batch()])
    same = "s.a IS NOT DISTINCT FROM d.a AND s.b IS NOT DISTINCT FROM d.b"
    with duckdb.connect() as db:
        db.register("shown", shown).register("added", added)
        marked = f"EXISTS (SELECT 1 FROM added d WHERE d.__weight > 0 AND {same})"
        expected = db.execute(f"SELECT {marked} FROM shown s ORDER BY place").fetchall()
    assert brought(batch(rows), delta).tolist() == [found for (found,) in expected]


def test_the_column_of_an_emission_is_none_of_the_view_s() -> None:
    delta = ZSet(batch([(1, "x")]).append_column("state", pa.array(["final"])), np.ones(1, np.int64))
    assert brought(batch([(1, "x"), (2, "x")]), delta).tolist() == [True, False]
