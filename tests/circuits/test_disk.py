"""What the operating system refuses is one line: the path, the system's words, what to do."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pyarrow as pa
import pytest

from dbsp.circuits.disk import disk, refused
from dbsp.circuits.errors import StateError


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "gone"
    with pytest.raises(StateError) as raised, disk(tmp_path):
        missing.read_text()
    # the error knows better than who called
    assert str(raised.value).startswith(
        f"{missing}: No such file or directory; was the state directory moved"
    )
    assert isinstance(raised.value.__cause__, FileNotFoundError)


def test_a_file_in_place_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StateError, match=r"file/x: Not a directory; was the state directory moved"),
        disk("d"),
    ):
        (tmp_path / "file" / "x").read_text()


def test_arrow_s_own_errors_have_the_system_s_words(tmp_path: Path) -> None:
    with pytest.raises(StateError) as raised, disk(tmp_path / "segment"):
        pa.memory_map(str(tmp_path / "segment"))
    assert str(raised.value).split("; ")[0] == f"{tmp_path / 'segment'}: No such file or directory"
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "make room on that disk, then try again"),
        (errno.EDQUOT, "make room on that disk, then try again"),
        (errno.EACCES, "give this user the right to read and write there"),
        (errno.EROFS, "it must be writable"),
        (errno.EMFILE, "raise the limit on open files (ulimit -n)"),
    ],
)
def test_advice(number: int, advice: str) -> None:
    said = str(refused(OSError(number, "whatever the library calls it"), "/state"))
    assert said == f"/state: {os.strerror(number)}; {advice}"


def test_without_a_number_the_error_speaks_for_itself() -> None:
    assert str(refused(OSError("odd"), Path("/state"))) == "/state: odd"
    assert str(refused(OSError(errno.ELOOP, "x"), "/state")) == f"/state: {os.strerror(errno.ELOOP)}"


@pytest.mark.parametrize("other", [KeyError("k"), StateError("mine"), KeyboardInterrupt()])
def test_other_errors_pass(other: BaseException) -> None:
    with pytest.raises(type(other)) as raised, disk("/state"):
        raise other
    assert raised.value is other


def test_what_is_refused_nothing() -> None:
    with disk("/state"):
        pass
