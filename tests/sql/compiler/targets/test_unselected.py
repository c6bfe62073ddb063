"""Of a view without a key, the columns that would have been one."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.sql.compiler.targets.unselected import unselected_key
from dbsp.sql.plans.nodes import Filter, Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field

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
