"""What rolling windows can still put out and see: below the bounds nothing changes, whatever comes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.groups.windows.calls import Edge, Frame, WindowFunction
from dbsp.circuits.operators.groups.windows.rolling import reach

INT = pa.int64()
T, LINE = Column(1, INT), (Column(7, INT),)
UP = (SortKey(1),)


def plus(n: int) -> Expression:
    return Call("add", (T, Literal(n, INT)), INT, True, (("evalMode", "ANSI"),))


def ranged(lower: Edge, upper: Edge, order: tuple[SortKey, ...] = UP, rows: bool = False) -> WindowFunction:
    return WindowFunction("sum", INT, order, (0,), Frame(rows, lower, upper))


def least(bound: Any, line: int) -> int:
    """The bound's value where the waterline is so far."""
    row = pa.record_batch(
        [pa.array([line if i == 7 else None], INT) for i in range(8)], names=list("abcdefgh")
    )
    return min(evaluate(each, row)[0].as_py() for each in bound)


offsets = st.integers(-5, 5)


@given(st.lists(st.tuples(offsets, offsets).map(sorted), min_size=1, max_size=2), st.integers(-3, 3))
def test_below_the_bounds_nothing_is_seen_or_changes(frames: list[list[int]], line: int) -> None:
    """A new row at b or later changes rows that see it; those see rows of their frames."""
    functions = [ranged(plus(lower), plus(upper)) for lower, upper in frames]
    found = reach(functions, {1: LINE})
    assert found is not None and found.column == 1
    times = range(line - 15, line + 16)
    new = [t for t in times if t >= line]
    touched = {r for r in times for low, high in frames if any(r + low <= t <= r + high for t in new)}
    changed = touched | {*new}
    assert least(found.changed, line) == min(changed)
    seen = {y for r in changed for low, high in frames for y in times if r + low <= y <= r + high} | changed
    assert least(found.seen, line) == min(seen)


def test_the_current_row_s_peers() -> None:
    found = reach([ranged(0, 0)], {1: LINE})
    assert found is not None and (found.changed, found.seen) == (LINE, LINE)


@pytest.mark.parametrize(
    "functions",
    [
        [ranged(None, 0)],
        [ranged(0, None)],
        [ranged(-1, 1, rows=True)],
        [ranged(0, 0, (SortKey(1, descending=True),))],
        [ranged(0, 0, (SortKey(1), SortKey(0)))],
        [ranged(0, 0), ranged(0, 0, (SortKey(0),))],
        [ranged(0, 0), ranged(None, 0)],
        [ranged(0, 0, ())],
    ],
)
def test_what_may_see_any_row(functions: list[WindowFunction]) -> None:
    assert reach(functions, {1: LINE, 0: LINE}) is None


def test_an_order_without_a_bound() -> None:
    assert reach([ranged(0, 0)], {0: LINE}) is None
    assert reach([ranged(0, 0)], {}) is None
