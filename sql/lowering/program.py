"""Lowering: the plans of a program become one circuit.

Every plan node becomes the incremental form of its operator. Rows move (`CircuitBuilder.placed`) only where
an operator needs them by a key they don't already lie by.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.operators.inputs.bad import BAD_ROWS, REFUSED_SCHEMA, Numbered
from dbsp.circuits.operators.inputs.late import LATE_ROWS
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.progress.proofs.retention import with_retentions
from dbsp.circuits.verify import verify
from dbsp.sql.lowering.aggregate import lower_aggregate
from dbsp.sql.lowering.arrival_join import lower_arrival_join
from dbsp.sql.lowering.as_of import lower_as_of
from dbsp.sql.lowering.clock import lower_temporal_filter, lower_timed_projection
from dbsp.sql.lowering.context.lowering import Kinds, Lowering, Relation
from dbsp.sql.lowering.emission.view import lower_emission
from dbsp.sql.lowering.join import lower_join
from dbsp.sql.lowering.recursion import lower_component, lower_levels
from dbsp.sql.lowering.rows import (
    lower_distinct,
    lower_expand,
    lower_filter,
    lower_generate,
    lower_project,
    lower_scan,
    lower_set_operation,
    lower_union,
    lower_values,
)
from dbsp.sql.lowering.tables import lower_table
from dbsp.sql.lowering.window import lower_top, lower_window
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.program import SYSTEM_VIEWS, Table, View
from dbsp.sql.plans.properties.late_readers import views_reading_late_rows

KINDS: Kinds = {
    p.Scan: lower_scan,
    p.Values: lower_values,
    p.Project: lower_project,
    p.Filter: lower_filter,
    p.TemporalFilter: lower_temporal_filter,
    p.TimedProjection: lower_timed_projection,
    p.Join: lower_join,
    p.ArrivalJoin: lower_arrival_join,
    p.AsOf: lower_as_of,
    p.Aggregate: lower_aggregate,
    p.Distinct: lower_distinct,
    p.Union: lower_union,
    p.SetOperation: lower_set_operation,
    p.Expand: lower_expand,
    p.Generate: lower_generate,
    p.Window: lower_window,
    p.Top: lower_top,
    p.Levels: lower_levels,
}


def lower(
    tables: Mapping[str, Table], views: Mapping[str, View], seed: int = 0, apart: bool = False
) -> Circuit:
    """The circuit of a program: a source per table, an output per view that isn't local.

    apart: with a trace more where a view is all rows of another trace. That is how nodes were numbered when
    states knew traces by their numbers.
    """
    circuit = with_retentions(lowering_of(tables, views, seed, apart).builder.build())
    verify(circuit)
    return circuit


def lowering_of(
    tables: Mapping[str, Table], views: Mapping[str, View], seed: int = 0, apart: bool = False
) -> Lowering:
    """The same, that knows yet which plan became which node."""
    lowering = Lowering(KINDS, seed, apart)
    in_order = frozenset[str]().union(*(view.plan.arriving() for view in views.values()))
    timed = frozenset[str]().union(*(view.plan.timed() for view in views.values()))
    for table in tables.values():
        lower_table(lowering, table, table.name in in_order, table.name in timed)
    if BAD_ROWS in views:
        _lower_bad_rows(lowering)
    after_late_rows = views_reading_late_rows(views)
    for view in views.values():
        if view.name not in SYSTEM_VIEWS and view.name not in after_late_rows:
            _lower_view(lowering, view, views)
    if LATE_ROWS in views:
        _lower_late_rows(lowering)
    for name in views:
        if name in after_late_rows:
            _lower_view(lowering, views[name], views)
    return lowering


def _lower_bad_rows(lowering: Lowering) -> None:
    builder = lowering.builder
    source = builder.sources[BAD_ROWS] = builder.add(Source(BAD_ROWS, REFUSED_SCHEMA), name=BAD_ROWS)
    node = builder.add(Numbered(), source, name=BAD_ROWS)
    lowering.relations[BAD_ROWS] = Relation(node, True, None)
    builder.output(BAD_ROWS, node, None)


def _lower_late_rows(lowering: Lowering) -> None:
    node = lowering.waterlines.late_rows()
    lowering.relations[LATE_ROWS] = Relation(node, True, None)
    lowering.builder.output(LATE_ROWS, node, None)


def _lower_view(lowering: Lowering, view: View, views: Mapping[str, View]) -> None:
    if not view.component:
        lateness = lowering.waterlines.declared(view)
        on_time = lowering.waterlines.on_time(lowering.plan(view.plan), view, lateness)
        lowering.relations[view.name] = Relation(on_time, view.append_only, lowering.stream_key(view.plan))
    elif view.name not in lowering.relations:
        _lower_component(lowering, [views[name] for name in view.component])
    made = lowering.relations[view.name]
    if view.emission is not None:
        kept, emission = lower_emission(lowering, view, made.node, made.key)
        lowering.builder.output(view.name, made.node, kept, emission)
    elif view.kind != "local":
        trace = None if view.append_only else lowering.integrated_rows(made.node)
        lowering.builder.output(view.name, made.node, trace)


def _lower_component(lowering: Lowering, views: list[View]) -> None:
    """Recursive views that are defined together; their rows are distinct."""
    nodes = lower_component(lowering, views)
    for view in views:
        everything = tuple(range(len(view.schema)))
        lowering.relations[view.name] = Relation(nodes[view.name], view.append_only, everything)
