"""Only what nobody but this user can have written is read."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from dbsp.circuits import private_directory
from dbsp.circuits.private_directory import (
    cache_directory,
    is_private,
    read_checked,
    read_private,
    write_checked,
    write_private,
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    directory = tmp_path / "cache" / "dbsp"
    write_private(directory, "a", b"first")
    write_private(directory, "a", b"second")
    assert read_private(directory, "a") == b"second"
    assert [path.name for path in directory.iterdir()] == ["a"]
    assert directory.stat().st_mode & 0o777 == 0o700
    assert (directory / "a").stat().st_mode & 0o777 == 0o600


def test_what_isnt_there(tmp_path: Path) -> None:
    assert read_private(tmp_path / "nowhere", "a") is None
    assert read_private(tmp_path, "a") is None


@pytest.mark.parametrize("others", [0o020, 0o002])
def test_what_others_may_write_is_neither_read_nor_written(
    tmp_path: Path, others: int, caplog: pytest.LogCaptureFixture
) -> None:
    directory = tmp_path / "dbsp"
    write_private(directory, "a", b"mine")
    directory.chmod(0o700 | others)
    with caplog.at_level(logging.WARNING, "dbsp"):
        assert read_private(directory, "a") is None
        write_private(directory, "b", b"mine")
    assert not (directory / "b").exists()
    (record,) = caplog.records  # once
    assert "others may write it" in record.getMessage()
    directory.chmod(0o700)
    (directory / "a").chmod(0o600 | others)
    assert read_private(directory, "a") is None


def test_names_that_stand_for_something_else(tmp_path: Path) -> None:
    directory, elsewhere = tmp_path / "dbsp", tmp_path / "elsewhere"
    write_private(elsewhere, "a", b"theirs")
    directory.mkdir(mode=0o700)
    (directory / "a").symlink_to(elsewhere / "a")
    assert read_private(directory, "a") is None
    (tmp_path / "link").symlink_to(elsewhere)
    assert read_private(tmp_path / "link", "a") is None
    write_private(tmp_path / "link", "b", b"mine")
    assert not (elsewhere / "b").exists()
    os.mkfifo(directory / "pipe", 0o600)
    assert read_private(directory, "pipe") is None  # and doesn't wait for a writer


def test_what_cant_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    write_private(tmp_path / "file" / "dbsp", "a", b"mine")
    write_private(tmp_path / "file", "a", b"mine")
    assert (tmp_path / "file").read_bytes() == b""


def test_what_was_not_read_for_long_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_directory, "_KEPT", 8)
    for n in range(8):
        write_private(tmp_path / "d", str(n), b"x")
        os.utime(tmp_path / "d" / str(n), (n, n))
    assert read_private(tmp_path / "d", "0") == b"x"
    write_private(tmp_path / "d", "new", b"x")
    assert {path.name for path in (tmp_path / "d").iterdir()} == {"0", "3", "4", "5", "6", "7", "new"}


def test_a_name_stands_for_ours_where_nobody_else_can_rename(tmp_path: Path) -> None:
    above = tmp_path / "above"
    (above / "directory").mkdir(mode=0o700, parents=True)
    above.chmod(0o755)
    assert is_private(above / "directory")
    above.chmod(0o777)
    assert not is_private(above / "directory")
    above.chmod(0o1777)
    assert is_private(above / "directory")
    (above / "directory").chmod(0o720)
    assert not is_private(above / "directory")


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_directory() == Path("/somewhere/dbsp")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_directory("other") == Path.home() / ".cache" / "other"


def test_a_user_whom_nobody_has_made_has_a_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as where no list of users has them
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own = cache_directory()
    assert own.parent == tmp_path
    write_private(own, "a", b"kept")
    assert read_private(own, "a") == b"kept"


@pytest.mark.parametrize("spoil", [slice(0, 1), slice(40, 41), slice(40, None)])
def test_what_is_spoilt_is_not_read(tmp_path: Path, spoil: slice) -> None:
    directory = tmp_path / "cache"
    write_checked(directory, "a", b"content" * 9)
    assert read_checked(directory, "a") == b"content" * 9
    content = bytearray((directory / "a").read_bytes())
    content[spoil] = b"?" if spoil.stop else b""
    (directory / "a").write_bytes(content)
    assert read_checked(directory, "a") is None
