"""A directory that is opened again: the state, whose it is, and what is read of it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

import dbsp
from dbsp.circuits.errors import Error, StateError
from dbsp.circuits.operators.inputs.bad import BAD_ROWS, REFUSED_SCHEMA
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.queue import weighted
from dbsp.sql.compiler.sources.bad_rows import bad_rows_view
from dbsp.sql.lowering.program import lower
from dbsp.state.records.identity import read_identity
from dbsp.state.records.manifest import manifest_of
from tests.dbsp.build import pipeline, votes_program
from tests.dbsp.pipeline.seen import changed, rows


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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "either a program file or sql"),
        ({"program": votes_program(), "sql": "x"}, "either a program file or sql"),
        ({"program": votes_program(), "runner": "flink"}, "unknown runner 'flink'; runners: spark, inline"),
        ({"program": votes_program(), "runner": "inline", "partitions": 0}, "needs at least 1"),
        ({"program": votes_program(), "runner": "inline", "max_undelivered": -1}, "needs at least 0"),
        ({"program": votes_program(), "runner": "inline", "keep_steps": 0}, "use 1 or more"),
        ({"program": "nowhere.sql", "runner": "inline"}, "nowhere.sql: can't read the program"),
    ],
)
def test_wrong_options(options, said):
    with pytest.raises(dbsp.Error, match=said):
        Pipeline(**options)


def test_what_is_no_classic_session_is_refused():
    with pytest.raises(Error, match=r"the session is one of Spark Connect.* runs the tasks of steps"):
        Pipeline(
            sql="CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t;", spark=object(), runner="inline"
        )


def test_opening_reads_nothing_and_a_step_what_it_looks_into(tmp_path):
    """Rows are compared with their checksums when they are first read; or all at once, or never."""

    def stored():
        return {path.name for path in (tmp_path / "segments").iterdir()}

    def read(p):
        """Of the rows that were there when it was opened: who writes some needn't compare them."""
        verified = p.store.segments._verified
        return sum(chunk.rows for name in there & verified.keys() for chunk in verified[name])

    with pipeline(tmp_path) as p:
        for story in range(3):
            p.insert("votes", [(user, story) for user in range(5000)])
            p.step()
        everything = sum(spine.rows for spine in p._position.state.spines.values())
    there = stored()
    with pipeline(tmp_path) as p:
        assert read(p) == 0
        p.insert("event", [(1, None)])
        p.step()
        assert read(p) <= 1
        p.delete("votes", [(1, 1)])
        p.step()
        assert read(p) >= 5_000
    there = stored()
    with pipeline(tmp_path, verify="open") as p:
        assert read(p) >= everything
    with pipeline(tmp_path, verify="never") as p:
        assert len(p["all_votes"]) == 14_999
        assert read(p) == 0
    with pytest.raises(Error, match="verify='always'; there is: open, first read, never"):
        pipeline(verify="always")


def test_a_state_from_before_sources_kept_bad_rows_goes_on(tmp_path):
    """It says the same of itself, and has no log of them: which begins empty, and is kept from then on."""
    now = replace(votes_program(), views={**votes_program().views, BAD_ROWS: bad_rows_view()})
    now = replace(now, circuit=lower(now.tables, now.views))
    with pipeline(tmp_path) as p:
        p.insert("votes", [(1, 1)])
        p.step()
    for step in (2, 3):
        with pipeline(tmp_path, program=now) as p:
            assert len(p[BAD_ROWS]) == step - 2
            assert not p.changes_of(BAD_ROWS, 1).rows()
            assert not p.view(BAD_ROWS, as_of=1).rows()
            refused = pa.RecordBatch.from_pylist(
                [dict(zip(REFUSED_SCHEMA.names, "torn", strict=True))], schema=REFUSED_SCHEMA
            )
            p._enqueue(BAD_ROWS, [weighted(refused, np.ones(1, np.int64))])
            p.step()
            assert [row["step"] for row in p[BAD_ROWS].rows()] == [*range(2, step + 1)]
    assert read_identity(tmp_path).manifest.views == manifest_of(now).views
