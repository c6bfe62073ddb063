"""OVER: Catalyst's Window, which has one column more for each window function.

Catalyst stacks a Window for each different partition and order, whose keys, orders and arguments are columns
of its input or constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.expressions.nodes import Call, Expression, Literal
from dbsp.circuits.operators.groups.windows.calls import Edge, Frame, Gathered
from dbsp.circuits.operators.groups.windows.functions import FUNCTIONS
from dbsp.sql.catalyst.arrival.over import over_arrival
from dbsp.sql.catalyst.groups.aggregate_calls import aggregate_call
from dbsp.sql.catalyst.groups.collecting import Read, is_any_value
from dbsp.sql.catalyst.reading.expressions import check_covered, expression, normalized
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.aggregate_functions import finalizer_of, required
from dbsp.sql.plans.calls import SortOrder, WindowCall
from dbsp.sql.plans.expressions.intervals import day_time
from dbsp.sql.plans.nodes import Window
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Schema

_RANKS = {
    "RowNumber": "row_number",
    "Rank": "rank",
    "DenseRank": "dense_rank",
    "PercentRank": "percent_rank",
    "CumeDist": "cume_dist",
}
# aggregates that go by places in the frame, here
_PLACED = {"First": "first", "Last": "last", "CollectList": "collect_list"}
_UNBOUNDED = ("UnboundedPreceding", "UnboundedFollowing")
_SHIFTED = ("Lag", "Lead")


def window(
    query: Query,
    node: Node,
    input_: Plan,
    position: Mapping[int, int],
    schema: Schema,
    below: tuple[SortOrder, ...] = (),
) -> Plan:
    """schema: the input's columns, then the functions. below: the input's order, for a row_number without
    one, which Catalyst makes of a correlated LIMIT.
    """
    partition = tuple(
        normalized(query, key, expression(query, key, position)) for key in node["o"]["partitionSpec"]
    )
    order = sort_orders(query, node["o"]["orderSpec"], position) or below
    calls, loose = [], set()
    for i, alias in enumerate(filter(is_function, computed(node))):
        (over,) = alias["k"]
        function, specification = over["k"]
        frame = _frame(query, specification["k"][-1], order)
        call = _call(query, function, position)
        text = query.spelled(function) or query.spelled(alias)
        calls.append(replace(call, order=order, frame=frame, text=text))
        if call.function == "first" and is_any_value(Read(query, function["k"][0], position)):
            loose.add(i)
    return over_arrival(query, Window(input_, partition, tuple(calls), schema), loose)


def computed(node: Node) -> list[Node]:
    """What the node adds to its input: of a correlated sub-query its keys stand there again."""
    return [each for each in node["o"]["windowExpressions"] if each["c"] == "Alias"]


def is_function(alias: Node) -> bool:
    """Not a constant, which the optimiser makes of some, as of count(NULL) OVER."""
    return bool(alias["k"][0]["c"] == "WindowExpression")


def sort_orders(query: Query, items: list[Node], position: Mapping[int, int]) -> tuple[SortOrder, ...]:
    """An ORDER BY list."""
    return tuple(
        SortOrder(
            expression(query, item["k"][0], position),
            item["o"]["direction"] == "Descending",
            item["o"]["nullOrdering"] == "NullsLast",
        )
        for item in items
    )


def _call(query: Query, node: Node, position: Mapping[int, int]) -> WindowCall:
    """The function and its arguments."""
    name = node["c"]
    type_, nullable = query.value_type(node), node["n"]
    if name in _RANKS:
        return WindowCall(_RANKS[name], (), type_, nullable)
    if name == "AggregateExpression":
        return _aggregate(query, node, position)
    if name == "NTile":
        return WindowCall("ntile", (), type_, nullable, number=_constant(query, node, 0))
    arguments = tuple(expression(query, child, position) for child in node.get("k", ()))
    ignore_nulls = bool(node.get("o", {}).get("ignoreNulls"))
    if name == "NthValue":
        number = _constant(query, node, 1)
        return WindowCall(
            "nth_value", arguments[:1], type_, nullable, number=number, ignore_nulls=ignore_nulls
        )
    if name in _SHIFTED:
        number = _constant(query, node, 1) * (1 if name == "Lead" else -1)
        kept = (arguments[0], _typed(arguments[2], type_))
        return WindowCall("lead", kept, type_, nullable, number=number, ignore_nulls=ignore_nulls)
    raise query.error(node, f"window function '{node['pretty']}' is not supported yet")


def _typed(default: Expression, type_: pa.DataType) -> Expression:
    """A NULL that has no type of its own is one of the column's."""
    return Literal(None, type_) if pt.is_null(default.type) else default


def _aggregate(query: Query, node: Node, position: Mapping[int, int]) -> WindowCall:
    """FILTER: an argument that a NULL leaves out is NULL, or else the condition is the last argument."""
    function = node["k"][0]
    type_, nullable = query.value_type(function), function["n"]
    call = aggregate_call(query, node, position)
    filtered = () if call.filter is None else (call.filter,)
    name = _PLACED.get(function["c"])
    finalizer = None if name or call.function in FUNCTIONS else finalizer_of(call)
    if name or finalizer:
        ignore_nulls = function["o"].get("ignoreNulls", name == "collect_list") if name else False
        return WindowCall(
            name or call.function,
            (*call.arguments, *filtered),
            type_,
            nullable,
            ignore_nulls=bool(ignore_nulls),
            filtered=bool(filtered),
            values=Gathered(finalizer, required(call)) if finalizer else None,
        )
    if call.function not in FUNCTIONS:
        raise query.error(function, f"window function '{function['pretty']}' is not supported yet")
    by = call.function in ("max_by", "min_by")  # only NULL orderings are left out
    arguments = call.arguments if by or len(call.arguments) < 2 else (_all_valid(call.arguments),)
    if call.filter is not None:
        first, *rest = arguments or (Literal(True, pa.bool_()),)
        arguments = (_if(call.filter, first), *rest)
    lenient = call.option("evalMode") == "TRY"
    return WindowCall(call.function, arguments, type_, nullable, lenient=lenient)


def _if(condition: Expression, value: Expression) -> Call:
    return Call("if", (condition, value, Literal(None, value.type)), value.type)


def _all_valid(arguments: tuple[Expression, ...]) -> Expression:
    """count(a, b): true where no argument is NULL, else NULL."""
    valid: Expression = Literal(True, pa.bool_())
    for argument in arguments:
        there = Call("is_not_null", (argument,), pa.bool_(), nullable=False)
        valid = Call("and", (valid, there), pa.bool_(), nullable=False)
    return _if(valid, Literal(True, pa.bool_()))


def _constant(query: Query, node: Node, index: int) -> int:
    value = node["k"][index].get("v")
    if not isinstance(value, int):
        raise query.error(node, f"'{node['pretty']}' needs a constant number of rows")
    return value


# ---- frames


def _frame(query: Query, node: Node, order: tuple[SortOrder, ...]) -> Frame:
    assert node["c"] == "SpecifiedWindowFrame", node["c"]
    by_rows = node["o"]["frameType"] == "RowFrame"
    lower, upper = (_edge(query, edge, None if by_rows else order) for edge in node["k"])
    return Frame(by_rows, lower, upper)


def _edge(query: Query, node: Node, order: tuple[SortOrder, ...] | None) -> Edge:
    """order: of a RANGE frame."""
    if node["c"] in _UNBOUNDED:
        return None
    if node["c"] == "CurrentRow":
        return 0
    if node["c"] != "Literal":
        raise query.refuse(node, "a frame whose bounds aren't constants")
    offset = expression(query, node, {})
    assert isinstance(offset, Literal)
    offset = day_time(offset)
    if order is None:
        assert isinstance(offset.value, int)
        return offset.value
    (by,) = order
    return _moved(query, node, by, offset)


def _moved(query: Query, node: Node, by: SortOrder, offset: Literal) -> Expression:
    """The bound of a RANGE frame: the current row's value plus the offset, or minus it if descending."""
    value = by.expression
    amount = Literal(-offset.value, offset.type) if by.descending else offset  # type: ignore[operator]
    is_months = offset.type == MONTHS
    zone: tuple[tuple[str, object], ...] = (("timeZoneId", query.timezone),)
    if pt.is_date(value.type) and isinstance(amount.value, timedelta) and not is_months:
        amount = Literal(amount.value // timedelta(days=1), pa.int32())
    if pt.is_date(value.type):
        call = Call("date_add_ym_interval" if is_months else "date_add", (value, amount), value.type)
    elif pt.is_timestamp(value.type):
        name = "timestamp_add_ym_interval" if is_months else "timestamp_add_interval"
        call = Call(name, (value, amount), value.type, options=zone)
    else:
        call = Call("add", (value, amount), _sum_type(value.type), options=(("evalMode", "ANSI"),))
    check_covered(query, node, call)
    return call


def _sum_type(type_: pa.DataType) -> pa.DataType:
    """A decimal's sum has a digit more."""
    return pa.decimal128(min(38, type_.precision + 1), type_.scale) if pt.is_decimal(type_) else type_
