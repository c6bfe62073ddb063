"""Edges: a row is complete where all edges of its group come after it, as a sort in Python has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.joins.edges import Edges, Finer

SCHEMA = pa.schema([("t", pa.string()), ("n", pa.int64())])
Row = tuple[str | None, int]
values = st.tuples(st.sampled_from([None, "", "same a", "same b"]), st.integers(0, 2))
owned = st.lists(st.tuples(st.integers(0, 2), values), max_size=8)


def batch_of(rows: list[Row]) -> pa.RecordBatch:
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(SCHEMA)]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def edges_of(owned: list[tuple[int, Row]], finer: Finer) -> Edges:
    owner = np.array([group for group, _ in owned], dtype=np.int64)
    return Edges(finer, owner, batch_of([row for _, row in owned]))


@given(owned.filter(bool), owned, st.booleans(), st.booleans(), st.booleans())
def test_rows_before_all_edges(
    edges: list[tuple[int, Row]], rows: list[tuple[int, Row]], descending: bool, nulls_last: bool, whole: bool
) -> None:
    def order(row: Row) -> Any:
        text = -1 if row[0] is None else ["", "same a", "same b"].index(row[0])
        own = (row[0] is None) == nulls_last, -text if descending else text
        return (*own, row[0] is not None, text, row[1]) if whole else own

    rows = [(group, row) for group, row in rows if group in dict(edges)]
    if not rows:
        return
    found = edges_of(edges, Finer((SortKey(0, descending, nulls_last),), whole)).lie_behind(
        np.array([group for group, _ in rows]), batch_of([row for _, row in rows])
    )
    expected = [all(order(row) < order(edge) for of, edge in edges if of == group) for group, row in rows]
    assert found.tolist() == expected


def test_of_some_groups() -> None:
    edges = edges_of([(0, ("a", 0)), (1, ("b", 0)), (2, ("c", 0)), (1, ("d", 0))], Finer((SortKey(0),)))
    kept = edges.of(np.array([7, 8, 9]), np.array([False, True, True]))
    assert kept.owner.tolist() == [8, 9, 8] and kept.rows.column(0).to_pylist() == ["b", "c", "d"]
