"""Inner columns are named after what they hold, the root's as the user names them."""

from __future__ import annotations

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Distinct, Filter, Project, SetOperation, Union, Values
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from dbsp.sql.rules.names import names
from tests.sql.hand_made import INT, T, assert_same_rows, call, column, literal, positive, project, schema


def below_the_root(plan: Plan) -> list[str]:
    (inner,) = names(plan).inputs
    return [field.name for field in inner.schema]


def test_aliases_make_no_difference_below_the_root() -> None:
    first, second = (Distinct(project(T, call("add", column(0), column(1)), names=n)) for n in "xy")
    named = [names(plan) for plan in (first, second)]
    assert [plan.schema[0].name for plan in named] == ["x", "y"]
    assert named[0].inputs == named[1].inputs


def test_a_column_keeps_its_name_and_a_call_has_its_functions() -> None:
    cast = call("cast", column(2))
    inner = project(T, column(1), cast, call("add", column(0), column(0)), literal(1))
    assert below_the_root(project(inner, *map(column, range(4)))) == ["b", "c", "add", "literal"]
    total = AggregateCall("sum", (column(0),), INT, True)
    grouped = Aggregate(inner, (column(1),), (total,), schema("k", "n"))
    assert below_the_root(project(grouped, column(1))) == ["c", "sum"]
    values = Values(((literal(1), literal(2)),), schema("p", "q"))
    assert below_the_root(project(values, column(1))) == ["c0", "c1"]


def test_the_root_is_renamed_only_where_it_has_to_be() -> None:
    renamed = project(T, column(0), names="x")
    for root in (
        renamed,
        Union((renamed, renamed), schema("z")),
        SetOperation(renamed, renamed, "except", schema("z")),
    ):
        found = names(root)
        assert type(found) is type(root)
        assert found.schema == root.schema
    filtered = Filter(renamed, positive(0))
    assert names(filtered) == Project(
        Filter(project(T, column(0), names="a"), positive(0)), (Column(0, INT),), (Field("x", INT),)
    )
    assert names(Filter(T, positive(0))) == Filter(T, positive(0))


def test_rows_stay_the_same() -> None:
    plan = Distinct(Filter(project(T, column(1), call("add", column(0), column(2))), positive(1)))
    assert names(plan).schema == plan.schema
    assert_same_rows(plan, names(plan))
