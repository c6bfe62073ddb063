"""What a pipeline answers: views by name, as of any step that is kept."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import StateError
from tests.dbsp.build import pipeline
from tests.dbsp.pipeline.seen import rows


def test_contents_as_pandas(p):
    p.insert("votes", [(1, 2), (1, 3)])
    p.step()
    assert p["counts"].to_pandas().sort_values("story_id").values.tolist() == [[2, 1], [3, 1]]


def test_tables_and_views_are_found_in_any_case(p):
    p.insert("VOTES", [(1, 1)])
    p.step()
    assert rows(p["COUNTS"]) == [(1, 1)]


def test_a_view_as_of_an_earlier_step(p):
    for user in range(12):
        p.insert("votes", [(user, 1)])
        p.step()
    assert [rows(p.view("counts", as_of=step)) for step in (3, 11, 12)] == [[(1, 3)], [(1, 11)], [(1, 12)]]
    assert p.changes_of("counts", 4).rows() == [({"story_id": 1, "n": 3}, -1), ({"story_id": 1, "n": 4}, 1)]
    for gone in (0, 2, 13):
        with pytest.raises(StateError, match=rf"step {gone} is not kept; steps 3 to 12 are"):
            p.view("counts", as_of=gone)


def test_contents_stay_as_they_were(p):
    p.insert("votes", [(1, 1)])
    p.step()
    before = p["counts"]
    for user in range(15):
        p.insert("votes", [(user, 1)])
        p.step()
    assert rows(before) == [(1, 1)]


def test_a_pipeline_is_a_mapping_of_its_views():
    with pipeline() as p:
        assert list(p) == p.views == ["all_votes", "counts", "customers", "events"]
        assert p.tables == ["votes", "customer", "event"]
        assert "counts" in p
        assert "COUNTS" in p
        assert "votes" not in p
        p.insert("votes", [(1, 2)])
        p.step()
        assert {name: len(view) for name, view in dict(p).items()} == {
            "all_votes": 1,
            "counts": 1,
            "customers": 0,
            "events": 0,
        }
