"""Windows over the same partition become one, unless one reads what another computed."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Expression
from dbsp.sql.plans.calls import SortOrder, WindowCall
from dbsp.sql.plans.nodes import Filter, Window
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from dbsp.sql.rules.merge_windows import merge_windows
from tests.sql.hand_made import INT, T, assert_same_rows, column, positive

RANK = pa.int32()


def window(below: Plan, partition: int, order: Expression, name: str) -> Window:
    ranked = WindowCall("rank", (), RANK, False, (SortOrder(order),))
    return Window(below, (column(partition),), (ranked,), (*below.schema, Field(name, RANK, False)))


INNER = window(T, 0, column(1), "r")


def test_two_orders_of_one_partition_are_one_window() -> None:
    stacked = window(window(INNER, 0, column(2), "s"), 0, column(3), "u")
    merged = merge_windows(stacked)
    assert isinstance(merged, Window)
    assert (merged.input, merged.schema) == (T, stacked.schema)
    assert [call.order[0].expression for call in merged.calls] == [column(1), column(2), column(3)]
    assert_same_rows(stacked, merged)


@pytest.mark.parametrize(
    "apart",
    [
        pytest.param(window(INNER, 1, column(2), "s"), id="another partition"),
        pytest.param(window(INNER, 0, replace(column(4), type=RANK), "s"), id="it reads a rank"),
        pytest.param(window(Filter(INNER, positive(1)), 0, column(2), "s"), id="a filter between"),
    ],
)
def test_what_stays_apart(apart: Window) -> None:
    assert merge_windows(apart) == apart


def test_sessions_have_a_trace_of_their_own() -> None:
    session = WindowCall("session_start", (column(1), column(2)), INT, True)
    inner = Window(T, (column(0),), (session,), (*T.schema, Field("s", INT)))
    for stacked in (
        window(inner, 0, column(3), "r"),
        replace(inner, input=INNER, schema=(*INNER.schema, Field("s", INT))),
    ):
        assert merge_windows(stacked) == stacked
