"""Of a view without a key, the columns that would have been one."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.sql.compiler.keys.hidden import unselected_key, with_its_key, without_views
from dbsp.sql.plans.nodes import Filter, Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field

INT = pa.int64()
SCHEMA = (Field("a", INT), Field("b", INT), Field("c", INT))
A, B, C = (Column(i, INT) for i in range(3))
KNOWN = Filter(Scan("t", SCHEMA), Call("is_not_null", (B,), pa.bool_()))


def unselected(plan: Plan, key: tuple[int, ...] | None) -> tuple[str, ...]:
    return unselected_key(plan, {"t": key})


def test_it_is_that_of_what_is_read() -> None:
    plan = Project(KNOWN, (B,), (SCHEMA[1],))
    assert unselected(plan, (0, 2)) == ("a", "c")
    assert unselected(Project(plan, (Column(0, INT),), (SCHEMA[1],)), (0,)) == ("a",)
    assert unselected(plan, None) == ()
    assert unselected(Scan("t", SCHEMA), (0,)) == ()


@pytest.mark.parametrize(
    ("selected", "made", "key"),
    [
        ((B,), (B, A, C), (1, 2)),
        ((C, B), (C, B, A), (2, 0)),
        ((B, C, C), (B, C, C, A), (3, 1)),  # the first that is it
        ((Call("add", (A, C), INT),), (Call("add", (A, C), INT), A, C), (1, 2)),
    ],
)
def test_only_what_is_not_selected_is_added(
    selected: tuple[Column, ...], made: tuple[Column, ...], key: tuple[int, ...]
) -> None:
    names = tuple(Field(f"x{i}", INT) for i in range(len(selected)))
    plan, found = with_its_key(Filter(Project(KNOWN, selected, names), KNOWN.condition), {"t": (0, 2)})
    assert isinstance(plan, Filter) and isinstance(plan.input, Project)
    assert (plan.input.expressions, found) == (made, key)
    assert plan.stream_key({"t": (0, 2)}) is not None
    assert [field.name for field in plan.schema] == [
        *(field.name for field in names),
        *(SCHEMA[one.index].name for one in made[len(names) :]),
    ]


def test_views_without_a_key_are_looked_into() -> None:
    named = Project(KNOWN, (B,), (SCHEMA[1],))
    above = Project(Scan("v", named.schema), (Column(0, INT),), named.schema)
    assert without_views(above, {"v": named}, {"t": (0,), "v": None}) == replace(above, input=named)
    assert without_views(above, {"v": named}, {"t": (0,), "v": (0,)}) == above
    assert without_views(above, {}, {"t": (0,), "v": None}) == above
