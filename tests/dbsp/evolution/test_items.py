"""What becomes of each table and view, in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from dbsp.evolution.items import items_of
from tests.dbsp.build import CUSTOMER, EVENT, VOTES, table
from tests.dbsp.evolution.changing import BY_USER, OLD, change, with_


def test_views_are_what_their_traces_are(state: Path) -> None:
    """A renamed view is the same trace; one of another query is not; one more reads what is there."""
    renamed = with_(counts=None, tallies=replace(OLD.views["counts"], name="tallies"))
    found = change(state, renamed)
    assert "kept         view tallies: was 'counts'" in found.plan.lines()
    assert found.plan.of("dropped") == []
    other = change(state, with_(counts=replace(BY_USER, name="counts")))
    assert "back-filled  view counts: it is computed otherwise" in other.plan.lines()
    more = change(state, with_(by_user=BY_USER))
    assert more.plan.of("back-filled") == ["by_user"]


def test_tables_come_go_and_get_columns(state: Path) -> None:
    more = (*EVENT, replace(EVENT[0], name="added"))
    new = {"event": replace(OLD.tables["event"], schema=more), "late": table("late", VOTES)}
    found = change(state, with_(new, events=None)).plan
    assert [line for line in found.lines() if " table " in line] == [
        "kept         table votes",
        "kept         table customer",
        "kept         table event: with added",
        "new          table late",
    ]


def test_another_key_is_of_the_same_rows(state: Path) -> None:
    other = with_({"customer": table("customer", CUSTOMER, ("name",))}, customers=None)
    plan = change(state, other).plan
    assert not plan.refused
    assert "kept         table customer: the key is name, by which its rows must be apart" in plan.lines()
    without = with_({"customer": table("customer", CUSTOMER)}, customers=None)
    assert "kept         table customer: without a key" in change(state, without).plan.lines()


def test_of_a_column_that_isn_t_wider_it_doesn_t_say_so(state: Path) -> None:
    (key, *rest) = OLD.tables["votes"].schema
    said = []
    for kind in (pa.string(), pa.int32()):
        votes = replace(OLD.tables["votes"], schema=(replace(key, type=kind), *rest))
        found = change(state, replace(OLD, fingerprint="other", tables={**OLD.tables, "votes": votes}))
        said += [item.why for item in items_of(found) if item.name == "votes"]
    assert said == [f"of another type {key.name}"] * 2
