"""NOW() in a query: what it reads, and the error where it can't be maintained.

Optimized.java puts a reference to no column where the query reads the clock; its number says how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Call, Expression
from dbsp.sql.catalyst.reading.query import Node, Query, nodes_in
from dbsp.sql.plans.clock.readings import NOW, ticking

MARK = "BoundReference"
EXAMPLE = "ts > now() - INTERVAL 5 MINUTES"


def marks_in(value: Any) -> list[Node]:
    """Where a dumped expression, or any number of them, read the clock; sub-queries aside."""
    return [inner for inner in nodes_in(value) if inner["c"] == MARK]


def reads_clock(node: Node) -> bool:
    return bool(marks_in(node))


def inlined(dumped: Any) -> Any:
    """The dumped plan, with clocks where they are read.

    Spark computes what BETWEEN reads twice in a Project below, which would be a column of clocks.
    """
    clocks = {node["id"]: node["k"][0] for node in _nodes(dumped) if _is_common_clock(node)}
    return _replaced(dumped, clocks) if clocks else dumped


def _is_common_clock(node: Node) -> bool:
    if node.get("c") != "Alias" or not node["name"].startswith("_common_expr"):
        return False
    return bool(marks_in(node)) and not any(n["c"] == "AttributeReference" for n in nodes_in(node["k"]))


def _nodes(value: Any) -> Iterator[Node]:
    """In no order."""
    todo = [value]
    while todo:
        found = todo.pop()
        if isinstance(found, dict):
            yield found
            todo += found.values()
        elif isinstance(found, list):
            todo += found


def _replaced(value: Any, clocks: Mapping[int, Node]) -> Any:
    if isinstance(value, list):
        return [_replaced(inner, clocks) for inner in value]
    if not isinstance(value, dict):
        return value
    if value.get("c") == "AttributeReference" and value["id"] in clocks:
        return clocks[value["id"]]
    if value.get("op") == "Project":
        items = value["o"]["projectList"]
        kept = [i for i, item in enumerate(items) if item.get("id") not in clocks]
        options = {**value["o"], "projectList": [items[i] for i in kept]}
        value = {**value, "o": options, "out": [value["out"][i] for i in kept]}
    return {name: _replaced(inner, clocks) for name, inner in value.items()}


def clock_value(query: Query, mark: Node) -> Expression:
    """The step clock as a TIMESTAMP, a DATE or a TIMESTAMP_NTZ."""
    type_ = {-1: NOW.type, -2: pa.date32(), -3: pa.timestamp("us")}[mark["o"]["ordinal"]]
    now = ticking(query.tick) if query.tick else NOW
    if type_ == NOW.type:
        return now
    return Call("cast", (now,), type_, False, (("evalMode", "ANSI"), ("timeZoneId", query.timezone)))


def refused(query: Query, value: Any) -> ProgramError:
    """The error for the first clock that is read in a dumped value."""
    mark = marks_in(value)[0]
    name = query.spelled(mark) or "now()"
    return query.error(
        mark,
        f"{name} here would change rows in every step: not supported; compare it with an expression of the "
        f"row, as {EXAMPLE}, take its date, hour or minute, or let the view's clock tick: "
        "WITH (clock = 'every 10 seconds')",
    )
