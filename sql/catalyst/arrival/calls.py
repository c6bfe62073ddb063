"""The aggregates of a GROUP BY that follow the order of arrival: their input gets it, and they go by it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from dbsp.circuits.expressions.nodes import Column, Expression
from dbsp.sql.catalyst.arrival.arrived import Arrived, arrival_of, with_arrival
from dbsp.sql.catalyst.arrival.first_last import SHOWN, extreme, is_extreme, without_arrival
from dbsp.sql.catalyst.arrival.lists import is_list, listed
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.plan import Plan


def by_arrival(
    query: Query, node: Node, input_: Plan, calls: Sequence[AggregateCall], in_order: Collection[int]
) -> tuple[Plan, list[AggregateCall], Callable[[Column], Expression]]:
    """(the input, the calls that go by its arrival, what each column of the calls' results becomes).

    node: the first one that asks for first or last. in_order: the calls of which the values' order is seen.
    Lists of an input without arrival stay in the order of values. Raises ProgramError where first or last
    are of such an input, of which the least of equal texts is shown.
    """
    extremes = {i for i, call in enumerate(calls) if is_extreme(call)}
    lists = {i for i, call in enumerate(calls) if is_list(call) and i in in_order}
    shown = {i for i, call in enumerate(calls) if call.function == SHOWN}
    arrived: Arrived | None = None
    if extremes:
        arrived = with_arrival(query, node, input_)
    elif lists or shown:
        arrived = arrival_of(query, input_)
    if arrived is None:
        bare = (replace(call, function="min") if i in shown else call for i, call in enumerate(calls))
        return input_, [*bare], lambda column: column
    made = []
    for i, call in enumerate(calls):
        follows = extreme if i in extremes | shown else listed if i in lists else None
        made.append(call if follows is None else follows(call, arrived.columns))
    return arrived.plan, made, without_arrival
