"""first and last, which follow the order of arrival: the least and the greatest of it.

    γ[k; first(x)](a) = γ[k; min_by(x, arrival)](a with its arrival)        last: max_by

Rows of a bag have an arrival (`circuits.operators.arrivals`), and what filters, projects and unites them
keeps it. Other relations have none: their rows change whenever what they are made of does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from circuits.expressions.nodes import Call, Column
from circuits.operators.arrivals import ARRIVAL
from sql.catalyst.query import Node, Query
from sql.plan import AggregateCall, Field, Filter, Plan, Project, Scan, Union

_BY = {"first": "min_by", "last": "max_by"}
_FIELD = Field(ARRIVAL, pa.int64(), nullable=False)


def by_arrival(
    query: Query, node: Node, input_: Plan, calls: Sequence[AggregateCall]
) -> tuple[Plan, list[AggregateCall]]:
    """The input and the calls without first and last. Raises ProgramError where the input has no arrival."""
    if not any(call.function in _BY for call in calls):
        return input_, list(calls)
    input_ = _with_arrival(query, node, input_)
    arrival = Column(len(input_.schema) - 1, _FIELD.type, nullable=False)
    return input_, [_by(call, arrival) if call.function in _BY else call for call in calls]


def _by(call: AggregateCall, arrival: Column) -> AggregateCall:
    (value,) = call.arguments
    condition = call.filter
    if call.option("ignoreNulls") and value.nullable:
        known = Call("is_not_null", (value,), pa.bool_(), nullable=False)
        both = None if condition is None else Call("and", (condition, known), pa.bool_())
        condition = both or known
    function, arguments = _BY[call.function], (arrival, value)
    return replace(call, function=function, arguments=arguments, filter=condition, options=())


def _with_arrival(query: Query, node: Node, plan: Plan) -> Plan:
    """The plan with the arrival as a further, last column."""
    schema = (*plan.schema, _FIELD)
    match plan:
        case Scan() if plan.relation in query.bags:
            return replace(plan, schema=schema, arrival=True)
        case Filter():
            return replace(plan, input=_with_arrival(query, node, plan.input))
        case Project():
            inner = _with_arrival(query, node, plan.input)
            arrival = Column(len(inner.schema) - 1, _FIELD.type, nullable=False)
            return replace(plan, input=inner, expressions=(*plan.expressions, arrival), schema=schema)
        case Union():
            inputs = tuple(_with_arrival(query, node, each) for each in plan.inputs)
            return replace(plan, inputs=inputs, schema=schema)
    over = f"'{plan.relation}'" if isinstance(plan, Scan) else f"the rows of {type(plan).__name__.upper()}"
    advice = (
        "only a table without a PRIMARY KEY has that; say min_by(x, time), max_by(x, time) or any_value(x)"
    )
    raise query.refuse(node, f"first() and last() over {over}, by the order of arrival: {advice}")
