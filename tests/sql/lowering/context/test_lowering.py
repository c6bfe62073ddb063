"""What lowering shares: equal plans are one node, and a projection that changes nothing is none."""

from __future__ import annotations

import pytest

from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.lowering.context.lowering import Lowering, Relation
from dbsp.sql.lowering.program import KINDS
from dbsp.sql.lowering.tables import lower_table
from dbsp.sql.plans.nodes import Distinct, Filter, Join
from tests.sql.hand_made import T, U, call, column, positive, project, schema, table


@pytest.fixture
def lowering() -> Lowering:
    made = Lowering(KINDS)
    for scan in (T, U):
        lower_table(made, table(scan, append_only=scan is U), arrives=False)
    return made


def test_equal_plans_of_any_view_are_one_node(lowering: Lowering) -> None:
    first = lowering.plan(Distinct(Filter(T, positive(0))))
    count = len(lowering.builder.nodes)
    assert lowering.plan(Distinct(Filter(T, positive(0)))) == first
    assert len(lowering.builder.nodes) == count
    assert lowering.plan(Distinct(Filter(T, positive(1)))) != first


def test_a_projection_of_all_columns_in_order_is_its_input(lowering: Lowering) -> None:
    node = lowering.plan(T)
    assert lowering.map(node, tuple(map(column, range(4))), schema("w", "x", "y", "z")) == node
    for expressions in (
        (column(1), column(0), column(2), column(3)),
        (column(0),),
        (call("abs", column(0)),),
    ):
        made = lowering.map(node, expressions, schema("w", "x", "y", "z")[: len(expressions)])
        assert made != node
        assert lowering.builder.nodes[made].schema.names == list("wxyz")[: len(expressions)]


def test_whole_rows_are_integrated_where_they_lie(lowering: Lowering) -> None:
    node = lowering.plan(project(T, column(2), column(0)))
    placed = lowering.builder.placed(node, (1,))
    trace = lowering.builder.nodes[lowering.integrated_rows(placed)]
    assert trace.operator == Integrate((1,))
    assert trace.inputs == (placed,)
    (anywhere,) = lowering.builder.nodes[lowering.integrated_rows(node)].inputs
    assert lowering.builder.nodes[anywhere].operator == Exchange((0, 1))


def test_what_is_known_of_relations(lowering: Lowering) -> None:
    assert lowering.append_only(Distinct(U))
    assert not lowering.append_only(Distinct(T))
    lowering.relations["t"] = Relation(lowering.relation("t"), False, (0,))
    assert lowering.stream_key(Filter(T, positive(1))) == (0,)
    assert lowering.stream_key(U) is None
    both = Join(T, U, "semi", (column(0),), (column(0),), (False,), None, T.schema)
    assert lowering.stream_key(both) == (0,)


def test_the_clock_is_watched_once(lowering: Lowering) -> None:
    lowering.watch_clock()
    lowering.watch_clock()
    assert lowering.builder.lateness == [CLOCK]
