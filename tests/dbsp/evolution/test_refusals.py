"""What can't be done is said by name, each with what to do instead; what can be isn't refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from dbsp.evolution.refusals import refusals
from dbsp.sql.plans.identity.fingerprint import fingerprint
from dbsp.sql.plans.nodes import Distinct, Scan
from dbsp.sql.plans.program import Program, Table, View
from tests.dbsp.build import EVENT, VOTES, pipeline, program, table, view
from tests.dbsp.evolution.test_change import change

TABLES = [table("votes", VOTES), table("event", EVENT, append_only=True)]
HELD = view("all_votes", Scan("votes", VOTES))
EVENTS = view("distinct_events", Distinct(Scan("event", EVENT)))


def of(*views: View, votes: Table = TABLES[0]) -> Program:
    made = program([votes, TABLES[1]], [*views])
    return replace(made, fingerprint=fingerprint(made.timezone, made.tables, made.views, ()))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    with pipeline(tmp_path / "s", program=of(HELD)) as p:
        p.store.durable = False
        p.insert("votes", [(1, 1)])
        p.insert("event", [(1, None)])
        p.step()
    return tmp_path / "s"


def test_rows_that_nothing_holds(state: Path) -> None:
    (said,) = refusals(change(state, of(HELD, EVENTS)))
    assert said == (
        "view 'distinct_events' can't be computed from what is there (nothing holds the rows of table "
        "'event', as a view of all of them would); take a new state directory, and feed it the tables from "
        "their start"
    )
    assert [*refusals(change(state, of(HELD, view("more", Distinct(Scan("votes", VOTES))))))] == []


def test_a_column_of_another_type(state: Path) -> None:
    (first, *rest) = VOTES
    other = table("votes", (replace(first, type=pa.string()), *rest))
    found = change(state, of(view("all_votes", Scan("votes", other.schema)), votes=other))
    said = [*refusals(found)]
    assert said[0] == (
        f"table 'votes': column '{first.name}' was int64 and is string, which not every value is; "
        "add a column of another name"
    )
    assert [item.why for item in found._tables() if item.name == "votes"] == [f"of another type {first.name}"]
