"""`rank <= k` over a window function that ranks: only the first k rows of each partition are looked at.

    σ[r <= k](ω[p; r](a)) = top[p; r; k](a)                              r: row_number, rank or dense_rank
    σ[r <= k](ω[p; r, f](a)) = σ[r <= k](ω[p; r, f](top[p; r'; k + n](a)))   f looks n rows beyond its own

Ranks are never below 1, so that r = 1 says r <= 1. Other functions are computed over the first rows, too:
what comes after a row doesn't change its rank, nor what it is `lag` or a running sum of, and `lead` reads the
next one alone. r' is r, or of what looks at peers a rank that all peers have: `rank`, and where rows beyond
are read `dense_rank`, which goes up by one at most from a row to the next.
"""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.expressions.predicates import conjuncts
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.nodes import Filter, Top, Window
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import columns_of_schema
from dbsp.sql.rules.beyond import RANKINGS, Beyond, furthest_of
from dbsp.sql.rules.traverse import bottom_up

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
    width = len(window.input.schema)
    parts = conjuncts(node.condition)
    limits = {part: limit for part in parts if (limit := _limit(part, window)) is not None}
    if not limits:
        return node
    column, size = min(limits.values(), key=lambda limit: limit[1])
    call = window.calls[column - width]
    if not call.order and any(other.function != "row_number" for other in window.calls):
        return node  # all rows are peers
    furthest = furthest_of(window.calls, call.order)
    if furthest is None:
        return node
    ranking, first = _first_rows(call.function, size, furthest)
    # without an order any rows will do: the first by their values, so that the same ones are taken again
    order = call.order or (SortOrder(columns_of_schema(window.input.schema)[0]),)
    alone = len(window.calls) == 1
    schema = window.schema if alone else window.input.schema
    top: Plan = Top(window.input, window.partition, order, ranking, first, alone, schema)
    if not alone:
        top = Window(top, window.partition, window.calls, window.schema)
    is_all = (ranking, first) == (call.function, size)
    for part in parts:
        if not (is_all and part in limits and _is_implied(part, limits[part], column, size)):
            top = Filter(top, part)
    return top


def _first_rows(ranking: str, size: int, furthest: Beyond) -> tuple[str, int]:
    """A rank, and up to where of it, that all those have which are read for a row of `ranking` <= size."""
    if furthest.rows == 0:
        return ("rank" if furthest.peers and ranking == "row_number" else ranking), size
    if ranking == "row_number" and not furthest.peers:
        return ranking, size + furthest.rows
    return "dense_rank", size + furthest.rows


def _limit(part: Expression, window: Window) -> tuple[int, int] | None:
    """(rank's column, k) of a condition that says rank <= k, or more."""
    if not isinstance(part, Call) or len(part.arguments) != 2:
        return None
    function, (left, right) = part.function, part.arguments
    if isinstance(left, Literal):
        function, left, right = _FLIPPED.get(function, ""), right, left
    width = len(window.input.schema)
    is_computed = isinstance(left, Column) and left.index >= width
    if not is_computed or not isinstance(right, Literal) or not pa.types.is_integer(right.type):
        return None
    assert isinstance(left, Column)
    if window.calls[left.index - width].function not in RANKINGS:
        return None
    if not isinstance(right.value, int) or function not in ("less_than", "less_than_or_equal", "equal_to"):
        return None
    return left.index, max(right.value - (function == "less_than"), 0)


def _is_implied(part: Expression, limit: tuple[int, int], column: int, size: int) -> bool:
    """Whether every row of the top has it."""
    assert isinstance(part, Call)
    return limit == (column, size) and (part.function != "equal_to" or size == 1)
