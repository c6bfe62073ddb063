"""Partitions: the runs that rows lie in, against a look at every row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.windows.partitions import Partitions

# (partition, order value, a value beside it), each so often
Row = tuple[int, int | None, int | None]
value = st.one_of(st.none(), st.integers(-3, 3))
listings = st.lists(st.tuples(st.integers(0, 2), value, value, st.integers(1, 2)), max_size=10).map(
    lambda listed: sorted({row[:3]: row for row in listed}.values(), key=lambda row: place_of(row[:3]))
)


def place_of(row: Row) -> Any:
    return row[0], (row[1] is not None, row[1] or 0), (row[2] is not None, row[2] or 0)


def partitions(listed: list[tuple[int, Any, Any, int]]) -> Partitions:
    """In ascending order of the second column, NULL first, whose equals are peers."""
    columns = [pa.array([row[i] for row in listed], pa.int64()) for i in range(3)]
    row = np.repeat(np.arange(len(listed)), [each[3] for each in listed]).astype(np.int64)
    runs = [listed[i] for i in row]
    partition = np.array([each[0] for each in runs], np.int64)
    numbers = {pair: i for i, pair in enumerate(dict.fromkeys(each[:2] for each in runs))}
    peer = np.array([numbers[each[:2]] for each in runs], np.int64)
    distinct = pa.RecordBatch.from_arrays(columns, names=["k", "x", "v"])
    return Partitions(distinct, row, partition, peer, (SortKey(1),))


def expanded(listed: list[tuple[int, Any, Any, int]]) -> list[Row]:
    return [row[:3] for row in listed for _ in range(row[3])]


@given(listings)
def test_runs(listed: list[tuple[int, Any, Any, int]]) -> None:
    rows, found = expanded(listed), partitions(listed)
    assert len(found) == len(rows)
    for runs, width in ((found.whole, 1), (found.peers, 2)):
        for i, row in enumerate(rows):
            alike = [j for j, other in enumerate(rows) if other[:width] == row[:width]]
            assert (runs[0][i], runs[1][i]) == (alike[0], alike[-1] + 1)


@given(listings)
def test_a_value_for_every_copy(listed: list[tuple[int, Any, Any, int]]) -> None:
    found = partitions(listed)
    for i in range(3):
        assert found.column(i).to_pylist() == [row[i] for row in expanded(listed)]
    assert found.expanded(pa.array(range(len(listed)))).to_pylist() == found.row.tolist()
    assert found.is_plain == all(often == 1 for *_, often in listed)
    assert found.position.tolist() == list(range(len(found)))
