"""first and last, which follow the order of arrival: the least and the greatest of it.

    γ[k; first(x)](a) = γ[k; min_by(x, arrival)](a with its arrival)        last: max_by

What the arrival of a row is, is said in `arrived.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.inputs.arrivals import ARRIVAL
from dbsp.sql.catalyst.arrival.arrived import with_arrival
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.plan import Plan

_BY = {"first": "min_by", "last": "max_by"}
_VALUE = "value"


def by_arrival(
    query: Query, node: Node, input_: Plan, calls: Sequence[AggregateCall]
) -> tuple[Plan, list[AggregateCall], Callable[[Column], Expression]]:
    """(the input, the calls without first and last, what each column of the calls' results becomes).

    Raises ProgramError where the input has no arrival.
    """
    if not any(call.function in _BY for call in calls):
        return input_, list(calls), lambda column: column
    arrived = with_arrival(query, node, input_)
    return (
        arrived.plan,
        [_by(call, arrived.columns) if call.function in _BY else call for call in calls],
        _value if arrived.size > 1 else lambda column: column,
    )


def _by(call: AggregateCall, arrival: Sequence[Column]) -> AggregateCall:
    """By the first column of the arrival; of several the one that is extreme by the others."""
    (value,) = call.arguments
    condition = call.filter
    if call.option("ignoreNulls") and value.nullable:
        known = Call("is_not_null", (value,), pa.bool_(), nullable=False)
        both = None if condition is None else Call("and", (condition, known), pa.bool_())
        condition = both or known
    if len(arrival) > 1:
        value = _beside(arrival[1:], value)
    return replace(
        call,
        function=_BY[call.function],
        arguments=(arrival[0], value),
        type=value.type,
        filter=condition,
        options=(),
    )


def _beside(ties: Sequence[Column], value: Expression) -> Call:
    fields = [(f"{ARRIVAL}{i}", tie) for i, tie in enumerate(ties)]
    parts: list[Expression] = []
    for name, part in (*fields, (_VALUE, value)):
        parts += [Literal(name, pa.string()), part]
    kind = pa.struct([*((name, tie.type) for name, tie in fields), (_VALUE, value.type)])
    return Call("create_named_struct", tuple(parts), kind, nullable=False)


def _value(column: Column) -> Expression:
    """The value of a column that has its arrival beside it."""
    data_type = column.type
    if not (
        pa.types.is_struct(data_type)
        and data_type.num_fields > 1
        and data_type.field(0).name == f"{ARRIVAL}0"
    ):
        return column
    ordinal = data_type.num_fields - 1
    return Call("get_struct_field", (column,), data_type.field(ordinal).type, options=(("ordinal", ordinal),))
