"""LATENESS in a circuit: late rows branch off once, and each waterline has a node that proves it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.operators.inputs.event_times import EventTimes, LastEventTimes
from dbsp.circuits.operators.inputs.late import LATE_SCHEMA, Frozen, Late, OnTime
from dbsp.circuits.operators.inputs.thresholds import Proved
from dbsp.circuits.operators.linear import Union
from dbsp.circuits.operators.streams import Exchange
from dbsp.circuits.progress.percentile import Percentile
from dbsp.sql.lowering.context.waterlines import Waterlines
from dbsp.sql.plans.program import ColumnLateness
from dbsp.sql.plans.schemas import arrow_schema
from tests.circuits.engine import source
from tests.sql.hand_made import T, table

PERCENTILE = Percentile(Decimal(5), 100, 1)
LATE = replace(table(T), lateness=(ColumnLateness(1, 3, 10), ColumnLateness(2, 0, None, PERCENTILE)))


def test_a_relations_waterlines_become_the_circuits() -> None:
    builder = CircuitBuilder()
    first, second = Waterlines(builder).declared(LATE)
    assert builder.lateness == [first, second]
    assert (first.name, first.column, first.type, first.amount, first.jump) == ("t.b", 1, pa.int64(), 3, 10)
    assert (second.name, second.percentile) == ("t.c", PERCENTILE)


def test_late_rows_leave_beside_those_that_are_on_time() -> None:
    builder = CircuitBuilder()
    waterlines = Waterlines(builder)
    rows = source(builder, "t", arrow_schema(T.schema))
    lateness = waterlines.declared(LATE)
    waterlines.follow_event_times(rows, lateness)
    on_time = waterlines.on_time(rows, LATE, lateness)
    assert builder.nodes[on_time].operator == OnTime("t", lateness)
    waterlines.frozen("t", (0,), lateness, on_time, on_time)
    gathered = builder.nodes[waterlines.late_rows()]
    assert gathered.operator == Union(LATE_SCHEMA)
    late, frozen = (builder.nodes[i] for i in gathered.inputs)
    assert late.operator == Late("t", lateness, ("a", "b", "c", "d"))
    assert late.inputs == (rows, on_time)
    assert frozen.operator == Frozen("t", (0,), lateness)


def test_a_waterline_is_proved_by_its_relations_rows_or_its_last_event_times() -> None:
    builder = CircuitBuilder()
    waterlines = Waterlines(builder)
    rows = source(builder, "t", arrow_schema(T.schema))
    lateness = waterlines.declared(LATE)
    waterlines.follow_event_times(rows, lateness)
    waterlines.on_time(rows, LATE, lateness)
    amount, percentile = lateness
    proved = builder.nodes[waterlines.proved(amount)]
    assert (proved.operator, proved.inputs) == (Proved(lateness), (rows,))
    last = builder.nodes[waterlines.proved(percentile)]
    assert last.operator == LastEventTimes(percentile)
    # the last event times of all rows are of one partition
    (times,) = last.inputs
    assert builder.nodes[times].operator == Exchange(())
    assert [node.operator for node in builder.nodes if isinstance(node.operator, EventTimes)] == [
        EventTimes(lateness, 1)
    ]


def test_without_lateness_nothing_is_added() -> None:
    builder = CircuitBuilder()
    waterlines = Waterlines(builder)
    rows = source(builder, "t", arrow_schema(T.schema))
    assert waterlines.on_time(rows, table(T), waterlines.declared(table(T))) == rows
    waterlines.frozen("t", (0,), (), rows, rows)
    assert builder.nodes[waterlines.late_rows()].inputs == ()
    assert len(builder.nodes) == 2
