"""What a table's source feeds: only whole rows that are on time go on."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.inputs.arrivals import Arrival, Remaining
from dbsp.circuits.operators.inputs.defaults import Default, Defaults
from dbsp.circuits.operators.inputs.late import Frozen, OnTime
from dbsp.circuits.operators.inputs.tables import AppendOnly, NonNegative, Upsert
from dbsp.circuits.operators.linear import SEQUENCE, Source
from dbsp.circuits.progress.percentile import Percentile
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.program import KINDS
from dbsp.sql.lowering.tables import lower_table
from dbsp.sql.plans.program import ColumnLateness, Table
from tests.sql.hand_made import T, literal, table

LATE = (ColumnLateness(1, 3, None),)


def lowered(of: Table, arrives: bool = False) -> tuple[Lowering, list[str]]:
    """(the lowering, the kinds of its nodes)."""
    lowering = Lowering(KINDS)
    lower_table(lowering, of, arrives)
    return lowering, [type(node.operator).__name__ for node in lowering.builder.nodes]


def columns(lowering: Lowering) -> list[str]:
    """Of the source."""
    names: list[str] = lowering.builder.nodes[lowering.builder.sources["t"]].schema.names
    return names


def test_a_bag_refuses_what_isnt_there_beside_the_path_of_its_rows() -> None:
    lowering, kinds = lowered(table(T))
    assert kinds == ["Source", "Exchange", "Integrate", "NonNegative"]
    assert lowering.relation("t") == lowering.builder.sources["t"]
    assert lowering.relations["t"].key is None
    _, kinds = lowered(replace(table(T), unchecked=True))
    assert kinds == ["Source"]


def test_append_only_rows_pass_a_check() -> None:
    lowering, kinds = lowered(table(T, append_only=True))
    assert kinds == ["Source", "AppendOnly"]
    assert lowering.builder.nodes[lowering.relation("t")].operator == AppendOnly("t")
    assert lowering.relations["t"].append_only


def test_a_key_fills_in_the_row_before() -> None:
    lowering, _ = lowered(table(T, ("c", "a")))
    node = lowering.builder.nodes[lowering.relation("t")]
    assert isinstance(node.operator, Upsert)
    assert (node.operator.key, lowering.relations["t"].key) == ((2, 0), (2, 0))
    # the last of a key's upserts wins, so rows have numbers
    assert columns(lowering) == ["a", "b", "c", "d", SEQUENCE]


def test_late_rows_go_before_anything_is_stored() -> None:
    lowering, kinds = lowered(replace(table(T, ("a",)), lateness=LATE))
    assert kinds.index("OnTime") < kinds.index("Upsert")
    assert {"Late", "Frozen"} <= {*kinds}
    assert Frozen("t", (0,), tuple(lowering.builder.lateness)) in [n.operator for n in lowering.builder.nodes]


def test_defaults_come_before_lateness() -> None:
    default = replace(table(T), lateness=LATE, defaults=(Default(1, literal(7)),))
    lowering, kinds = lowered(default)
    assert kinds[:3] == ["Source", "Defaults", "OnTime"]
    assert CLOCK not in lowering.builder.lateness
    timed, _ = lowered(replace(default, defaults=(Default(1, Column(0, CLOCK.type)),)))
    assert CLOCK in timed.builder.lateness


@pytest.mark.parametrize("append_only", [False, True])
def test_an_order_of_arrival_is_kept_where_it_is_read(append_only: bool) -> None:
    plain, _ = lowered(table(T, append_only=append_only))
    assert (plain.relations["t"].arrived, columns(plain)) == (None, ["a", "b", "c", "d"])
    lowering, _ = lowered(table(T, append_only=append_only), arrives=True)
    arrived = lowering.relations["t"].arrived
    assert arrived is not None
    # a bag's retraction takes the earliest copy that is left
    assert isinstance(lowering.builder.nodes[arrived].operator, Arrival if append_only else Remaining)
    assert lowering.builder.nodes[lowering.relation("t")].schema.names == ["a", "b", "c", "d"]


def test_a_keyed_tables_arrival_is_that_of_the_last_upsert() -> None:
    lowering, kinds = lowered(table(T, ("a",)), arrives=True)
    arrived = lowering.relations["t"].arrived
    assert arrived is not None
    assert isinstance(lowering.builder.nodes[arrived].operator, Upsert)
    assert (kinds.count("Upsert"), kinds.count("Arrival")) == (2, 1)


def test_percentiles_are_of_rows_in_order() -> None:
    percentile = ColumnLateness(1, 0, None, Percentile(Decimal(5), 10, 1))
    lowering, kinds = lowered(replace(table(T), lateness=(percentile,)))
    assert columns(lowering)[-1] == SEQUENCE
    assert "LastEventTimes" in kinds
    for kind in (Source, Defaults, OnTime, NonNegative):
        assert kinds.count(kind.__name__) <= 1
