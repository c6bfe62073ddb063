"""What nothing refers to is deleted, and nothing else, in an order that a power failure can't harm."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.state.keeping.keep import Keep
from dbsp.state.keeping.sweep import Sweep
from dbsp.state.records import commits, places
from dbsp.state.store import Store
from tests.dbsp.state.stores import IDENTITY, commit, filled, segments, write


def test_old_commits_go_with_what_only_they_need(tmp_path):
    store = Store.open(tmp_path, IDENTITY, Keep(2))
    store.commit(commit(1, write(store, "a"), write(store, "shared")))
    store.commit(commit(2, write(store, "b"), "shared"))
    write(store, "running")  # a step that is under way
    store.commit(commit(3, write(store, "c"), "shared"))
    store.commit(commit(4, write(store, "d")))
    assert store.steps == [3, 4]
    with pytest.raises(StateError, match=r"step 1 is not kept; steps 3 to 4 are \(keep_steps=2\)"):
        store.commit_of(1)
    store.close()  # waits for what is being deleted
    assert segments(store) == {"b", "c", "d", "shared", "running"}  # b: a step after its record
    assert segments(Store.open(tmp_path, IDENTITY, Keep(2))) == {"c", "d", "shared"}


def test_no_record_comes_back_without_its_segments(tmp_path, monkeypatch):
    """A power failure brings back a name that was deleted after its directory was last synced."""
    on_disk: list[str] = []
    deleted = []

    def synced(path):
        commits.sync(path)
        if path.name == "commits":
            on_disk[:] = [name for name in os.listdir(path) if name.endswith(".json")]

    def watched(path):
        if path.parent.name == "segments":
            deleted.append(path.name)
            assert f"{int(path.stem):012d}.json" not in on_disk
        return places.delete(path)

    monkeypatch.setattr("dbsp.state.recording.sync", synced)
    monkeypatch.setattr("dbsp.state.recovery.sync", synced)
    with monkeypatch.context() as patched:
        patched.setattr("dbsp.state.recovery.delete", watched)
        patched.setattr("dbsp.state.keeping.past.delete", watched)
        patched.setattr(
            Sweep, "_delete", lambda self: [watched(Path(self._segments.root, n)) for n in self._left]
        )
        patched.setattr(Sweep, "beside", lambda self: self._delete())
        filled(tmp_path, 6, Keep(2)).close()
        assert "3.seg" in deleted
        Store.open(tmp_path, IDENTITY, Keep(1)).close()  # forgets step 5, in another order
    assert segments(Store.open(tmp_path, IDENTITY, Keep(1))) == {"6.seg"}
