"""What is written to a metastore's directory is noticed."""

from __future__ import annotations

import os

from dbsp.declared.remembered.catalogue import Catalogue


def test_any_file_that_changes_is_another_catalogue(tmp_path):
    metastore = tmp_path / "metastore_db"
    (metastore / "log").mkdir(parents=True)
    (metastore / "tmp").mkdir()
    log = metastore / "log" / "log1.dat"
    log.write_bytes(b"one")
    catalogue = Catalogue(metastore)
    before = catalogue.digest()
    (metastore / "db.lck").write_bytes(b"held")
    (metastore / "tmp" / "sort").write_bytes(b"scratch")
    assert catalogue.digest() == before
    kept = log.stat()
    log.write_bytes(b"two")
    os.utime(log, ns=(kept.st_atime_ns, kept.st_mtime_ns))  # as what restores a copy does
    assert catalogue.digest() != before
    changed = catalogue.digest()
    (metastore / "seg0").mkdir()
    (metastore / "seg0" / "c10.dat").write_bytes(b"page")
    assert catalogue.digest() != changed


def test_one_in_memory_has_nothing_that_could_change():
    assert Catalogue(None).digest() == Catalogue(None).digest()
