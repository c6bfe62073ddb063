"""What tables hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from dbsp.circuits.errors import StateError
from dbsp.circuits.expressions.nodes import Column
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.nodes import Project, Scan
from dbsp.sql.plans.program import ColumnLateness
from dbsp.views.tables import kept_tables, table_contents
from dbsp.views.traces import Traces
from tests.dbsp.build import EVENT, VOTES, pipeline, program, table, view


def test_a_table_is_read_as_a_view_is() -> None:
    with pipeline() as p:
        p.insert("votes", [(1, 7), (2, 7), (2, 7)])
        p.upsert("customer", [{"id": 1, "name": "a"}])
        p.step()
        p.delete("votes", [(2, 7)])
        p.upsert("customer", [{"id": 1, "name": "b"}, {"id": 2, "name": "c"}])
        p.step()
        assert p["votes"].rows() == [{"user_id": 1, "story_id": 7}, {"user_id": 2, "story_id": 7}]
        assert len(p.view("VOTES", as_of=1)) == 3
        assert p["customer"].lookup(2) == [{"id": 2, "name": "c", "joined": None}]
        assert [row["id"] for row in p["customer"].where({"name": "b"}).rows()] == [1]
        assert p["votes"].schema.names == ["user_id", "story_id"]


@pytest.mark.parametrize("key", [(), ("user_id",)])
def test_what_waits_is_no_row_of_a_table_yet(key: tuple[str, ...]) -> None:
    waiting = replace(table("votes", VOTES, key), watermarks=(ColumnLateness(1, 5, None),))
    compiled = program(
        [waiting], [view("stories", Project(Scan("votes", VOTES), (Column(1, pa.int64()),), VOTES[1:]))]
    )
    with Pipeline(compiled, runner="inline") as p:
        for number in (10, 12, 16, 17):
            p.insert("votes", [(number, number)])
            p.step()
        assert [row["user_id"] for row in p["votes"].rows()] == [10, 12]
        assert not p["votes"].where({"user_id": 16}).rows()
        p.sql("DELETE FROM votes WHERE user_id > 10")
        p.advance("votes", "story_id", 16)
        p.step()
        assert [row["user_id"] for row in p["votes"].rows()] == [10, 16], "12 was there, and 16 not yet"
        assert len(p.view("votes", as_of=2)) == 0


def test_of_a_step_before_the_table_nothing_is_there(tmp_path: Path) -> None:
    """What a later program keeps of it isn't in the state of that step."""
    first = program([table("event", EVENT)], [view("events", Scan("event", EVENT))])
    waiting = replace(table("votes", VOTES), watermarks=(ColumnLateness(1, 5, None),))
    stories = view("stories", Project(Scan("votes", VOTES), (Column(1, pa.int64()),), VOTES[1:]))
    both = program([table("event", EVENT), waiting], [view("events", Scan("event", EVENT)), stories])
    with pipeline(tmp_path, program=first) as p:
        p.step()
    with pipeline(tmp_path, program=both, evolve=True, keep_steps=5) as p:
        p.insert("votes", [(1, 1), (9, 9)])
        p.step()
        assert [row["user_id"] for row in p["votes"].rows()] == [1]
        with pytest.raises(StateError, match="table 'votes' is kept by nothing"):
            p.view("votes", as_of=1)


def test_what_nothing_keeps_is_said() -> None:
    events = table("event", EVENT, append_only=True)
    plan = Project(Scan("event", EVENT), (Column(0, EVENT[0].type),), EVENT[:1])
    compiled = program([events, table("votes", VOTES)], [view("ids", plan, append_only=True)])
    traces = Traces(compiled)
    assert kept_tables(traces) == ["votes"]
    with (
        Pipeline(compiled, runner="inline") as p,
        pytest.raises(StateError, match="SELECT \\* FROM event would"),
    ):
        table_contents(traces, p._position.state, events, p.store)
