"""A program's circuit: a source a table, an output a view that isn't local, and what views share."""

from __future__ import annotations

from dataclasses import replace

from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.inputs.late import LATE_SCHEMA
from dbsp.circuits.operators.linear import Filter
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.program import ColumnLateness
from dbsp.sql.plans.schemas import Field
from tests.sql.hand_made import T, U, positive, table, view
from tests.sql.lowering.lowered import circuit_with, operators

POSITIVE = p.Filter(T, positive(0))


def test_sources_and_outputs_are_as_declared() -> None:
    views = [view("a", POSITIVE), replace(view("hidden", p.Distinct(U)), kind="local"), view("b", U)]
    circuit = circuit_with(views, (table(T), table(U)))
    assert {*circuit.sources} == {"t", "u"}
    assert [output.view for output in circuit.outputs] == ["a", "b"]


def test_a_view_reads_another_where_it_is() -> None:
    inner = view("inner", POSITIVE)
    outer = view("outer", p.Distinct(p.Scan("inner", T.schema)))
    circuit = circuit_with([inner, outer], (table(T),))
    assert len(operators(circuit, Filter)) == 1
    assert circuit.output("outer").node in circuit.reached(circuit.output("inner").node)


def test_views_of_one_plan_are_stored_once() -> None:
    circuit = circuit_with([view("a", p.Distinct(POSITIVE)), view("b", p.Distinct(POSITIVE))], (table(T),))
    assert len(operators(circuit, Distinct)) == 1
    assert circuit.output("a").kept == circuit.output("b").kept


def test_what_never_retracts_is_a_log() -> None:
    grows = replace(view("a", POSITIVE), append_only=True)
    circuit = circuit_with([grows], (table(T, append_only=True),))
    assert circuit.output("a").trace is None
    assert not operators(circuit, Integrate)
    (trace,) = {circuit_with([view("a", POSITIVE)], (table(T),)).output("a").trace}
    assert trace is not None


def test_late_rows_are_lowered_before_those_who_read_them() -> None:
    fields = tuple(Field(field.name, field.type) for field in LATE_SCHEMA)
    scan = p.Scan("late_rows", fields)
    late = replace(table(T), lateness=(ColumnLateness(0, 0, None),))
    views = [view("reader", p.Distinct(scan)), view("a", POSITIVE), view("late_rows", scan)]
    circuit = circuit_with(views, (late,))
    assert [output.view for output in circuit.outputs] == ["a", "late_rows", "reader"]
    assert circuit.output("late_rows").trace is None
    assert circuit.output("reader").node in circuit.reached(circuit.output("late_rows").node)
