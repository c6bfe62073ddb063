"""What counts as a record of a view's key: a row of what it aggregates."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.sql.lowering.emission.records import aggregated
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Distinct, Filter, Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field

INT = pa.int64()
T = Scan("t", (Field("a", INT), Field("b", INT)))
A, B = Column(0, INT), Column(1, INT)
NEXT = Call("add", (A, B), INT)
COUNT = AggregateCall("count", (), INT, False)


def test_the_key_of_a_group_is_over_its_input() -> None:
    grouped = Aggregate(T, (B, NEXT), (COUNT,), (Field("b", INT), Field("sum", INT), Field("n", INT)))
    assert aggregated(grouped, (A, B)) == (T, (B, NEXT))
    shown: Plan = Project(Filter(grouped, Call("is_not_null", (A,), pa.bool_())), (B, A), T.schema)
    assert aggregated(shown, (A,)) == (T, (NEXT,))
    assert aggregated(Distinct(T), (B,)) == (T, (B,))


def test_a_key_that_was_aggregated_is_of_no_row() -> None:
    grouped = Aggregate(T, (B,), (COUNT,), (Field("b", INT), Field("n", INT)))
    assert aggregated(grouped, (B,)) is None
    assert aggregated(Filter(T, Call("is_not_null", (A,), pa.bool_())), (A,)) is None
