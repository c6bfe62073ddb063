"""GROUP BY: Catalyst's result expressions become a Project over (keys, aggregates).

SELECT k + 1, sum(v) / count(*) … GROUP BY k   =   π[#0 + 1, #1 / #2](Aggregate(keys k, sum(v), count(*)))
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from circuits.expressions.nodes import Column, Expression, Literal
from sql.catalyst.expressions import expression, normalized
from sql.catalyst.query import Node, Query, nodes_in
from sql.catalyst.relation import ONE_ROW
from sql.plan import Aggregate, AggregateCall, Distinct, Field, Plan, Project, Schema
from sql.spelling import type_name

_FUNCTIONS = {"Count": "count", "Sum": "sum", "Average": "avg", "Min": "min", "Max": "max"}


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
        self.names = [key.get("name") or str(raw) for key, raw in zip(grouping, self.raw, strict=True)]

    def result(self, node: Node) -> Expression | None:
        """What a part of a result expression is over (keys, aggregates): the `special` of `expression`."""
        if node["c"] == "AggregateExpression":
            return self._call(node)
        if node["c"] == "AttributeReference" and node["id"] in self.key_ids:
            return self._key(self.key_ids[node["id"]])
        if node["c"] not in ("Literal", "Alias") and not self._aggregates(node):
            whole = expression(self.query, node, self.position)
            if whole in self.raw:
                return self._key(self.raw.index(whole))
        return None

    def _aggregates(self, node: Node) -> bool:
        return any(inner["c"] == "AggregateExpression" for inner in nodes_in(node))

    def _key(self, index: int) -> Column:
        key = self.keys[index]
        return Column(index, key.type, key.nullable)

    def _call(self, node: Node) -> Column:
        call = aggregate_call(self.query, node, self.position)
        if call not in self.calls:
            self.calls.append(call)
            self.names.append(self.query.spelled(node["k"][0]) or call.function)
        return Column(len(self.keys) + self.calls.index(call), call.type, call.nullable)


def aggregate(query: Query, node: Node, input_: Plan, position: Mapping[int, int], schema: Schema) -> Plan:
    """schema: of the node's output. Without aggregate functions it is a DISTINCT of the keys."""
    group = _Group(query, node, input_, position)
    results = tuple(expression(query, item, {}, group.result) for item in node["o"]["aggregateExpressions"])
    columns = (*group.keys, *group.calls)
    inner = tuple(Field(n, c.type, c.nullable) for n, c in zip(group.names, columns, strict=True))
    if group.calls:
        grouped: Plan = Aggregate(input_, group.keys, tuple(group.calls), inner)
    elif group.keys:
        grouped = Distinct(Project(input_, group.keys, inner))
    else:
        grouped = ONE_ROW
    return Project(grouped, results, schema)


def aggregate_call(query: Query, node: Node, position: Mapping[int, int]) -> AggregateCall:
    """node: an AggregateExpression."""
    function = node["k"][0]
    name = _FUNCTIONS.get(function["c"])
    if function["c"] == "PivotFirst":
        raise query.refuse(function, "PIVOT")
    if name is None:
        raise query.error(function, f"aggregate function '{function['pretty']}' is not supported yet")
    distinct = node["o"]["isDistinct"]
    arguments = tuple(expression(query, child, position) for child in function["k"])
    if name in ("sum", "avg"):
        _check_sum(query, function, arguments[0])
    if name in ("min", "max"):
        _check_ordered(query, function, arguments[0])
        distinct = False
    if name == "count":
        if not distinct:
            arguments = tuple(a for a in arguments if a.nullable)
        if any(isinstance(a, Literal) and a.value is None for a in arguments):
            raise query.refuse(function, "count(NULL)")
    if distinct:
        arguments = tuple(normalized(query, function, a) for a in arguments)
    filter_ = node["k"][1] if len(node["k"]) > 1 else None
    condition = expression(query, filter_, position) if filter_ else None
    return AggregateCall(name, arguments, query.value_type(function), function["n"], condition, distinct)


def _type_name(argument: Expression) -> str:
    return "a column of NULLs" if pa.types.is_null(argument.type) else type_name(argument.type)


def _check_sum(query: Query, node: Node, argument: Expression) -> None:
    mode = node["o"].get("evalContext", node["o"]).get("evalMode", "ANSI")
    if mode != "ANSI":
        raise query.error(node, f"aggregate function '{node['pretty']}' is not supported yet")
    if not (
        pa.types.is_integer(argument.type)
        or pa.types.is_floating(argument.type)
        or pa.types.is_decimal(argument.type)
    ):
        raise query.refuse(node, f"{node['pretty']} over {_type_name(argument)}")


def _check_ordered(query: Query, node: Node, argument: Expression) -> None:
    if pa.types.is_nested(argument.type) or pa.types.is_null(argument.type):
        raise query.refuse(node, f"{node['pretty']} over {_type_name(argument)}")
