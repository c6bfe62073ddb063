"""Lowering: the plans of a program become one circuit.

Every plan node becomes the incremental form of its operator; equal plans, of one view or of several,
become one node. Rows move (`CircuitBuilder.placed`) only where an operator needs them by a key they
don't already lie by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.expressions.nodes import Column, Expression, columns_of, remap
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.generate import Generate
from dbsp.circuits.operators.inputs.arrivals import Arrival, Remaining
from dbsp.circuits.operators.inputs.defaults import Defaults
from dbsp.circuits.operators.inputs.event_times import EventTimes, LastEventTimes
from dbsp.circuits.operators.inputs.late import LATE_ROWS, LATE_SCHEMA, Frozen, Late, OnTime
from dbsp.circuits.operators.inputs.tables import AppendOnly, NonNegative, Upsert
from dbsp.circuits.operators.inputs.thresholds import Proved
from dbsp.circuits.operators.linear import SEQUENCE, Constant, Filter, FlatMap, Map, Source, Union
from dbsp.circuits.operators.set_operation import SetOperation
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.proofs.retention import with_retentions
from dbsp.circuits.progress.waterline import CLOCK, Lateness
from dbsp.circuits.verify import verify
from dbsp.sql.lowering.aggregate import lower_aggregate
from dbsp.sql.lowering.as_of import lower_as_of
from dbsp.sql.lowering.emission import lower_emission
from dbsp.sql.lowering.join import lower_join
from dbsp.sql.lowering.recursion import lower_component, lower_levels
from dbsp.sql.lowering.temporal import lower_phases, lower_temporal
from dbsp.sql.lowering.window import lower_top, lower_window
from dbsp.sql.plans import plan as p
from dbsp.sql.plans.program import Table, View
from dbsp.sql.plans.properties.append_only import append_only
from dbsp.sql.plans.properties.keys import Key, stream_key, table_key
from dbsp.sql.plans.properties.relations_read import arriving, views_reading_late_rows
from dbsp.sql.plans.schemas import Schema, arrow_schema, columns_of_schema


def lower(tables: Mapping[str, Table], views: Mapping[str, View], seed: int = 0) -> Circuit:
    """The circuit of a program: a source per table, an output per view that isn't local."""
    lowering = Lowering(seed, frozenset[str]().union(*(arriving(view.plan) for view in views.values())))
    for table in tables.values():
        lowering.table(table)
    after_late_rows = views_reading_late_rows(views)
    for view in views.values():
        if view.name != LATE_ROWS and view.name not in after_late_rows:
            lowering.view(view, views)
    if LATE_ROWS in views:
        lowering.late_rows(views[LATE_ROWS])
    for name in views:
        if name in after_late_rows:
            lowering.view(views[name], views)
    circuit = with_retentions(lowering.builder.build())
    verify(circuit)
    return circuit


class Lowering:
    """Turns plans into nodes of one builder."""

    def __init__(self, seed: int = 0, arriving: frozenset[str] = frozenset()) -> None:
        """arriving: the tables whose order of arrival some view reads."""
        self.builder = CircuitBuilder(seed)
        self._arriving = arriving
        self._arrivals: dict[str, int] = {}
        self._relations: dict[str, int] = {}
        self._append_only: dict[str, bool] = {}
        self._keys: dict[str, Key] = {LATE_ROWS: None}
        self._nodes: dict[p.Plan, int] = {}
        self._late: list[int] = []
        # per waterline, the node whose rows move it and the lateness of that relation; the node of candidates
        self.proofs: dict[str, tuple[int, tuple[Lateness, ...]]] = {}
        self.percentiles: dict[str, int] = {}

    def table(self, table: Table) -> None:
        schema = arrow_schema(table.schema)
        add = self.builder.add
        lateness = self._lateness(table)
        numbered = schema.append(pa.field(SEQUENCE, pa.int64(), nullable=False))
        if table.primary_key:
            source = add(Source(table.name, numbered), name=table.name)
            filled = self._filled(source, table)
            self._follow_event_times(filled, lateness)
            key = tuple(schema.get_field_index(name) for name in table.primary_key)
            on_time = self._on_time(filled, table, lateness)
            placed = self.builder.placed(on_time, key)
            node = add(Upsert(key, lateness), placed, name=table.name)
            if table.name in self._arriving:
                self._arrivals[table.name] = self._upserts(on_time, key, lateness)
            if lateness:
                self._late.append(add(Frozen(table.name, key, lateness), placed, node))
        else:
            arrives = table.name in self._arriving
            in_order = arrives or any(one.percentile is not None for one in lateness)
            source = add(Source(table.name, numbered if in_order else schema), name=table.name)
            filled = self._filled(source, table)
            self._follow_event_times(filled, lateness)
            node = self._on_time(filled, table, lateness)
            if arrives:
                self._arrivals[table.name] = self._arrival(node, table)
            if in_order:
                node = self.map(node, columns_of_schema(table.schema), table.schema)
            if table.append_only:
                node = add(AppendOnly(table.name), node)
            elif not table.unchecked:
                add(NonNegative(table.name), self.integrated_rows(node))
        self.builder.sources[table.name] = source
        self._relations[table.name] = node
        self._append_only[table.name] = table.append_only and not table.primary_key
        self._keys[table.name] = table_key(table)

    def _filled(self, source: int, table: Table) -> int:
        """The rows of a table with its defaults."""
        if not table.defaults:
            return source
        if any(True for default in table.defaults for _ in columns_of(default.value)):
            self.watch_clock()
        return self.builder.add(Defaults(table.defaults), source, name=table.name)

    def _arrival(self, node: int, table: Table) -> int:
        """The table's rows with their order of arrival. node: with their sequence."""
        arrived = self.builder.add(Arrival(), node)
        if table.append_only:
            return arrived
        key = tuple(range(len(table.schema)))
        return self.builder.add(Remaining(key), self.builder.placed(arrived, key))

    def _upserts(self, node: int, key: tuple[int, ...], lateness: tuple[Lateness, ...]) -> int:
        """A keyed table's rows with the arrival of each key's last upsert. node: the changes."""
        arrived = self.builder.add(Arrival(), node)
        schema = self.builder.nodes[arrived].schema
        columns = tuple(Column(i, field.type, False) for i, field in enumerate(schema))
        in_order = self.builder.add(Map((*columns, columns[-1]), schema.append(schema.field(-1))), arrived)
        return self.builder.add(Upsert(key, lateness), self.builder.placed(in_order, key))

    def _lateness(self, of: Table | View) -> tuple[Lateness, ...]:
        """The relation's waterlines, which become the circuit's."""
        lateness = tuple(
            Lateness(
                f"{of.name}.{of.schema[one.column].name}",
                one.column,
                of.schema[one.column].type,
                one.amount,
                one.jump,
                one.percentile,
            )
            for one in of.lateness
        )
        self.builder.lateness.extend(lateness)
        return lateness

    def _follow_event_times(self, source: int, lateness: tuple[Lateness, ...]) -> None:
        """What raises the percentile waterlines of a table."""
        for i, one in enumerate(lateness):
            if one.percentile is not None:
                times = self.builder.add(EventTimes(lateness, i), source)
                last = LastEventTimes(one)
                placed = self.builder.placed(times, ())
                self.percentiles[one.name] = self.builder.add(last, placed, name=one.name)

    def _on_time(self, node: int, of: Table | View, lateness: tuple[Lateness, ...]) -> int:
        """The rows of a node that aren't late; those that are go to `late_rows`."""
        if not lateness:
            return node
        self.proofs.update({one.name: (node, lateness) for one in lateness})
        names = tuple(field.name for field in of.schema)
        on_time = self.builder.add(OnTime(of.name, lateness), node, name=of.name)
        self._late.append(self.builder.add(Late(of.name, lateness, names), node, on_time))
        return on_time

    def late_rows(self, view: View) -> None:
        self._relations[view.name] = self.builder.add(Union(LATE_SCHEMA), *self._late)
        self._append_only[view.name] = True
        self.builder.output(view.name, self._relations[view.name], None)

    def view(self, view: View, views: Mapping[str, View]) -> None:
        if view.component and view.name not in self._relations:
            self._relations |= lower_component(self, [views[name] for name in view.component])
            self._keys |= {name: tuple(range(len(views[name].schema))) for name in view.component}
        node = self._relations[view.name] if view.component else self.plan(view.plan)
        node = self._on_time(node, view, self._lateness(view))
        self._relations[view.name] = node
        self._append_only[view.name] = view.append_only
        if not view.component:
            self._keys[view.name] = self.stream_key(view.plan)
        if view.emission is not None:
            kept, emission = lower_emission(self, view, node, self._keys[view.name])
            self.builder.output(view.name, node, kept, emission)
        elif view.kind != "local":
            trace = None if view.append_only else self.integrated_rows(node)
            self.builder.output(view.name, node, trace)

    def relation(self, name: str) -> int:
        """The node of a table or view."""
        return self._relations[name]

    def proved(self, one: Lateness) -> int:
        """The node of what a step's rows prove of a waterline."""
        if one.percentile is not None:
            return self.percentiles[one.name]
        source, lateness = self.proofs[one.name]
        return self.builder.add(Proved(lateness), source)

    def watch_clock(self) -> None:
        """The circuit has the step clock among its waterlines."""
        if CLOCK not in self.builder.lateness:
            self.builder.lateness.append(CLOCK)

    def append_only(self, plan: p.Plan) -> bool:
        return append_only(plan, self._append_only)

    def stream_key(self, plan: p.Plan) -> Key:
        return stream_key(plan, self._keys)

    def plan(self, plan: p.Plan) -> int:
        """The node whose stream is the plan's change."""
        if plan not in self._nodes:
            self._nodes[plan] = self._lower(plan)
        return self._nodes[plan]

    def _lower(self, plan: p.Plan) -> int:
        add = self.builder.add
        match plan:
            case p.Scan():
                return (self._arrivals if plan.arrival else self._relations)[plan.relation]
            case p.Values():
                return add(Constant(_constant(plan)))
            case p.Project(input=p.Join() as join):
                needed = {i for e in plan.expressions for i in columns_of(e)}
                node, at = lower_join(self, join, needed)
                return self.map(node, tuple(remap(e, at) for e in plan.expressions), plan.schema)
            case p.Project():
                return self.map(self.plan(plan.input), plan.expressions, plan.schema)
            case p.Filter():
                return add(Filter(plan.condition), self.plan(plan.input))
            case p.Union():
                return add(Union(arrow_schema(plan.schema)), *map(self.plan, plan.inputs))
            case p.SetOperation():
                # both lie by whole rows, so that equal rows have equal sort keys
                everything = tuple(range(len(plan.schema)))
                sides = (self.builder.placed(self.plan(side), everything) for side in (plan.left, plan.right))
                return add(SetOperation(plan.kind), *(add(Integrate(everything), side) for side in sides))
            case p.Expand():
                return add(FlatMap(plan.projections, arrow_schema(plan.schema)), self.plan(plan.input))
            case p.Distinct():
                return add(Distinct(), self.integrated_rows(self.plan(plan.input)))
            case p.Join():
                return lower_join(self, plan, set(range(len(plan.schema))))[0]
            case p.Generate():
                return self._generate(plan)
            case _:
                return _ELSEWHERE[type(plan)](self, plan)

    def _generate(self, plan: p.Generate) -> int:
        schema = arrow_schema(plan.schema)
        operator = Generate(plan.kept, plan.elements, schema, plan.outer, plan.position, plan.fields)
        return self.builder.add(operator, self.plan(plan.input))

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
        return self.builder.add(Integrate(self.builder.placement(node)), node)


_ELSEWHERE: dict[type[p.Plan], Callable[[Lowering, Any], int]] = {
    p.AsOf: lower_as_of,
    p.Aggregate: lower_aggregate,
    p.Window: lower_window,
    p.Top: lower_top,
    p.Levels: lower_levels,
    p.TemporalFilter: lower_temporal,
    p.Phases: lower_phases,
}


def _constant(plan: p.Values) -> pa.RecordBatch:
    columns = [
        pa.array([row[i].value for row in plan.rows], field.type)  # type: ignore[union-attr]
        for i, field in enumerate(plan.schema)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=arrow_schema(plan.schema))
