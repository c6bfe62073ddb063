"""Steps: their numbers, their clock, what they say of themselves, and the end of all input."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.dbsp.build import pipeline, settle
from tests.dbsp.pipeline.seen import changed, files, rows


def test_steps_are_numbered_and_may_be_empty(p):
    assert p.last_step == 0
    assert [p.step().step, p.step().step, p.last_step] == [1, 2, 2]
    assert len(p.step()["counts"]) == 0


def test_metrics(p):
    p.insert("votes", [(1, 1), (2, 1)])
    p.upsert("customer", [{"id": 1}])
    metrics = p.step().metrics
    assert metrics.rows_in == {"votes": 2, "customer": 1, "event": 0}
    assert metrics.rows_out == {"all_votes": 2, "counts": 1, "customers": 1, "events": 0}
    assert (metrics.late_rows, metrics.waterlines) == (0, {})
    assert metrics.seconds >= sum(metrics.level_seconds.values()) > 0
    keyed = next(name for name in metrics.state_rows if "Upsert customer" in name)
    assert metrics.state_rows[keyed] == 1
    assert metrics.state_bytes[keyed] > 0
    assert len(repr(metrics)) < 500


def test_state_doesn_t_grow_when_nothing_changes(p):
    p.insert("votes", [(user, user % 3) for user in range(50)])
    p.step()
    for _ in range(30):
        p.step()
    settle(p)
    assert len(files(p)["commits"] - {"last"}) == 10
    assert len(files(p)["segments"]) <= 2


@pytest.mark.parametrize("partitions", [1, 2, 5])
def test_partitions_don_t_show(partitions):
    with pipeline(partitions=partitions) as p:
        for step in range(3):
            p.insert("votes", [(user, user % 7) for user in range(step, 40)])
            p.upsert("customer", [{"id": user, "name": str(step)} for user in range(step, 9)])
            changes = p.step()
        assert changed(changes, "customers")[0] == (2, "1", None, -1)
        votes = Counter(user % 7 for step in range(3) for user in range(step, 40))
        assert rows(p["counts"]) == sorted(votes.items())


def test_a_request_is_known_by_the_step_that_it_made(p):
    p.insert("votes", [(1, 1)])
    assert p.step(request="first").step == 1
    p.step()
    assert (p.requested("first"), p.requested("other")) == (1, None)


def test_the_end_of_all_input_is_a_step_where_something_is_queued(p):
    p.insert("votes", [(1, 1)])
    assert changed(p.finish(), "counts") == [(1, 1, 1)]
    assert (p.finish(), p.last_step) == (None, 1)
