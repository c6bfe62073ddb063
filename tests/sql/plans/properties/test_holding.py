"""What keeps a node's contents from growing for ever, and who has nothing that does."""

from __future__ import annotations

from dataclasses import replace

from dbsp.circuits.operators.operator import Reasons
from dbsp.sql.plans.calls import AggregateCall, SortOrder
from dbsp.sql.plans.nodes import Aggregate, Distinct, Filter, Join, Top
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.plans.properties.holding import constant_domain, held, key_of
from tests.dbsp.build import program
from tests.sql.hand_made import INT, T, U, call, column, positive, project, schema, table, view

COUNT = AggregateCall("count", (), INT, False)
KEYED, BAG = table(T, ("a", "b")), table(U)
CLOSED = replace(BAG, constant_domain=("a", "b"))
BY_KEY = ("the primary key of t (a, b)",)


def compiled(plan: Plan, *tables: Table) -> Program:
    return program([*tables], [view("v", plan)])


def reasons(plan: Plan, *tables: Table) -> Reasons | None:
    """Of the view's contents."""
    made = compiled(plan, *tables)
    return held(made, made.circuit.output("v").kept)


def join(left: Plan, right: Plan, kind: str = "inner") -> Join:
    return Join(
        left,
        right,
        kind,
        (column(0),),
        (column(0),),
        (False,),
        None,
        join_schema(kind, left.schema, right.schema),
    )


def grouped(below: Plan, *keys: int) -> Aggregate:
    return Aggregate(below, tuple(map(column, keys)), (COUNT,), schema(*(f"k{i}" for i in keys), "n"))


def test_rows_of_a_keyed_table_are_its_keys_at_most() -> None:
    assert key_of(KEYED) == BY_KEY[0]
    for plan in (T, Filter(T, positive(2)), Distinct(T), grouped(T, 2), project(T, column(3))):
        assert reasons(plan, KEYED) == BY_KEY, plan


def test_a_bag_grows() -> None:
    for plan in (U, Filter(U, positive(2)), Distinct(U), grouped(U, 2), grouped(U, 0)):
        assert reasons(plan, BAG) is None, plan


def test_groups_are_as_many_as_their_keys_have_values() -> None:
    assert reasons(grouped(U, 0, 1), CLOSED) == ("the constant domain of u.a and u.b",)
    assert reasons(grouped(Filter(U, positive(3)), 1), CLOSED) == ("the constant domain of u.b",)
    assert reasons(grouped(U, 0, 2), CLOSED) is None
    assert reasons(grouped(U), BAG) == ("being one row",)
    sum_ = project(U, call("add", column(0), column(1)))
    assert reasons(grouped(sum_, 0), CLOSED) is None


def test_a_join_needs_it_of_both_sides_and_a_semi_join_of_one() -> None:
    assert reasons(join(T, U), KEYED, BAG) is None
    assert reasons(join(T, grouped(U, 0)), KEYED, CLOSED) == (*BY_KEY, "the constant domain of u.a")
    assert reasons(join(T, U, "semi"), KEYED, BAG) == BY_KEY
    assert reasons(join(U, T, "semi"), KEYED, BAG) is None


def test_the_first_few_rows() -> None:
    first = Top(U, (), (SortOrder(column(1)),), "row_number", 3, False, U.schema)
    assert reasons(first, BAG) == ("being the first 3 rows",)
    ties = replace(first, ranking="rank")
    assert reasons(ties, BAG) is None
    assert reasons(ties, replace(BAG, append_only=True)) is None
    of_each = replace(first, partition=(column(0),))
    assert reasons(of_each, BAG) is None
    assert reasons(of_each, CLOSED) == ("the constant domain of u.a",)


def test_domains_of_columns() -> None:
    made = compiled(U, CLOSED)
    source = made.circuit.sources["u"]
    assert constant_domain(made, source, (1,)) == "the constant domain of u.b"
    assert constant_domain(made, source, (1, 2)) is None
    assert constant_domain(made, source, ()) == "being one row"
