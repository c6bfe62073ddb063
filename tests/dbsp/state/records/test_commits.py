"""Records: what they hold, and what is said of one that is torn, damaged, renamed or lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.state.records.commits import Commit, create_whole
from dbsp.state.records.identity import FORMAT
from dbsp.state.records.sealed import seal
from dbsp.state.store import Store
from tests.dbsp.state.stores import IDENTITY, commit, filled, record


def test_a_commit_reads_back_as_it_was(tmp_path):
    whole = Commit(
        1,
        "f1",
        {"spines": {"3": [1, 2]}},
        changes={"v": [["a.seg", 0, 64, 1, 0, 0]]},
        segments=frozenset({"a.seg"}),
        stream="query",
        batch=7,
        offsets={"t": "ü"},
        waterlines={"t.ts": 5},
    )
    with_clock = Commit.from_bytes(whole.to_bytes(), Path("s", "commits", "000000000001.json"))
    assert with_clock == whole
    assert json.loads(whole.to_bytes())["commit"]["batch"] == 7


def test_a_record_under_another_name_is_no_step(tmp_path):
    store = filled(tmp_path, 3)
    store.close()
    record(store, 3).write_bytes(record(store, 2).read_bytes())
    with pytest.raises(StateError, match=r"000000000003.json: damaged: the file is the record of step 2"):
        Store.open(tmp_path, IDENTITY)


@pytest.mark.parametrize("name", ["../program.json", "/etc/passwd", "..", "a/b", "", None])
def test_a_record_that_names_files_elsewhere_is_damaged(tmp_path, name):
    """What it names is read, and deleted when nothing needs it any more."""
    whole = commit(1).to_bytes()
    outside = json.loads(whole)["commit"] | {"segments": [name]}
    store = Store.open(tmp_path, IDENTITY)
    record(store, 1).write_bytes(seal("commit", outside))
    store.close()
    with pytest.raises(StateError, match=r"000000000001\.json: damaged: '.*' is no name of a segment"):
        Store.open(tmp_path, IDENTITY)
    with pytest.raises(StateError, match="is no segment; the record is damaged"):
        Chunk.from_json([name, 0, 64, 1, 1, 0, 0])


def test_a_record_of_a_newer_format_is_not_guessed_at(tmp_path):
    """program.json may have been lost, or restored from before."""
    newer = json.loads(commit(1).to_bytes())["commit"] | {"format": FORMAT + 1}
    store = Store.open(tmp_path, IDENTITY)
    record(store, 1).write_bytes(seal("commit", newer))
    store.close()
    with pytest.raises(StateError, match=rf"written by a newer dbsp \(format {FORMAT + 1}, .*upgrade dbsp"):
        Store.open(tmp_path, IDENTITY)


def test_a_file_is_created_once(tmp_path: Path) -> None:
    create_whole(tmp_path / "x", b"first")
    with pytest.raises(FileExistsError):
        create_whole(tmp_path / "x", b"second")
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == {"x": b"first"}
