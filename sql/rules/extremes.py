"""`x = max(x) OVER (PARTITION BY p)` keeps the rows that rank first: nothing else of a partition is read.

    σ[x = max(x)](ω[p; max(x)](a)) = ω[p; max(x)](σ[x is there](top[p; rank by x descending; 1](a)))

and so with min(x) ascending, where the frame is the whole partition. The greatest of the rows that have it is
the greatest of all. x >= max(x) says the same. NULLs come last, so that a row without x is first only where
no row has one; and of those none is equal to anything.
"""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.columns.order_codes import has_order_code
from dbsp.circuits.expressions.nodes import Call, Column, Expression
from dbsp.circuits.expressions.predicates import FLIPPED, conjuncts
from dbsp.sql.plans.calls import SortOrder, WindowCall
from dbsp.sql.plans.nodes import Filter, Top, Window
from dbsp.sql.plans.plan import Plan
from dbsp.sql.rules.traverse import bottom_up

# by which comparison a value is its partition's
_REACHES = {"max": "greater_than_or_equal", "min": "less_than_or_equal"}


def extremes(plan: Plan) -> Plan:
    return bottom_up(plan, _rewrite)


def _rewrite(node: Plan) -> Plan:
    if not isinstance(node, Filter) or not isinstance(node.input, Window) or len(node.input.calls) != 1:
        return node
    window = node.input
    (call,) = window.calls
    if call.function not in _REACHES or not call.frame.is_whole or not has_order_code(call.type):
        return node
    extreme = Column(len(window.input.schema), call.type, call.nullable)
    parts = conjuncts(node.condition)
    rest = [part for part in parts if not _says(part, call, extreme)]
    if len(rest) == len(parts):
        return node
    (value,) = call.arguments
    order = (SortOrder(value, descending=call.function == "max", nulls_last=True),)
    first: Plan = Top(window.input, window.partition, order, "rank", 1, False, window.input.schema)
    if value.nullable:
        first = Filter(first, Call("is_not_null", (value,), pa.bool_(), nullable=False))
    found: Plan = Window(first, window.partition, window.calls, window.schema)
    for part in rest:
        found = Filter(found, part)
    return found


def _says(part: Expression, call: WindowCall, extreme: Column) -> bool:
    """Whether it is that the function's argument is its partition's value."""
    if not isinstance(part, Call) or len(part.arguments) != 2:
        return False
    function, (left, right) = part.function, part.arguments
    if _is(left, extreme):
        function, left, right = FLIPPED.get(function, function), right, left
    is_one = function in ("equal_to", _REACHES[call.function])
    return is_one and _is(right, extreme) and _is(left, call.arguments[0])


def _is(one: Expression, other: Expression) -> bool:
    """Whether it is the same column, whatever is known of its NULLs."""
    if isinstance(one, Column) and isinstance(other, Column):
        return one.index == other.index
    return one == other
