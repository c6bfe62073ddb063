"""Why a row is in a view, or why not, of what a state holds after some step.

A view's rows are stored, so that each is explained by itself: what is demanded of the view's plan is its
rows, one by one. Where the plan scans another view, the rows of that one that count are explained in turn.
A row that isn't there is demanded of the plans through all views, down to the tables: the first operator
that has rows to work with and puts none out is where it is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.traces.zset import ZSet
from dbsp.lineage.finding import Finding, Found, Unheld
from dbsp.lineage.held import Held
from dbsp.lineage.relational import Demand, columns, consolidated, empty
from dbsp.lineage.tracing import same, traced
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import SYSTEM_VIEWS, Program, View
from dbsp.sql.plans.schemas import Schema
from dbsp.views.derivation import Derivation, most

_GONE = "what some of these rows follow from isn't there any more: a waterline has passed it"


@dataclass
class Explaining:
    """inside: rows of recursive views that are being explained, by view."""

    program: Program
    held: Held
    _inside: dict[str, list[ZSet]] = field(default_factory=dict)

    @property
    def clock(self) -> datetime | None:
        """The step's."""
        scalar = self.held.state.waterlines.get(CLOCK.name)
        return None if scalar is None else scalar.as_py()

    # -- of rows that are there ---------------------------------------------------------------------

    def view(self, name: str, wanted: ZSet) -> Derivation:
        """What rows of a view follow from."""
        view = self.program.views[name]
        wanted = consolidated(wanted, view.schema)
        if name in SYSTEM_VIEWS:
            return Derivation("", name, wanted, note="the system's own: what a step couldn't take")
        if view.component:
            return self._recursive(view, wanted)
        return self._explained(view, wanted)

    def _explained(self, view: View, wanted: ZSet) -> Derivation:
        finding = Finding(self.held, self._stored, self.clock)
        try:
            found = finding.of(view.plan, [_these(wanted, view.plan.schema)])
        except Unheld as missing:
            return Derivation("", view.name, wanted, note=str(missing))
        there = same(wanted, view.plan, found.rows)
        note = "" if int(there.weights.sum()) >= int(wanted.weights.sum()) else _GONE
        inputs = (self._traced(found, there),) if len(there) else ()
        return Derivation("", view.name, wanted, inputs, note)

    def _traced(self, found: Found, wanted: ZSet) -> Derivation:
        plan = found.plan
        if isinstance(plan, p.Scan):
            return self._scanned(found, plan, wanted)
        if isinstance(plan, p.Levels):
            return self._levels(found, plan, wanted)
        parts = traced(found, wanted, self.clock)
        inputs = [
            self._traced(below, part) for below, part in zip(found.inputs, parts, strict=True) if len(part)
        ]
        if len(inputs) == 1 and _says_nothing(plan):
            return inputs[0]
        return Derivation(plan.spelled, "", wanted, tuple(inputs), found.note)

    def _scanned(self, found: Found, plan: p.Scan, wanted: ZSet) -> Derivation:
        name = plan.relation
        if name in self._inside:
            self._inside[name].append(wanted)
            return Derivation("", name, wanted)
        if found.inputs:
            return Derivation("", name, wanted, (self._traced(found.inputs[0], wanted),), found.note)
        if name in self.program.views:
            return self.view(name, wanted)
        table = self.program.tables[name]
        narrower = consolidated(_first(wanted, len(table.schema)), table.schema)
        return Derivation("", name, narrower, is_table=True)

    def _stored(self, name: str, demands: Sequence[Demand]) -> Found | None:
        """A view's rows as they are kept; of one that isn't, as its plan has them."""
        view = self.program.views.get(name)
        if view is None:
            return None
        scan = p.Scan(name, view.schema)
        there = self.held.view(name, view.schema, demands)
        if there is not None:
            return Found(scan, there.rows)
        if view.component:
            raise Unheld(f"nothing keeps the rows of the recursive view '{name}'")
        found = Finding(self.held, self._stored, self.clock).of(view.plan, demands)
        return Found(scan, found.rows, (found,))

    # -- of recursions ------------------------------------------------------------------------------

    def _recursive(self, view: View, wanted: ZSet) -> Derivation:
        """Round by round: the rows of the recursive views that others follow from, each once.

        All of them are there, so that they and what they follow from derive the wanted ones once more.
        """
        outer, self._inside = self._inside, {name: [] for name in view.component}
        known: dict[str, ZSet] = {}
        frontier = {view.name: wanted}
        rounds: list[Derivation] = []
        try:
            while frontier:
                for name, rows in frontier.items():
                    known[name] = most([known[name], rows]) if name in known else rows
                    rounds.append(self._explained(self.program.views[name], rows))
                frontier = self._further(known)
        finally:
            self._inside = outer
        first, *others = rounds
        return replace(first, inputs=(*first.inputs, *others))

    def _further(self, known: Mapping[str, ZSet]) -> dict[str, ZSet]:
        """What was met inside that isn't explained yet."""
        found = {}
        for name, parts in self._inside.items():
            schema = self.program.views[name].schema
            met = [consolidated(part, schema) for part in parts]
            parts.clear()
            if met:
                rows = most(met)
                new = rows if name not in known else (rows - known[name]).consolidate()
                new = new.take(np.flatnonzero(new.weights > 0))
                if len(new):
                    found[name] = new
        return found

    def _levels(self, found: Found, plan: p.Levels, wanted: ZSet) -> Derivation:
        """From the last level to the first: of each the wanted rows, and what those above follow from."""
        below = empty(plan.schema)
        inputs: list[Derivation] = []
        for level, one in reversed(list(enumerate(found.inputs))):
            rows = most([same(one.rows, one.plan, wanted), same(one.rows, one.plan, below)])
            if not len(rows):
                below = empty(plan.schema)
                continue
            outer, self._inside = self._inside, {**self._inside, LEVEL: []}
            made = self._traced(one, rows)
            met = self._inside[LEVEL]
            self._inside = outer
            below = most([consolidated(part, plan.schema) for part in met]) if met else empty(plan.schema)
            inputs.append(Derivation(f"level {level}", "", rows, (made,)))
        return Derivation(plan.spelled, "", wanted, tuple(inputs), found.note)

    # -- of rows that aren't there ------------------------------------------------------------------

    def missing(self, name: str, demand: Demand) -> Derivation:
        """Where a row of a view that has these values is lost."""
        view = self.program.views[name]
        nothing = empty(view.schema)
        if name in SYSTEM_VIEWS:
            return Derivation("", name, nothing, is_lost=True)
        try:
            found = Finding(self.held, self._through, self.clock).of(view.plan, [demand])
        except Unheld as missing:
            return Derivation("", name, nothing, note=str(missing))
        return Derivation("", name, nothing, (self._told(found, blamed(found)),))

    def _through(self, name: str, demands: Sequence[Demand]) -> Found | None:
        view = self.program.views.get(name)
        if view is None or view.component or name in SYSTEM_VIEWS:
            return self._stored(name, demands)
        found = Finding(self.held, self._through, self.clock).of(view.plan, demands)
        return Found(p.Scan(name, view.schema), found.rows, (found,))

    def _told(self, found: Found, lost: set[int]) -> Derivation:
        plan = found.plan
        name = plan.relation if isinstance(plan, p.Scan) else ""
        is_lost = id(found) in lost
        near = found.among if is_lost and found.among is not None and found.inputs else None
        inputs = tuple(self._told(one, lost) for one in found.inputs)
        is_table = name in self.program.tables
        return Derivation(
            "" if name else plan.spelled, name, found.rows, inputs, found.note, is_lost, is_table, near
        )

    def sufficient(self, name: str, wanted: ZSet) -> dict[str, ZSet]:
        """Per table the rows that were looked at to find these rows of a view: they follow from these."""
        view = self.program.views[name]
        demand = _these(wanted, view.plan.schema)
        tables: dict[str, list[ZSet]] = {}
        _leaves(Finding(self.held, self._through, self.clock).of(view.plan, [demand]), tables)
        return {name: most(parts) for name, parts in tables.items()}


def _leaves(found: Found, tables: dict[str, list[ZSet]]) -> None:
    if isinstance(found.plan, p.Scan) and not found.inputs:
        tables.setdefault(found.plan.relation, []).append(found.rows)
    for one in found.inputs:
        _leaves(one, tables)


def blamed(found: Found) -> set[int]:
    """The ids of what puts nothing out though it has rows to work with, or of leaves that have none."""
    if len(found.rows):
        return set()
    needed = _needed(found.plan, found.inputs)
    empty_ones = [one for one in needed if not len(one.rows)]
    if not empty_ones:
        return {id(found)}
    if isinstance(found.plan, p.Union):
        return set[int]().union(*map(blamed, empty_ones))
    return blamed(min(empty_ones, key=lambda one: one.order))


def _needed(plan: Plan, inputs: Sequence[Found]) -> Sequence[Found]:
    """Without rows of these there are none of the plan."""
    if isinstance(plan, p.Join | p.AsOf):
        return inputs if plan.kind in ("inner", "semi") else [] if plan.kind == "full" else inputs[:1]
    if isinstance(plan, p.SetOperation) and plan.kind.startswith("except"):
        return inputs[:1]
    return inputs


def _says_nothing(plan: Plan) -> bool:
    """Of rows of one input: it only leaves out columns, or copies."""
    if isinstance(plan, p.Project):
        return all(isinstance(expression, Column) for expression in plan.expressions)
    return isinstance(plan, p.Distinct | p.Union)


def _these(rows: ZSet, schema: Schema) -> Demand:
    return columns(rows, schema, 0, len(schema))


def _first(rows: ZSet, count: int) -> ZSet:
    return ZSet(rows.rows.select(list(range(count))), rows.weights)
