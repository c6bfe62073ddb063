"""What is queued, as a step takes it."""

from __future__ import annotations

import pyarrow as pa

from tests.dbsp.pipeline.seen import changed, rows


def test_a_bag_holds_a_row_as_often_as_it_was_inserted(p):
    p.insert("votes", [(1, 1), (1, 1)])
    p.insert("votes", [(1, 1)])
    assert changed(p.step(), "all_votes") == [(1, 1, 3)]
    assert rows(p["all_votes"]) == [(1, 1)] * 3
    assert len(p["all_votes"]) == 3
    assert p["all_votes"].to_arrow().to_pylist() == [{"user_id": 1, "story_id": 1}] * 3


def test_the_last_change_of_a_key_wins(p):
    p.insert("customer", [(7, "a", None)])
    p.upsert("customer", [{"id": 7, "name": "b"}, {"id": 8}])
    p.delete("customer", [{"id": 8}])
    assert changed(p.step(), "customers") == [(7, "b", None, 1)]
    p.delete("customer", [(7,)])
    p.insert("customer", [{"id": 7, "name": "c"}])
    assert changed(p.step(), "customers") == [(7, "b", None, -1), (7, "c", None, 1)]
    p.delete("customer", [(7, "whatever", None), (9, None, None)])
    assert changed(p.step(), "customers") == [(7, "c", None, -1)]


def test_arrow_rows_arrive_as_they_are(p):
    p.insert("votes", pa.table({"story_id": [5], "user_id": [6]}))
    assert p.step()["all_votes"].rows() == [({"user_id": 6, "story_id": 5}, 1)]
