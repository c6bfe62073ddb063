"""What a program has defined so far, and what is known of it."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.compiler.scope.defined import Defined
from dbsp.sql.plans.nodes import Filter, Scan
from dbsp.sql.plans.program import ColumnLateness, Table, View
from tests.sql.hand_made import T, U, positive, table, view

LATE = (ColumnLateness(1, 0, None),)


def defined(*relations: Table | View) -> Defined:
    tables = {one.name: one for one in relations if isinstance(one, Table)}
    return Defined(tables, {one.name: one for one in relations if isinstance(one, View)})


def test_tables_come_before_views() -> None:
    found = defined(view("v", T), table(T), table(U))
    assert [one.name for one in found.relations()] == ["t", "u", "v"]
    assert found.columns() == {name: ["a", "b", "c", "d"] for name in "tuv"}


def test_an_upsert_retracts_whatever_the_table_promises() -> None:
    keyed = table(T, ("a",), append_only=True)
    found = defined(keyed, table(U, append_only=True), replace(view("v", U), append_only=True))
    assert found.append_only() == {"t": False, "u": True, "v": True}


def test_who_has_an_order_of_arrival() -> None:
    unchecked = replace(table(T), unchecked=True)
    assert defined(unchecked, table(U)).arriving() == {"u"}
    assert defined(replace(unchecked, primary_key=("a",))).arriving() == {"t"}


def test_views_that_are_their_plans_rows() -> None:
    exact, late = view("exact", T), replace(view("late", T), lateness=LATE)
    found = defined(table(T), exact, late, view("r", T, component=("r",)), view("late_rows", T))
    assert found.exact_views() == {"exact": T}


def test_a_column_with_lateness_is_monotonic_in_what_reads_it() -> None:
    of_table, of_view = replace(table(T), lateness=LATE), view("v", Filter(T, positive(0)))
    above = replace(view("w", Scan("v", T.schema)), lateness=(ColumnLateness(2, 0, None),))
    found = defined(of_table, of_view, above).monotonic()
    assert [{*found[name]} for name in "tvw"] == [{1}, {1}, {1, 2}]
    assert found["t"][1] == (Column(1, pa.int64()),)
