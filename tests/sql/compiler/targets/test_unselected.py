"""Of a view without a key, the columns that would have been one."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.sql.compiler.targets.unselected import unselected_key, with_key, without_views
from dbsp.sql.plans.nodes import Filter, Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Table, Triggers, View
from dbsp.sql.plans.schemas import Field
from dbsp.sql.text.statements import InsertInto
from dbsp.sql.text.tokens import Slice, Token

INT = pa.int64()
SCHEMA = (Field("a", INT), Field("b", INT), Field("c", INT))
B = Column(1, INT)
KNOWN = Filter(Scan("t", SCHEMA), Call("is_not_null", (B,), pa.bool_()))


def unselected(plan: Plan, key: tuple[int, ...] | None) -> tuple[str, ...]:
    return unselected_key(plan, {"t": key})


def test_it_is_that_of_what_is_read() -> None:
    plan = Project(KNOWN, (B,), (SCHEMA[1],))
    assert unselected(plan, (0, 2)) == ("a", "c")
    assert unselected(Project(plan, (Column(0, INT),), (SCHEMA[1],)), (0,)) == ("a",)
    assert unselected(plan, None) == ()
    assert unselected(Scan("t", SCHEMA), (0,)) == ()


def test_views_without_a_key_are_looked_into() -> None:
    named = Project(KNOWN, (B,), (SCHEMA[1],))
    above = Project(Scan("v", named.schema), (Column(0, INT),), named.schema)
    assert without_views(above, {"v": named}, {"t": (0,), "v": None}) == replace(above, input=named)
    assert without_views(above, {"v": named}, {"t": (0,), "v": (0,)}) == above
    assert without_views(above, {}, {"t": (0,), "v": None}) == above


@pytest.mark.parametrize(
    ("listed", "columns", "key", "given"),
    [
        (None, "xc", "c", ["x", "c"]),
        (None, "cx", "c", ["x", "c"]),
        ("x", "cx", "c", ["x", "c"]),
        ("c", "cx", "c", None),  # it is given already
        (None, "cxy", "c", None),  # not all that isn't the key is selected
        (None, "cx", "x", None),  # another key
    ],
)
def test_a_target_with_that_key_gets_it(
    listed: str | None, columns: str, key: str, given: list[str] | None
) -> None:
    plan = Project(Filter(KNOWN, KNOWN.condition), (B,), (SCHEMA[1],))
    fields = tuple(Field(name, INT, name not in key) for name in columns)
    target = Table("w", fields, tuple(key), False, False, "noop", {}, "p.sql:1:1")
    names = None if listed is None else tuple(Token("word", name, 0, 0) for name in listed)
    statement = InsertInto("w", Slice("SELECT b FROM t", 0), 0, names)
    view = View("v", plan.schema, "view", plan, False, "p.sql:2:1")
    found = with_key(statement, view, plan, {"t": (2,)}, target, "insert into w")
    if given is None:
        assert found is None
        return
    assert found is not None and found[0].columns is not None
    assert [token.text for token in found[0].columns] == given
    assert (found[1].name, [field.name for field in found[1].schema]) == ("insert into w", ["b", "c"])
    assert found[1].plan.stream_key({"t": (2,)}) == (1,)
    assert with_key(statement, replace(view, emission=Triggers(3, None, False, "p.sql:2:1")), plan,
                    {"t": (2,)}, target, "insert into w") is None  # fmt: skip
