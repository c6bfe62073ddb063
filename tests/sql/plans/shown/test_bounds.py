"""What bounds which state, and what is said where nothing does."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Distinct, Scan, Union
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.shown.bounds import bounds
from tests.dbsp.build import CUSTOMER, VOTES, program, table, view

COUNT = AggregateCall("count", (), pa.int64(), False)


def said(compiled):
    return {bound.operator.split(" ", 1)[1] + f" {bound.keeps}": str(bound) for bound in bounds(compiled)}


def test_keys_bound_what_is_made_of_keyed_tables():
    customers = Scan("customer", CUSTOMER)
    by_name = Aggregate(customers, (Column(1, pa.string()),), (COUNT,), (CUSTOMER[1], Field("n", pa.int64())))
    compiled = program([table("customer", CUSTOMER, ("id",))], [view("v", by_name)])
    assert all(bound.is_bounded for bound in bounds(compiled))
    lines = list(said(compiled).values())
    assert sum("bounded by the primary key of customer (id)" in line for line in lines) == 2
    assert sum("bounded by what the view v holds" in line for line in lines) == 1


def test_a_bag_grows_with_its_history():
    stories = Distinct(Scan("votes", VOTES))
    compiled = program([table("votes", VOTES, append_only=True)], [view("v", stories)])
    (trace, contents) = bounds(compiled)
    assert not trace.is_bounded
    assert "unbounded: grows with votes, which has no time to bound it by; retract old rows" in str(trace)
    assert not contents.is_bounded
    assert "unbounded: what the view v holds grows with votes" in str(contents)


def test_a_time_is_named_in_the_hint():
    events = (Field("id", pa.int64()), Field("ts", pa.timestamp("us", tz="UTC")))
    compiled = program(
        [table("event", events, append_only=True)], [view("v", Distinct(Scan("event", events)))]
    )
    (trace, _) = bounds(compiled)
    assert trace.hint.startswith("grows with event; LATENESS on event.ts bounds")


def test_groups_of_a_constant_domain_are_bounded_by_it():
    sales = (Field("region", pa.string()), Field("amount", pa.int64()))
    region = Column(0, pa.string())
    upper = Call("upper", (region,), pa.string())
    both = Call("concat", (region, Column(1, pa.int64())), pa.string())
    for key, bounded in ((region, True), (upper, True), (both, False)):
        counts = Aggregate(
            Scan("sale", sales), (key,), (COUNT,), (Field("k", pa.string()), Field("n", pa.int64(), False))
        )
        tables = [replace(table("sale", sales, append_only=True), constant_domain=("region",))]
        (groups, _) = bounds(program(tables, [view("v", counts)]))
        assert groups.is_bounded == bounded
        assert ("bounded by the constant domain of sale.region" in str(groups)) == bounded


def test_several_tables_without_a_time_are_plural():
    pairs = Union((Scan("votes", VOTES), Scan("other", VOTES)), VOTES)
    tables = [table(name, VOTES, append_only=True) for name in ("votes", "other")]
    (trace, _) = bounds(program(tables, [view("v", Distinct(pairs))]))
    assert trace.hint.startswith("grows with other, votes, which have no time to bound it by;")
    assert trace.hint.endswith("give them a PRIMARY KEY")


def test_a_bag_that_is_a_view_holds_what_the_view_holds():
    compiled = program([table("votes", VOTES)], [view("v", Scan("votes", VOTES))])
    (only,) = bounds(compiled)
    assert only.hint.startswith("what the view v holds grows with votes")


def test_a_global_count_is_one_row():
    total = Aggregate(Scan("votes", VOTES), (), (COUNT,), (Field("n", pa.int64(), False),))
    compiled = program([table("votes", VOTES, append_only=True)], [view("v", total)])
    assert ["being one row" in str(bound) for bound in bounds(compiled)] == [True, False]


def test_an_append_only_view_holds_all_of_its_rows():
    compiled = program(
        [table("votes", VOTES, append_only=True)], [view("v", Scan("votes", VOTES), append_only=True)]
    )
    (log,) = bounds(compiled)
    assert "keeps every row: user_id, story_id; unbounded: what the view v holds grows with votes" in str(log)
