"""Reading beside a writer: whole steps, and no waiting for one that is being made."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import dbsp
from dbsp.circuits.errors import DamagedChunk, ProgramError, StateError
from dbsp.views.changes import UnknownView
from tests.dbsp.build import feed, pipeline


@pytest.fixture
def p(tmp_path: Path) -> Iterator[dbsp.Pipeline]:
    with pipeline(tmp_path / "s", keep_steps=1) as opened:
        opened.store.durable = False
        yield opened


def in_a_thread(work: Callable[[], None]) -> Callable[[], None]:
    """Starts it; what is returned waits for it, and raises what it has raised."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def join() -> None:
        thread.join(60)
        assert not thread.is_alive()
        if failed:
            raise failed[0]

    return join


@contextmanager
def written(p: dbsp.Pipeline) -> Iterator[None]:
    """Another thread makes steps meanwhile, of ten votes each."""
    stop = threading.Event()

    def write() -> None:
        for step in range(1, 10_000):
            p.insert("votes", [(step, n) for n in range(10)])
            p.step()
            if stop.is_set():
                return

    join = in_a_thread(write)
    try:
        yield
    finally:
        stop.set()
        join()


def test_a_reader_waits_for_no_step(p: dbsp.Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(p)
    before = p["all_votes"].rows()
    reached, go_on = threading.Event(), threading.Event()
    run = p.runner.run

    def slow(work: Any) -> Any:
        reached.set()
        assert go_on.wait(60)
        return run(work)

    monkeypatch.setattr(p.runner, "run", slow)
    p.insert("votes", [(9, 9)])
    join = in_a_thread(lambda: p.step() and None)
    assert reached.wait(60)
    assert p["all_votes"].rows() == before
    assert p.view("counts").lookup(1)
    go_on.set()
    join()
    assert len(p["all_votes"]) == len(before) + 1


def test_a_reader_sees_whole_steps(p: dbsp.Pipeline) -> None:
    """Of a state whose files are deleted by the next step."""
    with written(p):
        for _ in range(200):
            assert len(p["all_votes"]) % 10 == 0
            assert len({row["n"] for row in p["counts"].rows()}) <= 1


def test_a_file_that_is_lost_is_no_step(p: dbsp.Pipeline, tmp_path: Path) -> None:
    feed(p)
    p.store.segments.forget(p._position.state.segments())
    for path in (tmp_path / "s" / "segments").iterdir():
        path.unlink()
    with pytest.raises(DamagedChunk, match="is missing"):
        p["all_votes"]


def test_a_closed_pipeline_says_so(p: dbsp.Pipeline) -> None:
    p.close()
    for read in (lambda: p["all_votes"], lambda: p.sql("SELECT 1"), lambda: p.changes("all_votes", 0)):
        with pytest.raises(StateError, match="the pipeline is closed"):
            read()


@pytest.mark.spark
def test_a_query_reads_one_step(spark: Any, p: dbsp.Pipeline) -> None:
    """Two views in one query are as of the same step, whatever is written meanwhile."""
    p.spark, p._reading._spark = spark, spark
    select = "SELECT (SELECT count(*) FROM all_votes) - (SELECT sum(n) FROM counts) AS off"
    p.insert("votes", [(0, n) for n in range(10)])
    p.step()
    assert p.sql(select).rows() == [{"off": 0}]
    with written(p):
        for _ in range(50):
            assert p.sql(select).rows() == [{"off": 0}]


@pytest.mark.spark
def test_a_query_of_other_steps(spark: Any, tmp_path: Path) -> None:
    with pipeline(tmp_path / "t", keep_steps=5) as p:
        p._reading._spark = spark
        for step in range(3):
            p.insert("votes", [(step, 1)])
            p.step()
        select = (
            "SELECT (SELECT count(*) FROM ALL_VOTES) AS now, (SELECT count(*) FROM all_votes "
            "FOR SYSTEM_TIME AS OF 1) AS then"
        )
        assert p.sql(select).rows() == [{"now": 3, "then": 1}]
        with pytest.raises(StateError, match="step 9"):
            p.sql("SELECT * FROM all_votes FOR SYSTEM_TIME AS OF 9")
        with pytest.raises(UnknownView, match="unknown view 'nothing'"):
            p.sql("SELECT * FROM nothing FOR SYSTEM_TIME AS OF 1")
        unknown = r"query:1:15: unknown table 'count'; .* all_votes, counts, .* mean"
        with pytest.raises(ProgramError, match=unknown):
            p.sql("SELECT * FROM count")
