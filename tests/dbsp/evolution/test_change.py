"""What a change of program keeps, back-fills and drops, by table and view, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from dbsp.evolution.change import Change
from dbsp.sql.plans.program import Program
from dbsp.state.store import Store
from tests.dbsp.build import CUSTOMER, EVENT, VOTES, feed, pipeline, table
from tests.dbsp.evolution.test_evolve import BY_USER, OLD, with_


@pytest.fixture
def state(tmp_path: Path) -> Path:
    with pipeline(tmp_path / "s", program=OLD) as p:
        p.store.durable = False
        feed(p)
    return tmp_path / "s"


def change(state: Path, program: Program) -> Change:
    store, before = Store.read(state)
    assert store.last is not None
    return Change(program, before, store.last)


def test_the_same_program_keeps_everything(state: Path) -> None:
    same = change(state, OLD)
    assert same.is_same
    assert same.missing == []
    assert {*same.kept} == {*OLD.circuit.names.values()}


def test_views_are_what_their_traces_are(state: Path) -> None:
    """A renamed view is the same trace; one of another query is not; one more reads what is there."""
    renamed = with_(counts=None, tallies=replace(OLD.views["counts"], name="tallies"))
    found = change(state, renamed)
    assert found.missing == []
    assert "kept         view tallies: was 'counts'" in found.plan.lines()
    assert found.plan.of("dropped") == []
    other = change(state, with_(counts=replace(BY_USER, name="counts")))
    assert [*other.changed] == ["counts"]
    assert "back-filled  view counts: it is computed otherwise" in other.plan.lines()
    more = change(state, with_(by_user=BY_USER))
    assert (more.plan.of("back-filled"), [*more.changed]) == (["by_user"], [])
    assert all(name in more.new.traces for name in more.kept)


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
        said += [item.why for item in found._tables() if item.name == "votes"]
    assert said == [f"of another type {key.name}"] * 2
