"""No writer overwrites what another has written, and one that was overtaken stops."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from py4j.protocol import Py4JNetworkError

from dbsp.circuits.errors import Overtaken, StateError
from dbsp.circuits.steps.state import TaskResult
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.runner import Work
from dbsp.state.lock import Lock
from dbsp.state.store import Store
from tests.dbsp.build import pipeline


def step(p: Pipeline, story: int) -> None:
    p.insert("votes", [(p.last_step, story)])
    p.step()


def stories(p: Pipeline) -> list[int]:
    return sorted(row["story_id"] for row in p["all_votes"].rows())


@pytest.fixture
def writers(tmp_path: Path) -> Iterator[tuple[Pipeline, Pipeline]]:
    """Two, since somebody deleted the lock of the first one."""
    with pipeline(tmp_path) as first:
        step(first, 1)
        (tmp_path / "lock").unlink()
        with pipeline(tmp_path) as second:
            yield first, second


def test_a_writer_whose_lock_was_deleted_stops(writers: tuple[Pipeline, Pipeline], tmp_path: Path) -> None:
    first, second = writers
    step(second, 2)
    with pytest.raises(StateError, match=r"lock: was deleted or replaced under its writer"):
        step(first, 3)
    with pytest.raises(StateError, match="the pipeline is closed"):
        first.step()
    step(second, 4)
    assert stories(second) == [1, 2, 4]
    second.close()
    with pipeline(tmp_path) as again:
        assert stories(again) == [1, 2, 4]


def test_a_lock_that_is_deleted_stops_a_writer_that_is_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While its step runs: another writer may have swept what the step wrote."""
    with pipeline(tmp_path) as p:
        step(p, 1)
        run = p.runner.run

        def meanwhile(work: Work) -> list[TaskResult]:
            (tmp_path / "lock").unlink()
            return run(work)

        monkeypatch.setattr(p.runner, "run", meanwhile)
        with pytest.raises(Overtaken):
            step(p, 2)
    with pipeline(tmp_path) as p:
        assert stories(p) == [1]


@pytest.mark.parametrize("empty", [True, False])
def test_no_record_is_overwritten(
    writers: tuple[Pipeline, Pipeline], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty: bool
) -> None:
    """Not even where the lock is no help, as it isn't on some network file systems."""
    first, second = writers
    monkeypatch.setattr(Lock, "check", lambda _: None)
    if not empty:
        second.insert("votes", [(7, 2)])
        first.insert("votes", [(7, 3)])
    second.step()
    record = (tmp_path / "commits" / f"{2:012d}.json").read_bytes()
    with pytest.raises(StateError, match=r"step 2 was committed by another writer; this one has stopped"):
        first.step()
    assert (tmp_path / "commits" / f"{2:012d}.json").read_bytes() == record
    with pytest.raises(StateError, match="the pipeline is closed"):
        first.step()
    step(second, 4)
    second.close()
    with pipeline(tmp_path) as again:
        assert stories(again) == ([1, 4] if empty else [1, 2, 4])


def test_a_step_of_unknown_outcome_closes_the_pipeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record has its name, and the disk won't say that the name is there for good."""
    with pipeline(tmp_path) as p:
        step(p, 1)

        def fails(path: Path) -> None:
            if path.name == "commits":
                raise OSError(5, "Input/output error")

        monkeypatch.setattr("dbsp.state.recording.sync", fails)
        with pytest.raises(
            StateError, match=r"whether step 2 was committed isn't known \(Input/output error\)"
        ):
            step(p, 2)
        with pytest.raises(StateError, match="the pipeline is closed"):
            p.step()
    monkeypatch.undo()
    with pipeline(tmp_path) as p:
        assert (p.last_step, stories(p)) == (2, [1, 2])


@pytest.mark.parametrize("raised", [Py4JNetworkError("Answer from Java side is empty"), KeyboardInterrupt()])
def test_closing_releases_the_lock_whatever_the_runner_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: BaseException
) -> None:
    p = pipeline(tmp_path)

    def dead() -> None:
        raise raised

    monkeypatch.setattr(p.runner, "close", dead)
    with pytest.raises(type(raised)):
        p.close()
    monkeypatch.undo()
    pipeline(tmp_path).close()
    p.close()
    pipeline(tmp_path).close()


def test_closing_is_done_to_the_end_by_the_next_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = pipeline(tmp_path)

    def interrupted(store: Store) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Store, "close", interrupted)
        with pytest.raises(KeyboardInterrupt):
            p.close()
    p.close()
    pipeline(tmp_path).close()
