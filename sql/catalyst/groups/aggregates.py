"""GROUP BY: Catalyst's result expressions become a Project over (keys, aggregates).

SELECT k + 1, sum(v) / count(*) … GROUP BY k   =   π[#0 + 1, #1 / #2](Aggregate(keys k, sum(v), count(*)))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, remap
from dbsp.sql.catalyst.arrival.calls import by_arrival
from dbsp.sql.catalyst.arrival.first_last import is_extreme
from dbsp.sql.catalyst.arrival.lists import seen_in_order
from dbsp.sql.catalyst.clock.temporal import Clocked
from dbsp.sql.catalyst.groups.aggregate_calls import aggregate_call, pivoted
from dbsp.sql.catalyst.groups.sessions import merged_sessions
from dbsp.sql.catalyst.groups.time_windows import windows_of, with_windows
from dbsp.sql.catalyst.reading.expressions import expression, normalized
from dbsp.sql.catalyst.reading.query import Node, Query, nodes_in
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.clock.readings import CLOCK_COLUMN
from dbsp.sql.plans.nodes import Aggregate, Distinct, Project
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, Schema, columns_of_schema

_AFTER = 1 << 30


class _Group:
    """One Aggregate node while its result expressions are read."""

    def __init__(self, query: Query, node: Node, input_: Plan, position: Mapping[int, int]) -> None:
        self.query = query
        self.position = position
        self.input = input_
        grouping = node["o"]["groupingExpressions"]
        self.raw = [expression(query, key, position) for key in grouping]
        self.keys = tuple(
            normalized(query, place, key) for place, key in zip(grouping, self.raw, strict=True)
        )
        self.key_ids = {key["id"]: i for i, key in enumerate(grouping) if "id" in key}
        self.calls: list[AggregateCall] = []
        # the first call that must follow the order of arrival
        self.arriving: Node | None = None
        self.names = [key.get("name") or str(raw) for key, raw in zip(grouping, self.raw, strict=True)]

    def result(self, node: Node) -> Expression | None:
        """What a part of a result expression is over (keys, aggregates): the `special` of `expression`."""
        if node["c"] == "AggregateExpression":
            return self._call(node)
        if node["c"] == "AttributeReference" and node["id"] in self.key_ids:
            return self._key(self.key_ids[node["id"]])
        if node["c"] not in ("Literal", "Alias") and not self._is_above(node) and not _free_variables(node):
            whole = expression(self.query, node, self.position)
            if whole in self.raw:
                return self._key(self.raw.index(whole))
        return None

    def _is_above(self, node: Node) -> bool:
        """Whether it reads what only stands beside groups: aggregates, scalar sub-queries."""
        return any(
            inner["c"] == "AggregateExpression"
            or (inner["c"] == "ScalarSubquery" and inner["id"] not in self.position)
            for inner in nodes_in(node)
        )

    def _key(self, index: int) -> Column:
        key = self.keys[index]
        return Column(index, key.type, key.nullable)

    def _call(self, node: Node) -> Expression:
        if node["k"][0]["c"] == "PivotFirst":
            return self._pivot(node["k"][0])
        call = aggregate_call(self.query, node, self.position)
        if is_extreme(call):
            self.arriving = self.arriving or node
        return self._column(node, call)

    def _pivot(self, function: Node) -> Call:
        """The array of one aggregate a pivot value."""
        columns = tuple(self._column(function, call) for call in pivoted(self.query, function, self.position))
        return Call("create_array", columns, self.query.value_type(function), nullable=False)

    def _column(self, node: Node, call: AggregateCall) -> Column:
        if call not in self.calls:
            self.calls.append(call)
            self.names.append(self.query.spelled(node["k"][0]) or call.function)
        return Column(len(self.keys) + self.calls.index(call), call.type, call.nullable)


def _valued(grouped: Aggregate, value: Callable[[Column], Expression]) -> Plan:
    """The groups with what is a value's only."""
    columns = columns_of_schema(grouped.schema)
    values = tuple(value(column) for column in columns)
    if values == columns:
        return grouped
    schema = tuple(replace(f, type=v.type) for f, v in zip(grouped.schema, values, strict=True))
    return Project(grouped, values, schema)


def _free_variables(node: Node) -> set[int]:
    """Of lambdas around it, which no group can be over."""
    inside = [*nodes_in(node)]
    own = {p["id"] for inner in inside if inner["c"] == "LambdaFunction" for p in inner["k"][1:]}
    return {inner["id"] for inner in inside if inner["c"] == "NamedLambdaVariable"} - own


def aggregate(
    query: Query,
    node: Node,
    input_: Plan,
    position: Mapping[int, int],
    schema: Schema,
    beside: Sequence[int] = (),
    widened: Callable[[Plan], Plan] = lambda grouped: grouped,
) -> Plan:
    """schema: of the node's output. Without aggregate functions it is a DISTINCT of the keys.

    beside: the ids of scalar sub-queries that results read, which `widened` sets beside the groups, in order.
    """
    group = _Group(query, node, input_, position)
    # after every column a group can have, until it is known how many it has
    after = {id_: _AFTER + i for i, id_ in enumerate(beside)}
    items = node["o"]["aggregateExpressions"]
    results = [expression(query, item, after, group.result) for item in items]
    clocked = Clocked(query, input_)
    keys = tuple(clocked.column(key, node["o"]["groupingExpressions"]) for key in group.keys)
    timed = [_clocked_call(clocked, call, items) for call in group.calls]
    input_ = merged_sessions(query, node["o"]["groupingExpressions"], keys, clocked.plan, position)
    in_order = {i - len(keys) for i in seen_in_order(results)}
    input_, calls, value = by_arrival(query, group.arriving or node, input_, timed, in_order)
    columns = (*keys, *calls)
    of_keys = (*windows_of(keys, input_.schema), *(None for _ in calls))
    fields = (Field(n, c.type, c.nullable) for n, c in zip(group.names, columns, strict=True))
    inner = with_windows(tuple(fields), of_keys)
    if calls:
        grouped: Plan = _valued(Aggregate(input_, keys, tuple(calls), inner), value)
    elif keys:
        grouped = Distinct(Project(input_, keys, inner))
    else:
        # one row, whatever the input's are; it is read all the same, as its conditions may fail
        count = AggregateCall("count", (), pa.int64(), False)
        grouped = Aggregate(input_, (), (count,), (Field("rows", count.type, False),))
    width = len(grouped.schema)
    places = {i: i for i in range(width)} | {_AFTER + i: width + i for i in range(len(beside))}
    places[CLOCK_COLUMN] = CLOCK_COLUMN
    above = Clocked(query, widened(grouped))
    columns_ = tuple(
        above.column(remap(result, places), item) for result, item in zip(results, items, strict=True)
    )
    schema = with_windows(schema, windows_of(columns_, above.plan.schema))
    return Project(above.plan, columns_, schema)


def _clocked_call(clocked: Clocked, call: AggregateCall, place: Sequence[Node]) -> AggregateCall:
    """The call over columns of the relation and its values by the clock."""
    arguments = tuple(clocked.column(argument, place) for argument in call.arguments)
    condition = None if call.filter is None else clocked.column(call.filter, place)
    return replace(call, arguments=arguments, filter=condition)
