"""What no kernel of ours covers, as an expression that Spark evaluates (Portable.java)."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL, holds_calendar
from dbsp.circuits.columns.forms.time_of_day import holds_time
from dbsp.circuits.columns.variants.type import holds_variant
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.functions.spark.expression import SparkExpression
from dbsp.sql.catalyst.reading.query import Node, Query

Place = tuple[int, ...]  # of a node below another: numbers of children

# kernels that only choose among values, or put them together
_OF_ANY_TYPE = {
    *("is_null", "is_not_null", "coalesce", "if", "case_when", "create_named_struct", "create_array"),
    *("get_struct_field", "get_array_item"),
}
# where a node stands, and what it is called by in one dump
_PASSING = {"s", "x", "n", "m"}


# besides those, kernels that compare values by their bits
_OF_TIMES = {
    *("equal_to", "equal_null_safe", "less_than", "less_than_or_equal", "greater_than"),
    *("greater_than_or_equal", "in", "greatest", "least", "murmur3_hash", "xx_hash64"),
}


# and those that know intervals of the calendar
_OF_CALENDAR = {
    *("add", "subtract", "unary_minus", "unary_positive", "make_interval", "multiply_interval"),
    *("divide_interval", "timestamp_add_interval", "date_add_interval", "sequence"),
    *(f"extract_interval_{of}" for of in ("years", "months", "days", "hours", "minutes", "seconds")),
}


def is_sparks(call: Call) -> bool:
    """Whether a kernel would see of values what they are stored as: of VARIANTs, TIMEs, or intervals."""
    types = (call.type, *(argument.type for argument in call.arguments))
    if call.function in _OF_ANY_TYPE:
        return False
    if any(map(holds_calendar, types)):
        is_cast = call.function == "cast" and not any(map(_holds_in_it, types))
        return not is_cast and call.function not in _OF_CALENDAR
    return any(map(holds_variant, types)) or (call.function not in _OF_TIMES and any(map(holds_time, types)))


def _holds_in_it(data_type: pa.DataType) -> bool:
    return data_type != CALENDAR_INTERVAL and holds_calendar(data_type)


def given_to_spark(query: Query, node: Node, name: str) -> tuple[SparkExpression, list[Node]] | str:
    """The expression and its arguments, or why Spark can't be given it, '' where it isn't asked. name: of the
    function.
    """
    if query.portable is None or "x" not in node:
        return ""
    made = query.portable(node["x"])
    if "why" in made:
        return str(made["why"])
    places = [tuple(place) for place in made["arguments"]]
    arguments = [_below(node, place) for place in places]
    described = _described(query, node, (), {place: i for i, place in enumerate(places)}, {})
    identity = hashlib.sha256(json.dumps([described, query.timezone]).encode()).hexdigest()[:16]
    serialized, jar = (base64.b64decode(made[part]) for part in ("serialized", "jar"))
    return SparkExpression(name, identity, serialized, jar.decode()), arguments


def _below(node: Node, place: Place) -> Node:
    for number in place:
        node = node["k"][number]
    return node


def _described(
    query: Query, node: Node, place: Place, arguments: Mapping[Place, int], ids: dict[int, int]
) -> Any:
    """What the expression computes: of the arguments their types only; ids counted from 0."""
    if place in arguments:
        return ["argument", arguments[place], query.spark_type(node)]
    told = {
        "type": query.spark_type(node),
        "below": [
            _described(query, child, (*place, number), arguments, ids)
            for number, child in enumerate(node.get("k", ()))
        ],
    }
    for key, value in node.items():
        if key == "id":
            told["id"] = ids.setdefault(value, len(ids))
        elif key not in ("t", "k", *_PASSING):
            told[key] = _plain(value)
    return told


def _plain(value: Any) -> Any:
    """Java's objects without their addresses."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if key not in _PASSING}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return re.sub(r"@[0-9a-f]+$", "", value) if isinstance(value, str) else value
