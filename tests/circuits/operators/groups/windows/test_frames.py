"""Frames: the stretch of its partition that each row sees, against a look at every other row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.groups.windows.calls import Frame
from dbsp.circuits.operators.groups.windows.frames import bounds
from tests.circuits.operators.groups.windows.test_partitions import expanded, listings, partitions

X = Column(1, pa.int64())
edges = st.one_of(st.none(), st.integers(-3, 3))


@given(listings, edges, edges)
def test_by_rows(listed: list[Any], lower: int | None, upper: int | None) -> None:
    rows = expanded(listed)
    start, stop = bounds(Frame(True, lower, upper), partitions(listed))
    for i, row in enumerate(rows):
        mine = [j for j, other in enumerate(rows) if other[0] == row[0]]
        seen = [j for j in mine if (lower is None or j >= i + lower) and (upper is None or j <= i + upper)]
        assert list(range(start[i], stop[i])) == seen
        assert mine[0] <= start[i] <= stop[i] <= mine[-1] + 1


def plus(n: int) -> Expression:
    return Call("add", (X, Literal(n, pa.int64())), pa.int64(), True, (("evalMode", "ANSI"),))


@given(listings, edges, edges)
def test_by_range(listed: list[Any], lower: int | None, upper: int | None) -> None:
    """0 is the current row's peers, any other edge the order's value and so much more."""
    given_edges = [None if edge is None else 0 if edge == 0 else plus(edge) for edge in (lower, upper)]
    rows = expanded(listed)
    start, stop = bounds(Frame(False, *given_edges), partitions(listed))
    for i, (key, x, _) in enumerate(rows):

        def is_seen(other: int | None, x: int | None = x) -> bool:
            """NULL is before every value, and its range are its peers."""
            if x is None or other is None:
                below = lower is None and other is None
                above = upper is None and x is None
                return (x is None and other is None) or below or above
            return (lower is None or other >= x + lower) and (upper is None or other <= x + upper)

        assert list(range(start[i], stop[i])) == [
            j for j, o in enumerate(rows) if o[0] == key and is_seen(o[1])
        ]


def test_an_edge_without_a_value_is_refused() -> None:
    with pytest.raises(AssertionError, match="a RANGE frame's edge at 2 has no value"):
        bounds(Frame(False, 2, None), partitions([(0, 1, 1, 1)]))


def test_the_whole_partition() -> None:
    assert Frame().is_whole and not Frame(upper=0).is_whole
    start, stop = bounds(Frame(), partitions([(0, 1, 1, 2), (1, 1, 1, 1)]))
    assert (start.tolist(), stop.tolist()) == ([0, 0, 2], [2, 2, 3])


def test_a_row_that_isnt_there_has_no_bound() -> None:
    """As one that a step takes back: before, or after it, nothing of it is evaluated."""
    most = 2**63 - 1
    start, stop = bounds(Frame(False, 0, plus(1)), partitions([(0, 1, 1, 2), (0, most, 2, 0)]))
    assert (start.tolist(), stop.tolist()) == ([0, 0], [2, 2])
    with pytest.raises(EvaluationError, match="ARITHMETIC_OVERFLOW") as raised:
        bounds(Frame(False, 0, plus(1)), partitions([(0, 0, 0, 0), (0, 1, 1, 2), (0, most, 2, 1)]))
    assert raised.value.row == 2  # of those that are there
