"""Memory follows the disk: whatever ends an attempt at a step, what is here is what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dbsp
from dbsp.circuits.errors import StateError
from dbsp.pipeline.steps.position import Position
from dbsp.state.store import Store
from dbsp.views.outputs import state_of
from tests.dbsp.build import feed, pipeline


@pytest.fixture
def p(tmp_path: Path) -> Iterator[dbsp.Pipeline]:
    with pipeline(tmp_path / "s") as opened:
        opened.store.durable = False
        feed(opened)
        opened.insert("votes", [(7, 7)])
        yield opened


def as_on_disk(position: Position) -> bool:
    found = state_of(position.program, position.store.last)
    return found.to_json(position.program.circuit) == position.state.to_json(position.program.circuit)


def raising(error: BaseException, before: Callable[..., Any] | None = None) -> Callable[..., Any]:
    def fail(*args: Any, **options: Any) -> Any:
        if before is not None:
            before(*args, **options)
        raise error

    return fail


@pytest.mark.parametrize("error", [OSError(28, "No space left", "f"), KeyboardInterrupt()])
def test_before_the_commit_nothing_is_true_and_what_was_queued_still_is(
    p: dbsp.Pipeline, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    step, counts = p.last_step, p["counts"].rows()
    monkeypatch.setattr(Store, "commit", raising(error))
    with pytest.raises(type(error)):
        p.step()
    monkeypatch.undo()
    assert (p.last_step, p.queued, p["counts"].rows()) == (step, {"votes": 1}, counts)
    assert as_on_disk(p._position)
    assert p.step().step == step + 1
    assert p.queued == {}


def test_no_attempt_s_files_are_taken_for_another_s(
    p: dbsp.Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one has written goes by how its name begins."""
    names: list[str] = []
    with monkeypatch.context() as failing:
        failing.setattr(Store, "discard_attempt", lambda store, name: names.append(name))
        failing.setattr(Store, "commit", raising(OSError(5, "Input/output error", "f")))
        for _ in range(12):
            with pytest.raises(OSError, match="Input"):
                p.step()
    assert len({*names}) == 12
    assert not [(a, b) for a in names for b in names if a != b and b.startswith(a)]
    assert p.step().step


def test_after_the_commit_the_step_is_true_whatever_fails(
    p: dbsp.Pipeline, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    step, commit = p.last_step, Store.commit
    monkeypatch.setattr(Store, "commit", raising(ValueError("later"), commit))
    assert p.step().step == step + 1
    assert "is committed, though something failed after that: later" in caplog.text
    monkeypatch.setattr(Store, "commit", raising(KeyboardInterrupt(), commit))
    p.insert("votes", [(8, 8)])
    with pytest.raises(KeyboardInterrupt):
        p.step()
    monkeypatch.undo()
    assert (p.last_step, p.queued) == (step + 2, {})
    assert as_on_disk(p._position)


def test_what_a_runner_can_t_write_is_one_line(p: dbsp.Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(p.runner, "run", raising(OSError(28, "No space left", "some/file")))
    with pytest.raises(StateError, match=r"s: step 5 was not made: No space left \(some/file\)"):
        p.step()
    assert as_on_disk(p._position)


def test_what_is_queued_can_be_forgotten(p: dbsp.Pipeline) -> None:
    p._position.discard()
    assert p.queued == {}
    assert not len(p.step()["all_votes"])


def test_settling_twice_is_settling_once(p: dbsp.Pipeline) -> None:
    assert p._position.settle()
    p.step()
    assert p._position.settle()
    assert as_on_disk(p._position)
