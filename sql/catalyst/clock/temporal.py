"""Where NOW() is maintained: where it changes conditions and values at known moments, and in a DEFAULT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Column, Expression, Literal, remap
from dbsp.circuits.expressions.predicates import conjunction
from dbsp.circuits.operators.inputs.defaults import ARRIVED
from dbsp.sql.catalyst.clock.conditions import changes, time_bounds
from dbsp.sql.catalyst.clock.drawn import RANDOM, Drawn
from dbsp.sql.catalyst.reading.clock import EXAMPLE, marks_in, refused
from dbsp.sql.catalyst.reading.expressions import expression
from dbsp.sql.catalyst.reading.query import Node, Query, nodes_in
from dbsp.sql.catalyst.reading.relation import Relation
from dbsp.sql.plans.clock.changes import TimeBound
from dbsp.sql.plans.clock.readings import CLOCK_COLUMN, reads_clock
from dbsp.sql.plans.nodes import Aggregate, Filter, Join, Project, TemporalFilter, TimedProjection, Values
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field

# Catalyst numbers no column so low
_FIRST_ID = -1_000_000_000


def default_value(query: Query, dumped: Any, column: str) -> Expression | None:
    """The value of `SELECT default`, over the step clock and a row's arrival; None: it is none, or NULL.

    dumped: its plan. column: with its table, so that no two draw the same.
    """
    node = dumped["plan"]
    if any(one["why"] != RANDOM for one in dumped["forbidden"]):
        return None
    if [inner["op"] for inner in node["k"]] != ["OneRowRelation"]:
        return None
    for inner in nodes_in(node["o"]):
        inner.pop("s", None)  # places in another text than the user's
    try:
        value = expression(query, node["o"]["projectList"][0], {}, Drawn(query, column))
    except ProgramError:
        return None
    if isinstance(value, Literal) and value.value is None:
        return None
    return remap(value, {CLOCK_COLUMN: 0, ARRIVED.index: ARRIVED.index})


class Clocked:
    """A relation, and columns for those of its expressions that read the clock.

    Values of equal expressions are one column.
    """

    def __init__(self, query: Query, input_: Plan) -> None:
        self.query, self.input = query, input_
        self.values: list[Expression] = []

    def column(self, value: Expression, place: Any) -> Expression:
        """The expression, or the column it becomes. place: where it stands, dumped. Raises ProgramError."""
        if not reads_clock(value):
            return value
        if changes([value], _has_one_row(self.input)) is None:
            raise refused(self.query, place)
        if value not in self.values:
            self.values.append(value)
        return Column(len(self.input.schema) + self.values.index(value), value.type, value.nullable)

    @property
    def plan(self) -> Plan:
        if not self.values:
            return self.input
        found = changes(self.values, _has_one_row(self.input))
        assert found is not None
        made = tuple(Field(f"now{i}", v.type, v.nullable) for i, v in enumerate(self.values))
        schema = (*self.input.schema, *made)
        return TimedProjection(self.input, replace(found, ahead=()), tuple(self.values), None, schema)

    @property
    def ids(self) -> tuple[int, ...]:
        """Of the columns beyond the relation's own."""
        return tuple(_FIRST_ID - len(self.input.schema) - i for i in range(len(self.values)))


def _has_one_row(plan: Plan) -> bool:
    """Whether there is one row at most."""
    match plan:
        case Aggregate():
            return not plan.keys
        case Values():
            return len(plan.rows) <= 1
        case Project() | Filter() | TemporalFilter() | TimedProjection():
            return _has_one_row(plan.input)
        case Join():
            return plan.kind in ("inner", "left") and _has_one_row(plan.left) and _has_one_row(plan.right)
    return False


def temporal_filter(query: Query, parts: Sequence[Node], input_: Relation) -> Relation:
    """The rows of which all parts are true. Raises ProgramError for one that changes at any moment."""
    bounds: list[TimeBound] = []
    others: list[Expression] = []
    for part in parts:
        condition = expression(query, part, input_.position)
        found = time_bounds(condition)
        if found is not None:
            bounds += found
        elif changes([condition], _has_one_row(input_.plan)) is not None:
            others.append(condition)
        else:
            raise _unclear(query, part)
    plan = input_.plan
    if bounds:
        plan = TemporalFilter(plan, tuple(dict.fromkeys(bounds)))
    if others:
        phased = changes(others, _has_one_row(plan))
        assert phased is not None
        plan = TimedProjection(plan, phased, (), conjunction(others), plan.schema)
    return Relation(plan, input_.ids)


def _unclear(query: Query, part: Node) -> ProgramError:
    condition = query.spelled(part) or "the condition on now()"
    return query.error(
        part,
        f"not supported: {condition}: it isn't clear when a row comes to satisfy it, or ceases to; "
        f"compare an expression of the row with now(), or now() shifted by a constant, as {EXAMPLE}",
    )


def check_clock(query: Query, node: Node, plan: Plan) -> None:
    """Raises ProgramError where what a dumped node became reads the clock outside of a temporal operator."""
    if marks_in(node["o"]) and _leaks(plan):
        raise refused(query, node["o"])


def _leaks(plan: Plan) -> bool:
    found = False

    def look(value: Expression) -> Expression:
        nonlocal found
        found = found or reads_clock(value)
        return value

    if not isinstance(plan, TimedProjection):
        plan.with_expressions(look)
    return found or any(map(_leaks, plan.inputs))
