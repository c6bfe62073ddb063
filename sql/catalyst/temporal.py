"""Where NOW() is maintained: in conditions, which become a temporal filter, and in a column's DEFAULT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from circuits.errors import ProgramError
from circuits.expressions.nodes import Expression, Literal, remap
from sql.catalyst.clock import EXAMPLE, MARK, clock_value
from sql.catalyst.expressions import Special, expression
from sql.catalyst.query import Node, Query, nodes_in
from sql.catalyst.relation import Relation
from sql.plan import TemporalFilter, TimeBound
from sql.temporal import CLOCK_COLUMN, time_bounds


def _clock_in(query: Query) -> Special:
    return lambda node: clock_value(query, node) if node["c"] == MARK else None


def default_value(query: Query, dumped: Any) -> Expression | None:
    """The value of `SELECT default`, over the step clock; None: it is none, or NULL. dumped: its plan."""
    node = dumped["plan"]
    if dumped["forbidden"] or [inner["op"] for inner in node["k"]] != ["OneRowRelation"]:
        return None
    for inner in nodes_in(node["o"]):
        inner.pop("s", None)  # places in another text than the user's
    try:
        value = expression(query, node["o"]["projectList"][0], {}, _clock_in(query))
    except ProgramError:
        return None
    if isinstance(value, Literal) and value.value is None:
        return None
    return remap(value, {CLOCK_COLUMN: 0})


def temporal_filter(query: Query, parts: Sequence[Node], input_: Relation) -> Relation:
    """The rows of which all parts are true. Raises ProgramError for one that isn't of that form."""

    bounds: list[TimeBound] = []
    for part in parts:
        found = time_bounds(expression(query, part, input_.position, _clock_in(query)))
        if found is None:
            condition = query.spelled(part) or "the condition on now()"
            raise query.error(
                part,
                f"not supported: {condition}: it isn't clear from when or until when a row satisfies it; "
                f"compare an expression of the row with now(), or now() shifted by a constant, as "
                f"{EXAMPLE}; join several conditions by AND",
            )
        bounds += found
    return (
        Relation(TemporalFilter(input_.plan, tuple(dict.fromkeys(bounds))), input_.ids) if bounds else input_
    )
