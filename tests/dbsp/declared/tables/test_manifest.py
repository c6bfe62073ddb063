from __future__ import annotations

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
