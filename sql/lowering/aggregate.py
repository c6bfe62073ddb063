"""Lowering of GROUP BY: which integrals an aggregation needs, and what each result is made of.

count, sum, avg         accumulators, added up before rows move          (linear)
sum, avg of DOUBLE      the parts of exact sums                          (linear)
statistics, bits        parts that add up                                (linear)
listagg, …              all values of the touched groups
max_by, min_by,
percentile, median      values ordered within the group
mode                    values by their frequency, ordered within the group
min, max                an accumulator over append-only input, else values ordered within the group
DISTINCT                the same over the distinct arguments of each group
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.order_codes import has_order_bits, has_order_code
from dbsp.circuits.expressions.nodes import Call, Expression, Literal
from dbsp.circuits.operators.groups.aggregate import Result
from dbsp.circuits.operators.groups.aggregates.collected import Mode
from dbsp.circuits.operators.groups.aggregates.counts import Count
from dbsp.circuits.operators.groups.aggregates.extremes import Extreme, OrderedExtreme
from dbsp.circuits.operators.groups.aggregates.finalized import Finalized
from dbsp.circuits.operators.groups.aggregates.function import Accumulated, Function
from dbsp.circuits.operators.groups.aggregates.percentiles import Percentile
from dbsp.circuits.operators.groups.aggregates.ranked.percentile import RankedPercentile
from dbsp.circuits.operators.groups.aggregates.sums import (
    Average,
    DoubleAverage,
    DoubleSum,
    Sum,
    exact_sum,
)
from dbsp.circuits.operators.groups.state.accumulators import Greatest, Least
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.grouping import Columns, Grouping
from dbsp.sql.lowering.presence import Expressions, if_
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.aggregate_functions import PERCENTILES, finalizer_of
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.shown.spelling import spell_call


def lower_aggregate(lowering: Lowering, plan: p.Aggregate) -> int:
    """The node whose stream is the change of one row a group: the keys, then the aggregates."""
    grouping = Grouping(lowering, plan)
    asked = []
    for call in plan.aggregates:
        arguments, lower = _kind_of(call)
        if grouping.is_conditional(call):
            arguments = _filtered
        asked.append((call, grouping.columns(arguments(call)), lower))
    results = []
    for call, columns, lower in asked:
        function = lower(grouping, call, columns)
        if isinstance(function, Accumulated):
            grouping.accumulate(function.state, function.accumulators)
        results.append(Result(spell_call(call, plan.input.schema), call.type, function))
    return grouping.aggregate(tuple(results), distinct=any(call.distinct for call in plan.aggregates))


# ---- the arguments of a row


def _values(call: AggregateCall) -> Expressions:
    """NULL where the FILTER isn't true."""
    arguments = call.arguments
    if call.filter is not None:
        arguments = arguments or (Literal(True, pa.bool_()),)
        arguments = tuple(if_(call.filter, argument) for argument in arguments)
    if len(arguments) > 1 and not call.distinct:  # count(a, b): rows without any NULL
        arguments = (_all_valid(arguments),)
    return arguments


def _beside(call: AggregateCall) -> Expressions:
    """Without an ordering a row takes no part."""
    ordering, value = call.arguments
    return (ordering if call.filter is None else if_(call.filter, ordering), value)


def _leading(arguments: Callable[[AggregateCall], Expressions]) -> Callable[[AggregateCall], Expressions]:
    """Before a struct its first field, which has a code to be in order by."""

    def led(call: AggregateCall) -> Expressions:
        found = arguments(call)
        first = found[0]
        while pt.is_struct(first.type) and first.type.num_fields:
            first = Call("get_struct_field", (first,), first.type.field(0).type, options=(("ordinal", 0),))
        return (first, *found) if first is not found[0] and has_order_code(first.type) else found

    return led


def _filtered(call: AggregateCall) -> Expressions:
    return (*call.arguments, *((call.filter,) if call.filter is not None else ()))


# ---- what is made of them


def _count(grouping: Grouping, call: AggregateCall, columns: Columns) -> Function:
    if not columns:
        return Count()
    counted = grouping.counted(call, columns)
    return Count(counted.state, counted.values)


def _sum(grouping: Grouping, call: AggregateCall, columns: Columns) -> Function:
    counted = grouping.counted(call, columns)
    if pt.is_floating(counted.data_type):
        return DoubleSum(counted.state, counted.values, trace=grouping.doubles(counted))
    parts = exact_sum(counted.column, counted.data_type)
    return Sum(counted.state, counted.values, parts, lenient=_is_lenient(call))


def _average(grouping: Grouping, call: AggregateCall, columns: Columns) -> Function:
    counted = grouping.counted(call, columns)
    if pt.is_floating(counted.data_type):
        return DoubleAverage(counted.state, counted.values, trace=grouping.doubles(counted))
    parts = exact_sum(counted.column, counted.data_type)
    scale = call.type.scale - counted.data_type.scale if pt.is_decimal(counted.data_type) else 0
    return Average(counted.state, counted.values, parts, _is_lenient(call), scale)


def _is_lenient(call: AggregateCall) -> bool:
    return call.option("evalMode") == "TRY"


def _extreme(grouping: Grouping, call: AggregateCall, columns: Columns, greatest: bool) -> Function:
    """The same of distinct values."""
    is_value = len(columns) == 1
    if not (is_value and grouping.append_only and has_order_bits(grouping.argument(columns[0]).type)):
        return _ordered(grouping, call, columns, greatest)
    counted = grouping.counted(replace(call, distinct=False), columns)
    part = Greatest(counted.column) if greatest else Least(counted.column)
    return Extreme(counted.state, counted.values, (part,))


def _ordered(grouping: Grouping, call: AggregateCall, columns: Columns, greatest: bool) -> Function:
    # whatever leads the arguments may be NULL
    return OrderedExtreme(grouping.ordered(columns, len(columns) - len(call.arguments)), greatest)


def _finalized(grouping: Grouping, call: AggregateCall, columns: Columns) -> Function:
    finalizer = finalizer_of(call)
    assert finalizer is not None, f"nothing says how {call.function} is lowered"
    return Finalized(grouping.rows(call, columns, finalizer.split), finalizer)


def _percentile(grouping: Grouping, call: AggregateCall, columns: Columns) -> Function:
    """By rank, where the order of the values is that of their codes and each counts once."""
    percentile = finalizer_of(call)
    assert isinstance(percentile, Percentile)
    if percentile.frequencies or not has_order_code(grouping.argument(columns[0]).type):
        return _finalized(grouping, call, columns)
    return RankedPercentile(grouping.rows(call, columns, None, ordered=True), percentile)


def _mode(grouping: Grouping, call: AggregateCall, columns: Columns) -> Function:
    """The extreme of the values' frequencies, where values are told apart by their codes."""
    mode = finalizer_of(call)
    assert isinstance(mode, Mode)
    if call.distinct or not has_order_code(grouping.argument(columns[0]).type):
        return _finalized(grouping, call, columns)
    return OrderedExtreme(grouping.frequencies(call, columns, mode.greatest), mode.greatest)


# a function's arguments, and what is made of them
_Kind = tuple[
    Callable[[AggregateCall], Expressions],
    Callable[[Grouping, AggregateCall, Columns], Function],
]

_KINDS: dict[str, _Kind] = {
    "count": (_values, _count),
    "sum": (_values, _sum),
    "avg": (_values, _average),
    "min": (_leading(_values), partial(_extreme, greatest=False)),
    "max": (_leading(_values), partial(_extreme, greatest=True)),
    "min_by": (_leading(_beside), partial(_ordered, greatest=False)),
    "max_by": (_leading(_beside), partial(_ordered, greatest=True)),
    **dict.fromkeys(PERCENTILES, (_filtered, _percentile)),
    "mode": (_filtered, _mode),
}


def _kind_of(call: AggregateCall) -> _Kind:
    # some value is the least; but of -0.0 alone the least is 0.0
    if call.function == "any_value" and has_order_code(call.type) and not pt.is_floating(call.type):
        return _KINDS["min"]
    return _KINDS.get(call.function, (_filtered, _finalized))


def _all_valid(arguments: tuple[Expression, ...]) -> Call:
    """True where no argument is NULL, else NULL."""
    condition: Expression = Literal(True, pa.bool_())
    for argument in arguments:
        valid = Call("is_not_null", (argument,), pa.bool_(), nullable=False)
        condition = Call("and", (condition, valid), pa.bool_(), nullable=False)
    return if_(condition, Literal(True, pa.bool_()))
