"""The pipeline: what is queued, what a step makes of it, and what stays as it was when it fails."""

from __future__ import annotations

import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pyarrow as pa
import pytest

import dbsp
from dbsp.circuits.errors import DataError, Error, ProgramError, StateError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.plan import Scan
from tests.dbsp.build import VOTES, pipeline, program, table, view, votes_program


def rows(contents):
    return [tuple(row.values()) for row in contents.rows()]


def changed(changes, view_):
    return [(*row.values(), weight) for row, weight in changes[view_].rows()]


@pytest.fixture
def p():
    with pipeline() as opened:
        yield opened


def files(p):
    return {name: set(os.listdir(p.store.root / name)) for name in ("segments", "commits")}


def test_the_votes(p):
    p.insert("votes", [(1, 1), (2, 1), (3, 2)])
    first = p.step()
    assert changed(first, "counts") == [(1, 2, 1), (2, 1, 1)]
    p.delete("votes", [{"user_id": 1, "story_id": 1}])
    assert changed(p.step(), "counts") == [(1, 1, 1), (1, 2, -1)]
    assert rows(p["counts"]) == [(1, 1), (2, 1)]
    assert changed(first, "counts") == [(1, 2, 1), (2, 1, 1)]


def test_steps_are_numbered_and_may_be_empty(p):
    assert p.last_step == 0
    assert [p.step().step, p.step().step, p.last_step] == [1, 2, 2]
    assert len(p.step()["counts"]) == 0


def test_a_bag_holds_a_row_as_often_as_it_was_inserted(p):
    p.insert("votes", [(1, 1), (1, 1)])
    p.insert("votes", [(1, 1)])
    assert changed(p.step(), "all_votes") == [(1, 1, 3)]
    assert rows(p["all_votes"]) == [(1, 1)] * 3
    assert len(p["all_votes"]) == 3
    assert p["all_votes"].to_arrow().to_pylist() == [{"user_id": 1, "story_id": 1}] * 3


def test_changes_as_arrow(p):
    p.insert("votes", [(1, 2)])
    assert p.step()["all_votes"].to_arrow().to_pylist() == [{"user_id": 1, "story_id": 2, "__weight": 1}]
    empty = p.step()["counts"].to_arrow()
    assert (empty.num_rows, empty.schema.names) == (0, ["story_id", "n", "__weight"])


def test_contents_as_pandas(p):
    p.insert("votes", [(1, 2), (1, 3)])
    p.step()
    assert p["counts"].to_pandas().sort_values("story_id").values.tolist() == [[2, 1], [3, 1]]


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


def test_subscribers_are_called_after_the_commit(p):
    seen = []
    p.subscribe("counts", lambda step, changes: seen.append((step, p.last_step, changes.rows())))
    p.insert("votes", [(1, 1)])
    p.step()
    assert seen == [(1, 1, [({"story_id": 1, "n": 1}, 1)])]
    with pytest.raises(ProgramError, match=r"unknown view 'cuonts'; .*did you mean 'counts'"):
        p.subscribe("cuonts", print)


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


def test_changes_are_a_mapping_of_output_views(p):
    changes = p.step()
    assert list(changes) == ["all_votes", "counts", "customers", "events"]
    assert "hidden" not in changes
    assert changes.get("nothing") is None
    assert changes["COUNTS"] is changes["counts"]
    with pytest.raises(ProgramError, match="unknown view 'nothing'; views: all_votes, counts"):
        changes["nothing"]


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

    monkeypatch.setattr("dbsp.state.store.create_whole", full)
    with pytest.raises(StateError, match="step 1 was not committed: No space left on device"):
        p.step()
    monkeypatch.undo()
    assert (files(p), p.queued) == (before, {"votes": 1})
    assert changed(p.step(), "counts") == [(1, 1, 1)]


def test_state_survives_the_process(tmp_path):
    with pipeline(tmp_path) as p:
        p.insert("votes", [(1, 1), (2, 1)])
        p.upsert("customer", [(7, "a", datetime(2024, 1, 1, tzinfo=UTC))])
        p.step(clock=datetime(2024, 1, 1))
        p.insert("votes", [(3, 1)])  # queued, never stepped
    with pipeline(tmp_path) as p:
        assert (p.last_step, rows(p["counts"])) == (1, [(1, 2)])
        assert p.store.last.clock == datetime(2024, 1, 1, tzinfo=UTC)
        p.delete("customer", [(7,)])
        p.delete("votes", [(1, 1)])
        assert changed(p.step(), "counts") == [(1, 1, 1), (1, 2, -1)]
        assert rows(p["customers"]) == []
        assert rows(p.view("counts", as_of=1)) == [(1, 2)]


def test_state_of_another_program_is_refused(tmp_path):
    with pipeline(tmp_path) as p:
        p.step()
    with pytest.raises(StateError, match="which differs from"):
        pipeline(tmp_path, program=votes_program("f2"))


def test_a_program_that_made_no_step_may_be_corrected(tmp_path):
    pipeline(tmp_path).close()
    (tmp_path / "checkpoint").mkdir()
    with pipeline(tmp_path, program=votes_program("f2")) as p:
        assert not (tmp_path / "checkpoint").exists()
        p.step()
    with pytest.raises(StateError, match="which differs from"):
        pipeline(tmp_path)


def test_state_doesn_t_grow_when_nothing_changes(p):
    p.insert("votes", [(user, user % 3) for user in range(50)])
    p.step()
    for _ in range(30):
        p.step()
    assert len(files(p)["commits"] - {"last"}) == 10
    assert len(files(p)["segments"]) <= 2


def test_a_micro_batch_is_committed_once(tmp_path):
    with pipeline(tmp_path) as p:
        assert not p.committed("q", 0)
        p.step(stream="q", batch=0, offsets={"votes": 5})
        p.step()  # from the API, between two micro-batches
    with pipeline(tmp_path) as p:
        assert p.committed("q", 0)
        assert not p.committed("q", 1)
        assert p.store.last.offsets == {"votes": 5}
        with pytest.raises(StateError, match="is behind its checkpoint"):
            p.committed("q", 2)
        with pytest.raises(StateError, match="fed by another streaming query"):
            p.committed("other", 1)


def test_closed_is_closed():
    p = pipeline()
    root = p.store.root
    p.close()
    p.close()
    assert not root.exists()
    for use in (lambda: p.insert("votes", [(1, 1)]), p.step, lambda: p["counts"]):
        with pytest.raises(StateError, match="the pipeline is closed"):
            use()


def test_closing_waits_for_the_step_of_another_thread(tmp_path, monkeypatch):
    p = pipeline(tmp_path / "state")
    running, go_on = threading.Event(), threading.Event()
    run = p.runner.run

    def held(work):
        running.set()
        assert go_on.wait(60)
        return run(work)

    monkeypatch.setattr(p.runner, "run", held)
    p.insert("votes", [(1, 1)])
    with ThreadPoolExecutor(2) as threads:
        step = threads.submit(p.step)
        assert running.wait(60)
        closing = threads.submit(p.close)
        go_on.set()
        assert step.result().step == 1
        closing.result()
    with pytest.raises(StateError, match="the pipeline is closed"):
        p.step()
    with pipeline(tmp_path / "state") as again:
        assert again.last_step == 1


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


def test_negative_contents_can_t_be_listed():
    compiled = program([table("votes", VOTES, unchecked=True)], [view("v", Scan("votes", VOTES))])
    with pipeline(program=compiled) as p:
        p.delete("votes", [(1, 1)])
        assert changed(p.step(), "v") == [(1, 1, -1)]
        with pytest.raises(DataError, match=r"view 'v' has the row .* -1 times"):
            p["v"].rows()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "either a program file or sql"),
        ({"program": votes_program(), "sql": "x"}, "either a program file or sql"),
        ({"program": votes_program(), "runner": "flink"}, "unknown runner 'flink'; runners: spark, inline"),
        ({"program": votes_program(), "runner": "inline", "partitions": 0}, "needs at least 1"),
        ({"program": votes_program(), "runner": "inline", "retain": 0}, "use retain=1 or more"),
        ({"program": votes_program(), "runner": "inline", "max_undelivered": -1}, "needs at least 0"),
        ({"program": "nowhere.sql", "runner": "inline"}, "nowhere.sql: can't read the program"),
    ],
)
def test_wrong_options(options, said):
    with pytest.raises(dbsp.Error, match=said):
        Pipeline(**options)


def test_the_package_exports_what_it_says():
    assert dbsp.Pipeline is Pipeline
    assert issubclass(dbsp.EvaluationError, dbsp.DataError)
    with pytest.raises(AttributeError, match="no attribute 'Pipelin'"):
        _ = dbsp.Pipelin


@pytest.mark.spark
def test_contents_as_a_dataframe(spark):
    with pipeline(spark=spark) as p:
        p.insert("votes", [(1, 2), (1, 2)])
        p.insert("customer", [(7, "a", datetime(2024, 1, 1, tzinfo=UTC))])
        p.step()
        assert [tuple(row) for row in p["all_votes"].to_spark().collect()] == [(1, 2), (1, 2)]
        assert p["customers"].to_spark().toArrow().to_pylist() == p["customers"].rows()


def test_arrow_rows_arrive_as_they_are(p):
    p.insert("votes", pa.table({"story_id": [5], "user_id": [6]}))
    assert p.step()["all_votes"].rows() == [({"user_id": 6, "story_id": 5}, 1)]


def test_a_pipeline_is_a_mapping_of_its_views():
    with pipeline() as p:
        assert list(p) == ["all_votes", "counts", "customers", "events"]
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


def test_what_is_no_classic_session_is_refused():
    with pytest.raises(Error, match="spark= is no classic SparkSession; one of Spark Connect can't run"):
        Pipeline(
            sql="CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t;", spark=object(), runner="inline"
        )


def test_opening_reads_nothing_and_a_step_what_it_looks_into(tmp_path):
    """Rows are compared with their checksums when they are first read; or all at once, or never."""

    def read(p):
        return sum(chunk.rows for chunks in p.store.segments._verified.values() for chunk in chunks)

    with pipeline(tmp_path) as p:
        for story in range(3):
            p.insert("votes", [(user, story) for user in range(5000)])
            p.step()
        everything = sum(spine.rows for spine in p._position.state.spines.values())
    with pipeline(tmp_path) as p:
        assert read(p) == 0
        p.insert("event", [(1, None)])
        p.step()
        assert read(p) <= 1
        p.delete("votes", [(1, 1)])
        p.step()
        assert read(p) >= 5_000
    with pipeline(tmp_path, verify="open") as p:
        assert read(p) >= everything
    with pipeline(tmp_path, verify="never") as p:
        assert len(p["all_votes"]) == 14_999
        assert read(p) == 0
    with pytest.raises(Error, match="verify='always'; there is: open, first read, never"):
        pipeline(verify="always")
