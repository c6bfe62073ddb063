"""first and last, which follow the order of arrival: the least and the greatest of it.

    γ[k; first(x)](a) = γ[k; min_by(x, arrival)](a with its arrival)        last: max_by

What the arrival of a row is, is said in `arrived.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.inputs.arrivals import ARRIVAL
from dbsp.sql.plans.calls import AggregateCall

# of texts that are equal by a collation: the first, where rows have an order of arrival
SHOWN = "shown"
_BY = {"first": "min_by", "last": "max_by", SHOWN: "min_by"}
_VALUE = "value"


def is_extreme(call: AggregateCall) -> bool:
    """Whether it is a first or a last."""
    return call.function in _BY and call.function != SHOWN


def extreme(call: AggregateCall, arrival: Sequence[Column]) -> AggregateCall:
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


def without_arrival(column: Column) -> Expression:
    """The value of a column that has its arrival beside it, as extreme ones of several columns have."""
    data_type = column.type
    if not (
        pa.types.is_struct(data_type)
        and data_type.num_fields > 1
        and data_type.field(0).name == f"{ARRIVAL}0"
    ):
        return column
    ordinal = data_type.num_fields - 1
    return Call("get_struct_field", (column,), data_type.field(ordinal).type, options=(("ordinal", ordinal),))
