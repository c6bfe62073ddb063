"""What is read late is read once, and before it goes."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.circuits.segments.deferred import Deferred
from dbsp.circuits.segments.segments import Segments
from tests.dbsp.state.objects.places import in_memory
from tests.dbsp.state.objects.test_copies import SCHEMA, opened, written


def test_it_is_read_once() -> None:
    asked = []
    deferred = Deferred({"a"}, lambda: asked.append(1))
    assert not asked
    for _ in range(2):
        deferred.get()
        deferred.save()
    assert asked == [1]


def test_what_can_t_be_read_is_said_to_who_asks() -> None:
    def fail() -> None:
        raise StateError("gone")

    deferred = Deferred({"a"}, fail)
    deferred.save()
    with pytest.raises(StateError, match="gone"):
        deferred.get()


def test_what_is_elsewhere_is_read_when_it_is_asked_for_or_goes(tmp_path: Path) -> None:
    bucket = in_memory()
    chunks = [written(opened(bucket, tmp_path / "there"), name, n) for n, name in enumerate("ab")]
    here = opened(bucket, tmp_path / "here")
    deferred = [here.later([chunk], lambda chunk=chunk: here.open(chunk, SCHEMA)) for chunk in chunks]
    dropped = here.later(chunks, lambda: pytest.fail("nobody holds it"))
    assert bucket.traffic.gets == 0
    assert deferred[0].get().to_pydict() == {"x": [0]}
    assert bucket.traffic.gets == 1
    del dropped
    gc.collect()
    here.forget({"b"})
    here.origin.delete({"a", "b"})  # type: ignore[union-attr]
    assert [each.get().to_pydict() for each in deferred] == [{"x": [0]}, {"x": [1]}]


def test_what_is_here_is_mapped_at_once(tmp_path: Path) -> None:
    asked: list[int] = []
    Segments(tmp_path).later([], lambda: asked.append(1))
    assert asked == [1]
