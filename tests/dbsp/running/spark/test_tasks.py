"""What a task of Spark does: what a stage hands on, and what stops at an error."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from dbsp.circuits.errors import DataError
from dbsp.circuits.steps.state import TaskResult
from dbsp.commands.shown.changelog import json_lines
from dbsp.running.spark import tasks
from dbsp.running.spark.tasks import Blob, FirstStage, NextStage, Outcome, Record, Share
from tests.dbsp.running.spark.test_runner import feed, pipeline, program

__all__ = ["program"]


class Recording:
    """Stands where `Shared` does, of which it says what it was asked to run."""

    def __init__(self) -> None:
        self.asked: list[tuple[range, int, Any]] = []

    def run(self, levels: range, partition: int, share: Share, received: list[Blob]) -> Iterator[Record]:
        self.asked.append((levels, partition, received or share))
        yield partition, Outcome(levels.start, partition, TaskResult())


BLOBS = [Blob(1, 4, b"x"), Blob(0, 4, b"y")]


def test_a_later_stage_hands_on_outcomes_and_runs_on_its_blobs() -> None:
    shared, before = Recording(), Outcome(0, 7, TaskResult())
    stage = NextStage(shared, 2)  # type: ignore[arg-type]
    found = list(stage(3, iter([(3, BLOBS[0]), (3, before), (3, BLOBS[1])])))
    assert found[0] == (3, before)
    assert shared.asked == [(range(2, 3), 3, BLOBS)]
    assert [to for to, _ in found] == [3, 3]


def test_nothing_runs_after_an_error() -> None:
    """Its blobs are missing, so what follows from them would be wrong."""
    shared, failed = Recording(), Outcome(0, 1, DataError("no"))
    found = list(NextStage(shared, 2)(3, iter([(3, BLOBS[0]), (3, failed)])))  # type: ignore[arg-type]
    assert found == [(3, failed)]
    assert shared.asked == []


def test_a_task_that_only_merges_has_no_levels() -> None:
    shared, pieces = Recording(), Share({}, (), merge_only=True)
    stage = FirstStage(shared, range(5), [Share({}, ()), pieces])  # type: ignore[arg-type]
    unread = iter([1, 2])
    list(stage(0, unread))
    list(stage(1, iter(())))
    assert [levels for levels, *_ in shared.asked] == [range(5), range(0)]
    assert list(unread) == []  # else the worker is not used again


def test_an_error_travels_as_data() -> None:
    """With what it says, through the pickle that Spark sends it in."""
    outcome = pickle.loads(pickle.dumps(Outcome(0, 0, DataError("row 3"))))
    assert str(outcome.result) == "row 3"
    assert isinstance(outcome.result, DataError)


def test_workers_share_what_they_have_opened() -> None:
    tasks._segments.cache_clear()
    try:
        assert tasks._segments("/nowhere", True) is tasks._segments("/nowhere", True)
        assert tasks._segments("/nowhere", True) is not tasks._segments("/nowhere", False)
    finally:
        tasks._segments.cache_clear()


@pytest.mark.spark
def test_a_task_that_runs_twice_does_no_harm(program: Any, spark: Any) -> None:
    with pipeline(program, spark, -1, 2) as p:
        runner = p.runner
        run_once = runner.run
        runner.run = lambda work: (run_once(work), run_once(work))[1]
        feed(p, 3)
        twice = list(json_lines(p.step()))
    with pipeline(program, spark, runner="inline", partitions=1) as inline:
        feed(inline, 3)
        assert twice == list(json_lines(inline.step()))
