"""Which tables would have to be append-only for a view to be."""

from __future__ import annotations

import pyarrow as pa

from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Distinct, Scan, Union
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Table, View
from dbsp.sql.plans.properties.promises import to_promise
from dbsp.sql.plans.schemas import Field

SCHEMA = (Field("a", pa.int64()),)


def table(name: str, *, append_only: bool = False, keyed: bool = False) -> Table:
    return Table(name, SCHEMA, ("a",) if keyed else (), append_only, False, None, {}, "p.sql:1:1")


def view(name: str, plan: Plan) -> View:
    return View(name, SCHEMA, "view", plan, False, "p.sql:2:1")


TABLES = {
    "bag": table("bag"),
    "other": table("other"),
    "log": table("log", append_only=True),
    "keyed": table("keyed", keyed=True),
}
BAG, LOG, KEYED = (Scan(name, SCHEMA) for name in ("bag", "log", "keyed"))


def test_the_tables_that_are_read_and_promise_nothing_yet() -> None:
    below = view("below", Union((BAG, LOG), SCHEMA))
    above = view("above", Distinct(Scan("below", SCHEMA)))
    assert to_promise(above, TABLES, {"below": below, "above": above}) == ["bag"]


def test_no_promise_helps_a_group_or_a_key() -> None:
    count = AggregateCall("count", (), pa.int64(), False)
    for plan in (Aggregate(LOG, (), (count,), SCHEMA), KEYED):
        one = view("one", plan)
        assert to_promise(one, TABLES, {"one": one}) == []
