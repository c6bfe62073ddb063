"""A target gets the key of what is inserted, where it isn't selected."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.sql.compiler.targets.unselected import with_key
from dbsp.sql.plans.nodes import Filter, Project, Scan
from dbsp.sql.plans.program import Table, Triggers, View
from dbsp.sql.plans.schemas import Field
from dbsp.sql.text.statements.statements import InsertInto
from dbsp.sql.text.tokens import Slice, Token

INT = pa.int64()
SCHEMA = (Field("a", INT), Field("b", INT), Field("c", INT))
B = Column(1, INT)
KNOWN = Filter(Scan("t", SCHEMA), Call("is_not_null", (B,), pa.bool_()))


@pytest.mark.parametrize(
    ("listed", "columns", "key", "given"),
    [
        (None, "xc", "c", ["x", "c"]),
        (None, "cx", "c", ["x", "c"]),
        ("x", "cx", "c", ["x", "c"]),
        ("c", "cx", "c", None),  # it is given already
        (None, "cxy", "c", None),  # not all that isn't the key is selected
        (None, "cx", "x", None),  # another key
        ("x", "cxy", "cx", None),
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


def test_what_is_selected_of_the_key_is_no_column_more() -> None:
    plan = Project(KNOWN, (B, Column(0, INT)), (SCHEMA[1], SCHEMA[0]))
    target = Table(
        "w", tuple(Field(name, INT) for name in "cxy"), ("c", "y"), False, False, "noop", {}, "p.sql:1:1"
    )
    statement = InsertInto("w", Slice("SELECT b, a FROM t", 0), 0, None)
    view = View("v", plan.schema, "view", plan, False, "p.sql:2:1")
    found = with_key(statement, view, plan, {"t": (0, 2)}, target, "insert into w")
    assert found is not None and found[0].columns is not None
    assert [token.text for token in found[0].columns] == ["x", "y", "c"]
    other = replace(target, primary_key=("x", "c"))
    assert with_key(statement, view, plan, {"t": (0, 2)}, other, "insert into w") is None
