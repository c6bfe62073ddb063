"""A record is made once; what failed in that is looked at before it is said to have failed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import dbsp.state.records.commits
from dbsp.circuits.errors import Overtaken, StateError
from dbsp.state.recording import Recording, Unsettled
from tests.dbsp.state.stores import commit, filled, record


def test_a_file_system_without_hard_links_is_told(tmp_path, monkeypatch):
    store = filled(tmp_path, 1)

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(dbsp.state.records.commits.os, "link", refuse)
    with pytest.raises(
        StateError, match=r"step 2 was not committed: .* hard link, which this file system may"
    ):
        store.commit(commit(2))
    assert not record(store, 2).exists()


def test_a_record_is_made_once(tmp_path: Path) -> None:
    """Of two writers one is told that the step is the other's, and which bytes are there doesn't change."""
    (tmp_path / "commits").mkdir()
    one, two = Recording(tmp_path, True), Recording(tmp_path, True)
    ours, theirs = commit(1, "a"), commit(1, "b")
    one.create(ours)
    with pytest.raises(FileExistsError) as caught:
        two.create(theirs)
    assert (one.is_there(ours), two.is_there(theirs)) == (True, False)
    assert isinstance(two.failed(1, caught.value), Overtaken)
    assert os.listdir(tmp_path / "commits") == ["000000000001.json"]


def test_an_answer_that_was_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name was made, and the request for it failed: the record is there, whoever looks."""
    (tmp_path / "commits").mkdir()
    recording, link = Recording(tmp_path, True), os.link

    def lost(source: Path, name: Path) -> None:
        link(source, name)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(dbsp.state.records.commits.os, "link", lost)
    with pytest.raises(OSError, match="Input/output error"):
        recording.create(commit(1))
    assert recording.is_there(commit(1))
    assert not recording.is_there(commit(1, "another"))
    assert not recording.is_there(commit(2))


def test_what_can_t_be_seen_is_said_to_be_unknown(tmp_path: Path) -> None:
    (tmp_path / "commits" / "000000000001.json").mkdir(parents=True)  # reading it fails, as on a broken disk
    with pytest.raises(
        Unsettled, match=r"whether step 1 was committed isn't known \(.*which step is its last"
    ):
        Recording(tmp_path, True).is_there(commit(1))
    (tmp_path / "commits" / "000000000001.json").rmdir()
    (tmp_path / "commits").rmdir()
    with pytest.raises(Unsettled, match="whether step 1 was committed isn't known"):
        Recording(tmp_path, durable=True).sync(1)
    Recording(tmp_path, durable=False).sync(1)
