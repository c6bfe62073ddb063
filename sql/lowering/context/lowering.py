"""What the lowering of all plan nodes shares: the circuit so far, and what is known of tables and views.

Each kind of plan node is lowered by a function of its own, which asks for its inputs' nodes here. Equal
plans, of one view or of several, become one node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Column, Expression
from dbsp.circuits.operators.linear import Map
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.waterline import Lateness
from dbsp.sql.lowering.context.waterlines import Waterlines
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Key, Schema, arrow_schema


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view, as plans that scan it need it.

    node: its stream. arrived: the same with the order of arrival as a last column, where some view reads it;
    timed: with the times of arrival; timed_in_order: with both, these first.
    received, waiting: of a table with WATERMARK the stream of all its rows, and what of them isn't in `node`.
    """

    node: int
    append_only: bool
    key: Key
    arrived: int | None = None
    received: int | None = None
    waiting: tuple[int, ...] = ()
    timed: int | None = None
    timed_in_order: int | None = None

    def beside(self, rowtime: bool, arrival: bool) -> int | None:
        """The stream with these columns behind its own; None: no view reads it."""
        if rowtime:
            return self.timed_in_order if arrival else self.timed
        return self.arrived if arrival else self.node


class Lowering:
    """Turns plans into nodes of one builder. apart: no trace serves for another of the same rows."""

    def __init__(self, kinds: Kinds, seed: int = 0, apart: bool = False) -> None:
        self.builder, self._apart = CircuitBuilder(seed), apart
        self.waterlines = Waterlines(self.builder)
        self.relations: dict[str, Relation] = {}
        self._kinds = kinds
        self._nodes: dict[Plan, int] = {}

    def plan(self, plan: Plan) -> int:
        """The node whose stream is the plan's change."""
        if plan not in self._nodes:
            kind = self._kinds.get(type(plan))
            assert kind is not None, f"{type(plan).__name__}: nothing says how it is lowered"
            self._nodes[plan] = kind(self, plan)
        return self._nodes[plan]

    def node_of(self, plan: Plan) -> int | None:
        """The same of a plan that was lowered; None: it wasn't, or as a part of another."""
        return self._nodes.get(plan)

    def relation(self, name: str) -> int:
        """The node of a table or view."""
        return self.relations[name].node

    def append_only(self, plan: Plan) -> bool:
        return plan.append_only({name: one.append_only for name, one in self.relations.items()})

    def stream_key(self, plan: Plan) -> Key:
        return plan.stream_key({name: one.key for name, one in self.relations.items()})

    def proved(self, one: Lateness) -> int:
        """The node of what a step's rows prove of a waterline."""
        return self.waterlines.proved(one)

    def watch_clock(self) -> None:
        """The circuit has the step clock among its waterlines."""
        self.waterlines.watch_clock()

    def map(self, node: int, expressions: tuple[Expression, ...], schema: Schema) -> int:
        """A projection; the node itself where it would change nothing."""
        columns = [e.index if isinstance(e, Column) else None for e in expressions]
        if columns == list(range(len(self.builder.nodes[node].schema))):
            return node
        return self.builder.add(Map(expressions, arrow_schema(schema)), node)

    def integrated_rows(self, node: int) -> int:
        """The trace of whole rows, wherever they already lie."""
        everything = tuple(range(len(self.builder.nodes[node].schema)))
        node = self.builder.placed(node, everything, within=True)
        return self.integrated(node, self.builder.placement(node))

    def integrated(self, node: int, key: tuple[int, ...], order: int | None = None) -> int:
        """The trace of a node's rows by some columns: the node itself where it keeps that one."""
        placed = self.builder.placed(node, key)
        if not self._apart and order is None and self.builder.is_trace_of_rows(placed):
            return placed
        return self.builder.add(Integrate(key, order), placed)


# per class of plan nodes, what makes the node of one
Kinds = Mapping[type[Plan], Callable[[Lowering, Any], int]]
