"""What a view holds: every row as often as it is there, in the view's order, whatever its chunks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import DataError
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.plans.calls import SortOrder
from dbsp.views.view import Contents

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
STORED = pa.schema([("c0", pa.int64()), ("c1", pa.string())])
ROWS = st.tuples(st.none() | st.integers(0, 3), st.none() | st.sampled_from(["", "x", "é"]))


def part(changes: list[tuple[Any, int]]) -> ZSet:
    columns = [pa.array([row[i] for row, _ in changes], STORED.field(i).type) for i in range(2)]
    rows = pa.RecordBatch.from_arrays(columns, schema=STORED)
    return ZSet(rows, np.array([weight for _, weight in changes], np.int64))


def nulls_first(row: tuple[Any, ...]) -> list[Any]:
    return [(value is not None, value) for value in row]


@given(st.lists(st.lists(st.tuples(ROWS, st.integers(1, 3)), max_size=5), max_size=3))
def test_rows_are_the_sum_of_the_parts(parts: list[list[tuple[Any, int]]]) -> None:
    expected: Counter[Any] = Counter()
    for changes in parts:
        for row, weight in changes:
            expected[row] += weight
    contents = Contents("v", SCHEMA, [part(changes) for changes in parts])
    listed = sorted(expected.elements(), key=nulls_first)
    assert [tuple(row.values()) for row in contents.rows()] == listed
    assert len(contents) == len(listed)
    table = contents.to_arrow()
    assert table.schema == SCHEMA
    assert Counter(zip(*table.to_pydict().values(), strict=True)) == expected


def test_what_is_taken_back_is_gone() -> None:
    there = [part([((1, "x"), 2), ((2, "x"), 1)]), part([((1, "x"), -1), ((2, "x"), -1)])]
    contents = Contents("v", SCHEMA, there)
    assert contents.rows() == [{"a": 1, "b": "x"}]
    assert repr(contents) == "<v: 1 rows>"
    assert Contents("v", SCHEMA, []).rows() == []


def test_the_order_is_the_view_s_then_that_of_the_rows() -> None:
    order = [SortOrder(Column(1, pa.string()), descending=True, nulls_last=True)]
    rows = [((3, "x"), 1), ((1, None), 1), ((2, "y"), 2), ((1, "x"), 1)]
    contents = Contents("v", SCHEMA, [part(rows)], order=order)
    listed = [(2, "y"), (2, "y"), (1, "x"), (3, "x"), (1, None)]
    assert [tuple(row.values()) for row in contents.rows()] == listed
    assert list(zip(*contents.to_arrow().to_pydict().values(), strict=True)) == listed
    assert list(contents.to_pandas()["a"]) == [a for a, _ in listed]


def test_fewer_than_no_rows_are_refused_by_name() -> None:
    contents = Contents("v", SCHEMA, [part([((1, "x"), -2)])])
    with pytest.raises(DataError, match=r"view 'v' has the row \{'a': 1, 'b': 'x'\} -2 times: a table WITH"):
        contents.rows()


def test_what_reads_arrow_reads_a_view() -> None:
    held = Contents("v", SCHEMA, [part([((1, "x"), 2)]), part([((1, "x"), -1), ((2, None), 2)])])
    assert pa.table(held).sort_by("a").to_pydict() == {"a": [1, 2, 2], "b": ["x", None, None]}
    assert duckdb.sql("SELECT sum(a) FROM held").fetchall() == [(5,)]
    assert held.first(2).to_pydict() == {"a": [1, 2], "b": ["x", None]}
    html = held._repr_html_()
    assert ">v</caption>" in html
    assert html.count("<tr>") == 4
