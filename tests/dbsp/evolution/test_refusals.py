"""What can't be gone on with is named, with what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from dbsp.evolution.refusals import refusals_of
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import EVENT, VOTES, pipeline, view
from tests.dbsp.evolution.changing import BY_USER, OLD, change, with_


def test_what_can_be_computed_is_not_refused(state: Path) -> None:
    assert [*refusals_of(change(state, with_(by_user=BY_USER, counts=None)))] == []


def test_each_table_says_its_own(state: Path) -> None:
    narrow = replace(OLD.tables["votes"], schema=(replace(VOTES[0], type=pa.int32()), VOTES[1]))
    columns = (*OLD.tables["event"].schema, Field("added", pa.string(), False))
    wide = replace(OLD.tables["event"], schema=columns)
    program = with_({"votes": narrow, "event": wide}, all_votes=None, counts=None, hidden=None, events=None)
    first, second, third = refusals_of(change(state, program))
    assert "column 'user_id' was bigint and is int" in first and "table 'votes'" in first
    assert "column 'added' is NOT NULL" in second and "give it a DEFAULT" in second
    assert third.startswith("table 'votes' can't be computed from what is there")


def test_a_view_of_rows_that_nothing_holds_says_how_to_have_them(state: Path) -> None:
    pipeline(
        state, program=with_(events=None), evolve=True
    ).close()  # which held the rows of an append-only table
    (said,) = refusals_of(change(state, with_(events=view("events", Scan("event", EVENT), append_only=True))))
    assert "view 'events' can't be computed" in said and "nothing holds the rows of table 'event'" in said
    assert "feed it the tables from their start" in said
