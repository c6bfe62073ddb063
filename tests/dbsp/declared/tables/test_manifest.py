from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.declared.tables.manifest import DataFile, Held, Manifest, data_files, hidden


def opened(tmp_path):
    manifest = Manifest(tmp_path / "records", "t")
    manifest.open(tmp_path / "t")
    return manifest


def test_what_is_written_is_known(tmp_path):
    manifest = opened(tmp_path)
    assert not manifest.is_there
    hidden(tmp_path / "t" / "a.parquet").write_bytes(b"12")
    manifest.write(Held(3, "w", (DataFile("a.parquet", 1, 2),), added=("a.parquet",)))
    again = opened(tmp_path)
    assert again.is_there
    assert again.is_untouched()
    assert (again.held.step, again.held.rows, again.held.added) == (3, 1, ())
    (tmp_path / "t" / "b.parquet").write_bytes(b"")
    assert not again.is_untouched()


def test_what_was_never_a_step_is_gone_with_the_next(tmp_path):
    manifest = opened(tmp_path)
    hidden(tmp_path / "t" / "a.parquet").write_bytes(b"12")
    manifest.write(Held(1, "w"))
    assert list((tmp_path / "t").iterdir()) == []


def test_damage_is_noticed(tmp_path):
    opened(tmp_path).write(Held(1, "w"))
    record = tmp_path / "records" / "t.json"
    record.write_bytes(record.read_bytes().replace(b'"step":1', b'"step":2'))
    with pytest.raises(StateError, match="damaged"):
        opened(tmp_path)


def test_hidden_files_are_none_of_the_tables(tmp_path):
    for name in (".dbsp-a", "_SUCCESS", "b", "_spark_metadata/0", "d=1/c", "_e=1/c", "d=1/.c.crc"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    assert data_files(tmp_path) == ["_e=1/c", "b", "d=1/c"]


class _PowerFailure(BaseException):
    """Nothing is done after it."""


class _Disk:
    """What a power failure leaves: of each folder the names that it had when it was last synced."""

    def __init__(self, root, fails_at):
        self.root, self.left = root, fails_at
        self.names = {}
        for folder, _, _ in os.walk(root):
            self.note(Path(folder))

    def note(self, folder):
        self.names[folder] = {
            path.name: None if path.is_dir() else path.read_bytes() for path in folder.iterdir()
        }

    def sync(self, descriptor):
        self.left -= 1
        if not self.left:
            raise _PowerFailure
        synced = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if synced.is_dir():
            self.note(synced)

    def restore(self, folder, to):
        to.mkdir()
        for name, content in self.names.get(folder, {}).items():
            if content is None:
                self.restore(folder / name, to / name)
            else:
                (to / name).write_bytes(content)


STEPS = {
    1: {"a": b"1", "d=1/b": b"22"},
    2: {"d=1/b": b"22", "d=2/e=1/c": b"333"},
    3: {"f": b"4444", "d=2/e=1/c": b"333"},
    4: {"d=2/e=1/c": b"333", "d=2/e=1/g": b"55555"},
}


def _made(manifest, step, before):
    """The step's files instead of those before."""
    there = STEPS[step]
    for file in there.keys() - before.keys():
        path = hidden(manifest.directory / file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(there[file])
    files = tuple(DataFile(file, 1, len(content)) for file, content in sorted(there.items()))
    added, removed = (
        tuple(sorted(one.keys() - other.keys())) for one, other in ((there, before), (before, there))
    )
    manifest.write(Held(step, "w", files, added=added, removed=removed))


def test_a_power_failure_at_any_sync_leaves_a_step(tmp_path, monkeypatch):
    """And the steps after it can be made."""
    at, failed = 0, True
    while failed:
        at += 1
        root, failed = tmp_path / f"{at}", False
        manifest = Manifest(root / "records", "t")
        manifest.open(root / "t")
        disk = _Disk(root, at)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", disk.sync)
            try:
                for step in STEPS:
                    _made(manifest, step, STEPS.get(step - 1, {}))
            except _PowerFailure:
                failed = True
        shutil.rmtree(root)
        disk.restore(root, tmp_path / f"{at} restored")
        again = Manifest(tmp_path / f"{at} restored" / "records", "t")
        again.open(tmp_path / f"{at} restored" / "t")
        assert again.is_untouched(), at
        for step in range(again.held.step + 1, len(STEPS) + 1):
            _made(again, step, STEPS.get(step - 1, {}))
        assert again.is_untouched(), at
        assert {file.path for file in again.held.files} == STEPS[len(STEPS)].keys()
    assert at > 20
