"""`rank <= k` over a window function that ranks: only the first k rows of each partition are looked at.

    σ[r <= k](ω[p; r](a)) = top[p; r; k](a)        r: row_number, rank or dense_rank

Ranks are never below 1, so that r = 1 says r <= 1. Several functions that rank in the same order are computed
over the first k rows: what comes after a row doesn't change its rank.
"""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.nodes import Filter, Top, Window
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import columns_of_schema
from dbsp.sql.rules.traverse import bottom_up

RANKINGS = ("row_number", "rank", "dense_rank")
_FLIPPED = {
    "greater_than": "less_than",
    "greater_than_or_equal": "less_than_or_equal",
    "equal_to": "equal_to",
}


def top_k(plan: Plan) -> Plan:
    return bottom_up(plan, _rewrite)


def _rewrite(node: Plan) -> Plan:
    if not isinstance(node, Filter) or not isinstance(node.input, Window):
        return node
    window = node.input
    ranking = [call for call in window.calls if call.function in RANKINGS]
    if len(ranking) != len(window.calls) or len({call.order for call in ranking}) != 1:
        return node
    order = ranking[0].order if ranking else ()
    if not order and any(call.function != "row_number" for call in ranking):
        return node  # all rows are peers
    width = len(window.input.schema)
    parts = _conjuncts(node.condition)
    limits = {part: limit for part in parts if (limit := _limit(part, width)) is not None}
    if not limits:
        return node
    column, size = min(limits.values(), key=lambda limit: limit[1])
    call = window.calls[column - width]
    # without an order any rows will do: the first by their values, so that the same ones are taken again
    order = order or (SortOrder(columns_of_schema(window.input.schema)[0]),)
    alone = len(window.calls) == 1
    schema = window.schema if alone else window.input.schema
    top: Plan = Top(window.input, window.partition, order, call.function, size, alone, schema)
    if not alone:
        top = Window(top, window.partition, window.calls, window.schema)
    rest = [part for part in parts if not (part in limits and _is_implied(part, limits[part], column, size))]
    for part in rest:
        top = Filter(top, part)
    return top


def _conjuncts(condition: Expression) -> list[Expression]:
    if isinstance(condition, Call) and condition.function == "and":
        return [part for argument in condition.arguments for part in _conjuncts(argument)]
    return [condition]


def _limit(part: Expression, width: int) -> tuple[int, int] | None:
    """(rank's column, k) of a condition that says rank <= k, or more."""
    if not isinstance(part, Call) or len(part.arguments) != 2:
        return None
    function, (left, right) = part.function, part.arguments
    if isinstance(left, Literal):
        function, left, right = _FLIPPED.get(function, ""), right, left
    is_rank = isinstance(left, Column) and left.index >= width
    if not is_rank or not isinstance(right, Literal) or not pa.types.is_integer(right.type):
        return None
    assert isinstance(left, Column)
    if not isinstance(right.value, int) or function not in ("less_than", "less_than_or_equal", "equal_to"):
        return None
    return left.index, max(right.value - (function == "less_than"), 0)


def _is_implied(part: Expression, limit: tuple[int, int], column: int, size: int) -> bool:
    """Whether every row of the top has it."""
    assert isinstance(part, Call)
    return limit == (column, size) and (part.function != "equal_to" or size == 1)
