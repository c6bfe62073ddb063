"""Projects and Filters merge where nothing is computed twice by it, and say the same."""

from __future__ import annotations

import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.plans.nodes import Distinct, Expand, Filter, Project, Values
from dbsp.sql.plans.plan import Plan
from dbsp.sql.rules.merge_projects import merge_projects
from tests.sql.hand_made import (
    BOOL,
    INT,
    T,
    assert_same_rows,
    call,
    column,
    literal,
    positive,
    project,
    schema,
)

SUM = call("add", column(0), column(1))


def test_projects_merge_unless_a_call_would_be_computed_twice() -> None:
    inner = project(T, SUM, column(2))
    once = merge_projects(project(inner, call("unary_minus", column(0)), column(1), column(1)))
    assert once == project(T, call("unary_minus", SUM), column(2), column(2))
    twice = project(inner, call("multiply", column(0), column(0)))
    assert merge_projects(twice) == twice


def test_a_project_that_changes_nothing_goes_and_renaming_stays() -> None:
    assert merge_projects(Project(T, tuple(map(column, range(4))), T.schema)) == T
    renamed = Project(T, tuple(map(column, range(4))), schema("x", "b", "c", "d"))
    assert merge_projects(renamed) == renamed
    below = Distinct(renamed)
    assert merge_projects(below) == below


def test_the_roots_names_are_kept() -> None:
    root = Filter(
        Project(T, (column(1), column(0), column(2), column(3)), schema("x", "y", "z", "a")), positive(0)
    )
    merged = merge_projects(root)
    assert merged.schema == root.schema
    assert merged == Project(Filter(T, positive(1)), root.input.expressions, root.schema)  # type: ignore[attr-defined]


def test_filters_merge_and_sink_below_columns_but_not_below_calls() -> None:
    total = call("add", column(0), column(0))
    plan = merge_projects(Filter(Filter(project(T, column(3), column(1), total), positive(0)), positive(1)))
    assert isinstance(plan, Project)
    assert plan.input == Filter(T, call("and", positive(3), positive(1), type_=BOOL))
    above = Filter(project(T, column(3), total), positive(1))
    assert merge_projects(above) == above


def test_an_expand_takes_the_project_above_it_into_each_row() -> None:
    expand = Expand(T, ((column(0), literal(1)), (column(1), literal(2))), schema("x", "n"))
    plan = merge_projects(project(expand, call("add", column(0), column(1))))
    added = ((call("add", column(0), literal(1)),), (call("add", column(1), literal(2)),))
    assert plan == Expand(T, added, schema("w"))


def test_a_filter_sinks_below_an_expand_where_all_its_rows_agree() -> None:
    expand = Expand(T, ((column(0), column(2)), (column(1), column(2))), schema("x", "c"))
    assert merge_projects(Filter(expand, positive(1))) == Expand(
        Filter(T, positive(2)), expand.projections, expand.schema
    )
    apart = Filter(expand, positive(0))
    assert merge_projects(apart) == apart


def test_constant_rows_are_chosen_at_once() -> None:
    values = Values(((literal(1), literal(2)), (literal(3), literal(4))), schema("a", "b"))
    assert merge_projects(project(values, column(1))) == Values(((literal(2),), (literal(4),)), schema("w"))
    computed = project(values, call("add", column(0), column(1)))
    assert merge_projects(computed) == computed


PLANS: dict[str, Plan] = {
    "projects": project(project(T, SUM, column(2)), call("unary_minus", column(0)), column(1)),
    "computed once": project(project(T, SUM), call("multiply", column(0), column(0))),
    "filters": Filter(Filter(project(T, column(3), column(1), SUM), positive(0)), positive(1)),
    "expand": Filter(
        project(
            Expand(T, ((column(0), column(2)), (SUM, column(2))), schema("x", "c")), column(1), column(0)
        ),
        positive(0),
    ),
    "renamed": Filter(project(T, column(1), Column(0, INT)), positive(1)),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_rows_stay_the_same(name: str) -> None:
    merged = merge_projects(PLANS[name])
    assert merged.schema == PLANS[name].schema
    assert_same_rows(PLANS[name], merged)
