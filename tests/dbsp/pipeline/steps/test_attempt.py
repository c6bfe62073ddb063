"""A step that fails changes nothing, whatever fails, and can be tried again."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import DataError, Error, StateError
from dbsp.pipeline.pipeline import Pipeline
from tests.dbsp.pipeline.seen import changed, files, rows

# what is done, and what the error must hold
MISTAKES = [
    (lambda p: p.insert("vtes", [(1, 1)]), ["unknown table 'vtes'", "votes, customer, event", "'votes'?"]),
    (
        lambda p: p.insert("votes", [(1, 1), ("x", 1)]),
        ["'votes', row 1", "'x'", "'user_id' (BIGINT)", "an int"],
    ),
    (lambda p: p.upsert("votes", [(1, 1)]), ["'votes' has no PRIMARY KEY", "use insert"]),
    (lambda p: p.delete("event", [(1, 1)]), ["'event' is append-only"]),
    (lambda p: p.upsert("customer", [{"name": "x"}]), ["'customer', row 0", "'id'", "NOT NULL"]),
    (lambda p: p.step(clock="2024-01-01"), ["clock is '2024-01-01'; give a datetime.datetime"]),
    (
        lambda p: Pipeline("CREATE VIEW v\nAS SELECT 1 AS a"),
        ["program is the name of a file; give", 'sql="..."'],
    ),
    (lambda p: Pipeline("CREATE VIEW v AS SELECT 1 AS a;"), ["program is the name of a file"]),
    (
        lambda p: Pipeline(sql="p.sql"),
        ['sql is a program\'s text; give the name of a file as Pipeline("p.sql")'],
    ),
    (lambda p: p["nothing"], ["unknown view 'nothing'", "all_votes, counts, customers, events"]),
    (lambda p: p["hidden"], ["'hidden' is LOCAL", "CREATE VIEW"]),
]


@pytest.mark.parametrize(("mistake", "said"), MISTAKES, ids=[said[0] for _, said in MISTAKES])
def test_a_mistake_is_explained_and_changes_nothing(p, mistake, said):
    p.insert("votes", [(1, 1)])
    before = p.queued, files(p)
    with pytest.raises(Error) as caught:
        mistake(p)
    for words in said:
        assert words in str(caught.value)
    assert (p.queued, files(p)) == before
    p.step()
    assert rows(p["all_votes"]) == [(1, 1)]


def test_a_step_that_fails_changes_nothing_and_can_be_tried_again(p):
    p.insert("votes", [(1, 1)])
    p.step()
    before = files(p)
    p.delete("votes", [(1, 1), (2, 2)])
    for _ in range(2):
        with pytest.raises(
            DataError, match=r"^step 2: table 'votes': can't retract the row \(user_id=2, story_id=2\)"
        ):
            p.step()
        assert (p.last_step, files(p), p.queued) == (1, before, {"votes": 2})
        assert rows(p["counts"]) == [(1, 1)]
    p.insert("votes", [(2, 2)])  # makes the delta legal
    assert changed(p.step(), "all_votes") == [(1, 1, -1)]


def test_the_queue_can_be_given_up(p):
    p.delete("votes", [(2, 2)])
    p.discard()
    assert p.queued == {}
    assert p.step().step == 1


def test_a_runner_that_dies_changes_nothing(p, monkeypatch):
    p.insert("votes", [(1, 1)])
    before = files(p)
    run = p.runner.run

    def die(work):
        run(work)
        raise KeyboardInterrupt

    monkeypatch.setattr(p.runner, "run", die)
    with pytest.raises(KeyboardInterrupt):
        p.step()
    assert (files(p), p.queued, p.last_step) == (before, {"votes": 1}, 0)
    monkeypatch.undo()
    assert changed(p.step(), "counts") == [(1, 1, 1)]


def test_a_full_disk_changes_nothing(p, monkeypatch):
    p.insert("votes", [(1, 1)])
    before = files(p)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dbsp.state.recording.create_whole", full)
    with pytest.raises(StateError, match="step 1 was not committed: No space left on device"):
        p.step()
    monkeypatch.undo()
    assert (files(p), p.queued) == (before, {"votes": 1})
    assert changed(p.step(), "counts") == [(1, 1, 1)]
