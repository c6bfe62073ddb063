"""A row is collected where each reader has a limit that holds, and no other; a run goes unread as rarely."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.progress.limits import (
    Limit,
    Retention,
    least_bound,
    of_columns,
    out_of_reach,
    tops,
    unreachable,
    waterline_row,
)
from dbsp.circuits.progress.waterline import Lateness
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.traces.spine import Run

INT = pa.int64()
numbers = st.one_of(st.none(), st.integers(0, 5))
rows = st.lists(st.tuples(numbers, numbers), max_size=8)
readers = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=2), min_size=1, max_size=3)
LINES = [Column(i, INT) for i in range(2)]


def batch(listed: list[tuple[int | None, int | None]]) -> pa.RecordBatch:
    columns = [pa.array([row[i] for row in listed], INT) for i in range(2)]
    return pa.RecordBatch.from_arrays(columns, names=["a", "b"])


def retention(columns: list[list[int]], last_of: tuple[int, ...] | None = None) -> Retention:
    """Per reader its limits: a column against the waterline of its number."""
    return Retention(
        tuple(tuple(Limit(Column(c, INT), (LINES[c],), last_of) for c in reader) for reader in columns)
    )


def chunk(greatest: tuple[int | None, ...]) -> Chunk:
    return Chunk("s", 0, 8, 1, tops=greatest)


def scalars(kept: Retention, lines: list[int | None]) -> list[pa.Scalar | None]:
    row = batch([(lines[0], lines[1])])
    return [limit.bound(row) for limit in kept.limits]


@given(rows, readers, st.lists(numbers, min_size=2, max_size=2))
def test_what_no_reader_can_reach_is_collected(
    listed: list[tuple[int | None, int | None]], columns: list[list[int]], lines: list[int | None]
) -> None:
    def is_below(row: tuple[int | None, int | None], c: int) -> bool:
        value, line = row[c], lines[c]
        return value is not None and line is not None and value < line

    kept = retention(columns)
    bounds = scalars(kept, lines)
    gone = [all(any(is_below(row, c) for c in reader) for reader in columns) for row in listed]
    assert out_of_reach(kept, bounds, batch(listed)).tolist() == gone
    # of chunks only the greatest values are known
    chunks = tuple(chunk(tops(kept, batch([row]))) for row in listed)
    if unreachable(kept, bounds, Run(0, chunks)):
        assert all(gone)
    if len(listed) == 1 and None not in listed[0]:
        assert unreachable(kept, bounds, Run(0, chunks)) == gone[0]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), max_size=8), st.integers(0, 6))
def test_of_those_below_the_last_of_each_key_stays(listed: list[tuple[int, int]], line: int) -> None:
    listed = sorted(listed)  # rows of a key lie side by side, by time
    kept = retention([[1]], last_of=(0,))
    gone = out_of_reach(kept, [pa.scalar(line, INT)], batch(list(listed))).tolist()
    expected = [
        t < line and i + 1 < len(listed) and listed[i + 1][0] == k and t < listed[i + 1][1] < line
        for i, (k, t) in enumerate(listed)
    ]
    assert gone == expected
    assert tops(kept, batch(list(listed))) == (None,), "which rows stay isn't told by the greatest"


def test_the_least_of_several_bounds_counts_once_all_are_set() -> None:
    assert least_bound(LINES, batch([(3, 2)])) == pa.scalar(2, INT)
    assert least_bound(LINES, batch([(2, 3)])) == pa.scalar(2, INT)
    assert least_bound(LINES, batch([(None, 3)])) is None
    failing = Call("add", (LINES[0], Literal(2**63 - 1, INT)), INT, True, (("evalMode", "ANSI"),))
    assert least_bound([failing], batch([(1, None)])) is None


def test_a_run_of_unknown_tops_is_read() -> None:
    kept = retention([[0]])
    bound = [pa.scalar(9, INT)]
    for known in ((), (None,)):
        assert not unreachable(kept, bound, Run(0, (chunk(known),)))
    assert unreachable(kept, bound, Run(0, (chunk((8,)),)))
    assert not unreachable(kept, bound, Run(0, (chunk((9,)),)))
    assert not unreachable(kept, [None], Run(0, (chunk((8,)),)))


@pytest.mark.parametrize("values", [[None, 1], []])
def test_a_null_or_nothing_has_no_top(values: list[int | None]) -> None:
    assert tops(retention([[0]]), batch([(value, 0) for value in values])) == (None,)


def test_waterlines_are_one_row() -> None:
    lines = [Lateness("t.a", 0, INT, 0), Lateness("t.b", 1, pa.date32(), 0)]
    row = waterline_row(lines, {"t.a": pa.scalar(5, INT), "other": pa.scalar(1, INT)})
    assert row.to_pylist() == [{"t.a": 5, "t.b": None}]
    assert row.schema.types == [INT, pa.date32()]
    (limit,) = of_columns({0: (LINES[0],), 5: (LINES[1],)}, [0, 1])
    assert (limit.expression, limit.bounds) == (Column(0, INT), (LINES[0],))
    assert np.array_equal(out_of_reach(Retention(((limit,),)), [pa.scalar(1, INT)], batch([(0, 0)])), [True])
