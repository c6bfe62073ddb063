"""Lowering of tables: what a source feeds, so that only whole rows that are on time go on.

    keyed          source ─► filled ─► on time ─► upsert, which fills in old rows
    append-only    source ─► filled ─► on time ─► no retraction may pass
    a bag          source ─► filled ─► on time        beside it, a trace refuses weights below 0
    filled         defaults ─► conditions that read those of the step ─► columns that are computed

Arrival is numbered by the source, and joins the rows of those tables whose order some view reads. What a
WATERMARK holds back leaves last: the table has the row, and plans that scan it don't. When a row arrived is
said before it waits.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column, columns_of
from dbsp.circuits.operators.inputs.arrival_times import ArrivalTime
from dbsp.circuits.operators.inputs.arrivals import Arrival, Remaining
from dbsp.circuits.operators.inputs.checks import Checks
from dbsp.circuits.operators.inputs.defaults import Defaults
from dbsp.circuits.operators.inputs.formulas import Formulas
from dbsp.circuits.operators.inputs.tables import AppendOnly, NonNegative, Upsert
from dbsp.circuits.operators.inputs.waiting import Released, Waiting
from dbsp.circuits.operators.linear import SEQUENCE, Map, Source
from dbsp.circuits.operators.streams import Broadcast
from dbsp.circuits.progress.waterline import Lateness
from dbsp.sql.lowering.context.lowering import Lowering, Relation
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.properties.keys import table_key
from dbsp.sql.plans.schemas import arrow_schema, columns_of_schema


def lower_table(lowering: Lowering, table: Table, arrives: bool, timed: bool = False) -> None:
    """Add a table to the circuit. arrives: some view reads the order in which its rows come; timed: when."""
    lateness = lowering.waterlines.declared(table)
    columns = arrow_schema(table.schema)
    by_place = any(one.is_drawn for one in table.defaults)
    if arrives or by_place or table.primary_key or any(one.percentile is not None for one in lateness):
        columns = columns.append(pa.field(SEQUENCE, pa.int64(), nullable=False))
    source = lowering.builder.add(Source(table.name, columns), name=table.name)
    filled = _filled(lowering, source, table)
    lowering.waterlines.follow_event_times(filled, lateness)
    on_time = lowering.waterlines.on_time(filled, table, lateness)
    lowering.builder.sources[table.name] = source
    if table.primary_key:
        relation = _keyed(lowering, on_time, table, lateness, arrives)
    else:
        relation = _bag(lowering, on_time, table, arrives)
    if timed:
        relation = _timed(lowering, relation)
    for watermark in lowering.waterlines.watermarks(table, on_time):
        relation = _held_back(lowering, relation, watermark, table.name)
    lowering.relations[table.name] = relation


def _filled(lowering: Lowering, source: int, table: Table) -> int:
    """The rows of a table with its defaults, and what is computed of them."""
    node = source
    if table.defaults:
        if any(default.reads_clock for default in table.defaults):
            lowering.watch_clock()
        node = lowering.builder.add(Defaults(table.defaults), node, name=table.name)
    late = {one.column for one in table.defaults if not one.is_constant}
    checks = tuple(check for check in table.checks if not late.isdisjoint(columns_of(check.value)))
    if checks:
        node = lowering.builder.add(Checks(table.name, checks), node, name=table.name)
    if table.formulas:
        node = lowering.builder.add(Formulas(table.formulas, bool(table.primary_key)), node, name=table.name)
    return node


def _keyed(
    lowering: Lowering, changes: int, table: Table, lateness: tuple[Lateness, ...], arrives: bool
) -> Relation:
    names = [column.name for column in table.schema]
    key = tuple(names.index(name) for name in table.primary_key)
    placed = lowering.builder.placed(changes, key)
    node = lowering.builder.add(Upsert(key, lateness), placed, name=table.name)
    arrived = _last_upserts(lowering, changes, key, lateness) if arrives else None
    lowering.waterlines.frozen(table.name, key, lateness, placed, node)
    return Relation(node, False, table_key(table), arrived)


def _last_upserts(
    lowering: Lowering, changes: int, key: tuple[int, ...], lateness: tuple[Lateness, ...]
) -> int:
    """A keyed table's rows with the arrival of each key's last upsert."""
    builder = lowering.builder
    arrived = builder.add(Arrival(), changes)
    schema = builder.nodes[arrived].schema
    columns = tuple(Column(i, field.type, False) for i, field in enumerate(schema))
    in_order = builder.add(Map((*columns, columns[-1]), schema.append(schema.field(-1))), arrived)
    return builder.add(Upsert(key, lateness), builder.placed(in_order, key))


def _bag(lowering: Lowering, rows: int, table: Table, arrives: bool) -> Relation:
    arrived = _arrival(lowering, rows, table) if arrives else None
    node = lowering.map(rows, columns_of_schema(table.schema), table.schema)
    if table.append_only:
        node = lowering.builder.add(AppendOnly(table.name), node)
    elif not table.unchecked:
        lowering.builder.add(NonNegative(table.name), lowering.integrated_rows(node))
    return Relation(node, table.append_only, table_key(table), arrived)


def _timed(lowering: Lowering, relation: Relation) -> Relation:
    """With the times of arrival, of a table that only grows."""
    assert relation.append_only, "rows that are taken back have no time of arrival"
    builder = lowering.builder
    lowering.watch_clock()
    width = len(builder.nodes[relation.node].schema)
    timed = builder.add(ArrivalTime(width), relation.node)
    if relation.arrived is None:
        return replace(relation, timed=timed)
    both = builder.add(ArrivalTime(width + 1), relation.arrived)
    schema = builder.nodes[both].schema
    *own, order, time = (Column(i, field.type, field.nullable) for i, field in enumerate(schema))
    moved = Map(
        (*own, time, order), pa.schema([schema.field(column.index) for column in (*own, time, order)])
    )
    return replace(relation, timed=timed, timed_in_order=builder.add(moved, both))


def _held_back(lowering: Lowering, relation: Relation, watermark: Lateness, name: str) -> Relation:
    """Without the rows that wait. Of several watermarks, one holds back what the others let pass."""
    node, waiting = _released(lowering, relation.node, watermark, name)
    arrived, timed, both = (
        None if beside is None else _released(lowering, beside, watermark, name)[0]
        for beside in (relation.arrived, relation.timed, relation.timed_in_order)
    )
    received = relation.node if relation.received is None else relation.received
    held = (*relation.waiting, waiting)
    return replace(
        relation,
        node=node,
        arrived=arrived,
        timed=timed,
        timed_in_order=both,
        received=received,
        waiting=held,
    )


def _released(lowering: Lowering, rows: int, watermark: Lateness, name: str) -> tuple[int, int]:
    """(the rows that are released, those that wait)"""
    builder = lowering.builder
    proved = builder.add(Broadcast(), lowering.proved(watermark))
    placed = builder.placed(rows, tuple(range(len(builder.nodes[rows].schema))), within=True)
    waiting = builder.add(Waiting(builder.placement(placed), watermark), placed, proved, name=name)
    return builder.add(Released(watermark), placed, waiting, name=name), waiting


def _arrival(lowering: Lowering, rows: int, table: Table) -> int:
    """A table's rows with their order of arrival; a retraction takes the earliest copy that is left."""
    arrived = lowering.builder.add(Arrival(), rows)
    if table.append_only:
        return arrived
    key = tuple(range(len(table.schema)))
    return lowering.builder.add(Remaining(key), lowering.builder.placed(arrived, key))
