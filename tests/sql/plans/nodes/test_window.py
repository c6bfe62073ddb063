"""Window: functions beside each row, of which only those that are read are computed."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.operators.groups.windows.calls import Frame
from dbsp.sql.plans.calls import SortOrder, WindowCall
from dbsp.sql.plans.nodes import Window
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import INT, T, call, column, literal

RANK = WindowCall("rank", (), pa.int32(), False, (SortOrder(column(1)),))
NEAR = call("subtract", column(2), literal(5))
SUM = WindowCall("sum", (column(3),), INT, True, (SortOrder(column(2)),), Frame(False, NEAR, 0))
WINDOW = Window(T, (column(0),), (RANK, SUM), (*T.schema, Field("r", pa.int32(), False), Field("s", INT)))


def test_it_reads_partitions_arguments_orders_and_bounds() -> None:
    assert WINDOW.expressions == (column(0), column(1), column(3), column(2), NEAR)


def test_rows_are_told_apart_as_before_and_change_with_others() -> None:
    assert WINDOW.stream_key({"t": (3,)}) == (3,)
    assert not WINDOW.append_only({"t": True})
    assert WINDOW.obstacle({"t"}) == "Window"


@pytest.mark.parametrize(
    ("needed", "columns", "functions"),
    [
        ({4}, ["a", "b", "r"], ["rank"]),
        ({5}, ["a", "c", "d", "s"], ["sum"]),
        ({1, 4}, ["a", "b", "r"], ["rank"]),
    ],
)
def test_functions_that_are_read(needed: set[int], columns: list[str], functions: list[str]) -> None:
    narrower, position = WINDOW.pruned(needed)
    verify(narrower)
    assert isinstance(narrower, Window)
    assert [field.name for field in narrower.schema] == columns
    assert [one.function for one in narrower.calls] == functions
    assert all(narrower.schema[position[i]].name == WINDOW.schema[i].name for i in needed)


def test_without_any_it_is_its_input() -> None:
    assert WINDOW.pruned({1, 2}) == T.pruned({1, 2})


def test_sessions_are_told_by_their_functions() -> None:
    start = WindowCall("session_start", (column(1), column(2)), INT, False)
    assert replace(WINDOW, calls=(start,)).finds_sessions
    assert not WINDOW.finds_sessions


def test_spelling_and_names() -> None:
    assert WINDOW.spelled == "windows by a: rank() ordered by b, sum(d) ordered by c"
    assert replace(WINDOW, partition=(), calls=(RANK,)).spelled == "windows by nothing: rank() ordered by b"
    calls = [
        WindowCall("lead", (column(3), column(2)), INT, True, number=-2),
        WindowCall("lead", (column(3), column(2)), INT, True, number=1, ignore_nulls=True),
        WindowCall("nth_value", (column(3),), INT, True, number=3),
        WindowCall("ntile", (), INT, False, number=4),
    ]
    assert [replace(WINDOW, calls=(call,)).spelled.partition(": ")[2] for call in calls] == [
        "lag(d, 2, c)", "lead(d, 1, c) IGNORE NULLS", "nth_value(d, 3)", "ntile(4)",
    ]  # fmt: skip
    assert [field.name for field in WINDOW.named().schema] == ["a", "b", "c", "d", "rank", "sum"]


def test_a_column_for_each_function() -> None:
    with pytest.raises(AssertionError, match="Window: types"):
        replace(WINDOW, calls=(RANK,)).verify()
