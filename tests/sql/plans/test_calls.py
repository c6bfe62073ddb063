"""What calls read: every expression of theirs is told, and changed."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Expression, remap
from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.circuits.operators.groups.windows.calls import WHOLE, Frame
from dbsp.sql.plans.calls import AggregateCall, SortOrder, WindowCall, reordered
from tests.sql.hand_made import INT, call, column, literal, positive


def moved(expression: Expression) -> Expression:
    return remap(expression, {i: i + 10 for i in range(4)})


def test_an_aggregate_reads_its_arguments_and_its_filter() -> None:
    total = AggregateCall("sum", (column(0), column(1)), INT, True, positive(2))
    assert total.expressions == (column(0), column(1), positive(2))
    changed = total.with_expressions(moved)
    assert changed.expressions == (column(10), column(11), positive(12))
    assert changed.with_expressions(lambda e: remap(e, {i: i - 10 for i in range(10, 14)})) == total
    assert AggregateCall("count", (), INT, False).expressions == ()


def test_a_window_reads_its_order_and_the_bounds_of_a_range_too() -> None:
    frame = Frame(False, call("subtract", column(1), literal(5)), 0)
    over = WindowCall("sum", (column(0),), INT, True, (SortOrder(column(1), descending=True),), frame)
    assert over.expressions == (column(0), column(1), call("subtract", column(1), literal(5)))
    changed = over.with_expressions(moved)
    assert changed.expressions == (column(10), column(11), call("subtract", column(11), literal(5)))
    assert changed.frame.upper == 0
    assert changed.order[0].descending
    rows = WindowCall("sum", (column(0),), INT, True, frame=Frame(True, -1, None))
    assert rows.with_expressions(moved).frame == rows.frame
    assert WindowCall("rank", (), pa.int32(), False).frame == WHOLE


def test_an_order_keeps_its_directions() -> None:
    order = (SortOrder(column(0), nulls_last=True), SortOrder(column(1), descending=True))
    assert reordered(order, moved) == (
        SortOrder(column(10), nulls_last=True),
        SortOrder(column(11), descending=True),
    )


def test_what_a_user_calls_it() -> None:
    own = PythonFunction("median", "values", True, "an identity", b"")
    named = AggregateCall("python_aggregate", (column(0),), INT, True, options=(("function", own),))
    assert (named.called, named.option("function"), named.option("order", ())) == ("median", own, ())
    assert AggregateCall("sum", (column(0),), INT, True).called == "sum"


def test_the_users_spelling_is_no_part_of_what_a_call_is() -> None:
    first, second = (WindowCall("rank", (), pa.int32(), False, text=text) for text in ("rank()", "RANK()"))
    assert first == second
    assert hash(first) == hash(second)
