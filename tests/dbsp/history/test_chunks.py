"""Copies of segments: what is needed, whole, once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dbsp.circuits.errors import DamagedChunk
from dbsp.history.chunks import chunks_of, copy_segments
from dbsp.state.records.commits import Commit
from dbsp.state.store import Store
from tests.dbsp.build import feed, pipeline


@pytest.fixture
def state(tmp_path: Path) -> Path:
    with pipeline(tmp_path / "s") as p:
        feed(p)
    (tmp_path / "to" / "segments").mkdir(parents=True)
    return tmp_path / "s" / "segments"


def last(state: Path) -> Commit:
    found = Store.read(state.parent)[0].last
    assert found is not None
    return found


def test_what_a_record_refers_to_is_in_its_segments(state: Path) -> None:
    commit = last(state)
    named = {chunk.segment for _, chunk in chunks_of(commit)}
    assert named == commit.segments
    owners = {owner for owner, _ in chunks_of(commit)}
    assert f"the changes of view 'counts' in step {commit.step}" in owners


def test_it_is_copied_once_and_again_where_it_is_damaged(state: Path, tmp_path: Path) -> None:
    commit, to = last(state), tmp_path / "to" / "segments"
    count, size = copy_segments(state.parent, to.parent, [commit])
    assert {*os.listdir(to)} == commit.segments
    assert (count, size) == (len(commit.segments), sum(path.stat().st_size for path in to.iterdir()))
    for path in to.iterdir():
        assert path.read_bytes() == (state / path.name).read_bytes()
    assert copy_segments(state.parent, to.parent, [commit]) == (0, 0)
    path = min(to.iterdir())
    path.write_bytes(path.read_bytes()[:-64])
    assert copy_segments(state.parent, to.parent, [commit])[0] == 1


@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_what_is_wrong_with_the_source_names_it(state: Path, tmp_path: Path, damage: str) -> None:
    path = state / min(last(state).segments)
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:8])
    with pytest.raises(DamagedChunk, match=f"^{path}: damaged"):
        copy_segments(state.parent, tmp_path / "to", [last(state)])
