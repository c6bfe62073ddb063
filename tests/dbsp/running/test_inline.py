"""Merges that run beside the steps change nothing: not the views, and not what a failed step leaves."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import dbsp
from dbsp.circuits.errors import StateError
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.steps.state import State
from dbsp.circuits.steps.step import run_step
from dbsp.circuits.traces import spine
from dbsp.running import inline
from tests.dbsp.build import pipeline
from tests.laws.small_steps import set_small

ROWS = 2 * spine.SMALL


@pytest.fixture
def p(tmp_path, monkeypatch) -> Iterator[dbsp.Pipeline]:
    """Of a merge, however small, many pieces are done ahead."""
    monkeypatch.setattr(inline, "_WORTH_A_THREAD", 0)
    monkeypatch.setattr(spine, "PIECE", 1000)
    with pipeline(tmp_path / "state") as opened:
        yield opened


def rows(step: int) -> pa.Table:
    random = np.random.default_rng(step)
    return pa.table({"user_id": random.integers(0, 100, ROWS), "story_id": random.integers(0, 100_000, ROWS)})


def counted(tables: list[pa.Table]) -> Counter[int]:
    """What the view holds."""
    return Counter(story for table in tables for story in table["story_id"].to_pylist())


def contents(opened: dbsp.Pipeline) -> dict[int, int]:
    table = opened["counts"].to_arrow()
    return dict(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.slow
def test_steps_with_merges_ahead(p, tmp_path):
    given = [rows(step) for step in range(24)]
    ahead = 0
    for upto, delta in enumerate(given, 1):
        p.insert("votes", delta)
        p.step()
        ahead += len(p.runner._begun)
        if upto % 6 == 0:
            assert contents(p) == counted(given[:upto])
    assert ahead > 10
    p.close()
    with pipeline(tmp_path / "state") as again:
        assert contents(again) == counted(given)


@pytest.mark.slow
def test_a_step_that_fails_keeps_what_was_merged(p):
    given = [rows(step) for step in range(12)]
    for delta in given:
        p.delete("votes", [(-1, 0)])
        with pytest.raises(dbsp.DataError, match="votes"):
            p.step()
        p.discard()
        p.insert("votes", delta)
        p.step()
    assert contents(p) == counted(given)


def test_a_merge_of_a_failed_step_does_not_know_its_clock(p):
    """The step may be tried again with an earlier one."""
    circuit = replace(p.program.circuit, lateness=(CLOCK,))
    p.program = p._position.program = replace(p.program, circuit=circuit)
    clock = datetime(2024, 1, 1, tzinfo=UTC)
    for step in range(12):
        p.delete("votes", [(-1, 0)])
        with pytest.raises(dbsp.DataError, match="votes"):
            p.step(clock + timedelta(days=1))
        p.discard()
        p.insert("votes", rows(step))
        p.step(clock)
        assert p._position.state.waterlines[CLOCK.name].as_py() == clock


@pytest.mark.slow
def test_a_merge_that_failed_is_done_again(p, monkeypatch):
    """A full disk, say, when the piece was begun."""
    attempts = itertools.count()
    run_task = inline.run_task

    def fails_at_first(*arguments):
        if next(attempts) % 2 == 0:
            raise OSError(28, "No space left on device")
        return run_task(*arguments)

    monkeypatch.setattr(inline, "run_task", fails_at_first)
    given = [rows(step) for step in range(12)]
    for delta in given:
        p.insert("votes", delta)
        for _ in range(20):
            try:
                p.step()
                break
            except StateError as error:
                assert "No space left on device" in str(error)
    assert next(attempts) > 4
    assert contents(p) == counted(given)


def test_a_merge_begun_in_vain_leaves_no_file(p, monkeypatch):
    """As where LATENESS collects the run that was to be merged: here nothing is begun ahead any more."""
    given = [rows(step) for step in range(24)]
    for delta in given:
        p.insert("votes", delta)
        p.step()
        for merge in p.runner._begun.values():
            merge.future.result()
        vain = written_in_vain(p)
        if len(vain) > 2:
            break
    monkeypatch.setattr(State, "ahead", lambda state: [])
    for _ in range(2):
        p.step()
    assert not vain & written_in_vain(p)
    assert contents(p) == counted(given[: p.last_step - 2])


def test_what_a_step_was_given_stays_while_a_step_is_kept(tmp_path, monkeypatch):
    """As where a local Spark makes large steps as jobs: what was merged here is merged away by others."""
    monkeypatch.setattr(inline, "_WORTH_A_THREAD", 0)
    for name, value in {"FAN_IN": 2, "WIDE": 1 << 40, "CREDIT": 100}.items():
        monkeypatch.setattr(spine, name, value)
    then = {}
    with pipeline(tmp_path / "state", keep_steps=40) as p:
        set_small(p, 0)
        here = p.runner.run

        def in_turns(work):
            if work.step.number % 4 == 3:
                return here(work)
            return run_step(work.circuit, work.step, work.inputs, work.segments)

        monkeypatch.setattr(p.runner, "run", in_turns)
        for step in range(1, 33):
            p.insert("votes", [(step, story) for story in range(step % 5, 9)])
            p.step()
            then[step] = contents(p)
    assert not written_in_vain(p)
    with pipeline(tmp_path / "state", keep_steps=40) as p:
        assert all(p.view("counts", as_of=step).rows() == as_rows(held) for step, held in then.items())


def test_closing_leaves_no_file_of_what_was_begun(p):
    vain = set[str]()
    for step in range(24):
        p.insert("votes", rows(step))
        p.step()
        for merge in p.runner._begun.values():
            merge.future.result()
        vain = written_in_vain(p)
        if vain:
            break
    assert vain
    p.close()
    assert not written_in_vain(p)


def as_rows(held: dict[int, int]) -> list[dict[str, int]]:
    return [{"story_id": story, "n": count} for story, count in sorted(held.items())]


def written_in_vain(opened: dbsp.Pipeline) -> set[str]:
    """What merges wrote that no commit refers to."""
    files = set(os.listdir(opened.store.root / "segments"))
    kept = opened.store.past.kept.segments()
    return {name for name in files - kept if name.startswith("merge-")}
