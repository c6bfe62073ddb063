"""A trace that is there serves all who read its rows by its key: nothing keeps them a second time."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.nodes import Join, Scan, Top
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import CUSTOMER, EVENT, VOTES, table, view
from tests.generators.strategies import seeded_program
from tests.oracles.recorded_catalyst import KNOWN, compile_recorded

TABLES = {
    one.name: one
    for one in (
        table("votes", VOTES),
        table("customer", CUSTOMER, ("id",)),
        table("event", EVENT, append_only=True),
    )
}
VOTE, CUSTOMERS, EVENTS = Scan("votes", VOTES), Scan("customer", CUSTOMER), Scan("event", EVENT)
ID, AMOUNT = Column(0, pa.int64(), False), Column(1, EVENT[1].type)
JOINED = Join(VOTE, CUSTOMERS, "inner", (Column(0, pa.int64()),), (ID,), (False,), None, (*VOTES, *CUSTOMER))
FIRST = Top(
    EVENTS,
    (Column(0, pa.int32()),),
    (SortOrder(AMOUNT, False, False),),
    "rank",
    2,
    True,
    (*EVENT, Field("rank", pa.int32(), False)),
)


@pytest.mark.parametrize(
    ("plan", "kept"),
    [(CUSTOMERS, 2), (JOINED, 4), (FIRST, 3)],
    ids=["a keyed table", "a join by its key", "the first of appends"],
)
def test_rows_are_kept_once(plan: Plan, kept: int) -> None:
    """kept: traces, among them the keyed table's own and the bag's."""
    shown = {"v": view("v", plan)}
    together, apart = (lower(TABLES, shown, apart=each) for each in (False, True))
    assert len(together.layouts) == kept
    assert len(apart.layouts) > kept
    assert together.output("v").kept in together.layouts
    # a state of before is read as one of now
    assert set(together.names.values()) <= set(apart.names.values())


@pytest.mark.parametrize("seed", range(KNOWN))
def test_no_program_keeps_the_same_twice(seed: int) -> None:
    """A second trace of one meaning and place would be named after the first."""
    names = compile_recorded(seeded_program(seed).text).circuit.names.values()
    assert not [name for name in names if "." in name]
