"""Sides of joins: what is compared is a column, and rows that can have no match are told apart."""

from __future__ import annotations

from dataclasses import replace

from dbsp.circuits.expressions.nodes import Column, columns_of
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.program import KINDS
from dbsp.sql.lowering.sides import side_of
from dbsp.sql.lowering.tables import lower_table
from dbsp.sql.plans.nodes import Scan
from tests.sql.hand_made import INT, T, call, column, table

SUM = call("add", column(0), column(1))


def lowering_of(scan: Scan) -> Lowering:
    lowering = Lowering(KINDS)
    lower_table(lowering, table(scan), arrives=False)
    return lowering


def test_columns_are_used_as_they_are_and_expressions_are_added() -> None:
    lowering = lowering_of(T)
    side = side_of(lowering, T, (column(2), SUM), (True, True), (column(3),))
    assert (side.key, side.further) == ((2, 4), (3,))
    assert [field.type for field in side.fields] == [SUM.type] * 5


def test_what_must_be_there_is_asked_for_once() -> None:
    """A key compared by <=> may be NULL; a further value may not."""
    lowering = lowering_of(T)
    side = side_of(lowering, T, (column(2), column(1)), (True, False), (column(3),))
    assert side.condition is not None
    assert {*columns_of(side.condition)} == {1, 3}
    assert side.eligible != side.node


def test_what_is_never_null_is_always_eligible() -> None:
    there = Scan("t", tuple(replace(field, nullable=False) for field in T.schema))
    side = side_of(lowering_of(there), there, (Column(0, INT, False),), (False,))
    assert side.condition is None
    assert side.eligible == side.node
