"""What nobody foresaw: one line, and the traceback where it says."""

from __future__ import annotations

import errno
import logging
import os
import re
import tempfile
from pathlib import Path

import pytest

from dbsp.commands.process.unexpected import BUG, hear_once, report


def bug(*said: object) -> Exception:
    try:
        raise ZeroDivisionError(*said)
    except ZeroDivisionError as error:
        return error


def test_a_bug_is_one_line_and_its_traceback_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    said, status = report(bug("a\nb"))
    assert status == BUG
    found = re.fullmatch(
        r"dbsp has a bug: ZeroDivisionError: a; the traceback is in (\S+); DBSP_TRACEBACK=1 prints it", said
    )
    assert found is not None
    assert "in bug\n    raise ZeroDivisionError(*said)" in Path(found[1]).read_text(encoding="utf-8")


def test_what_the_machine_refuses_is_no_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever wrote: a file that is known by name, or an output that isn't."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    said, status = report(OSError(errno.EACCES, os.strerror(errno.EACCES), "out/x"))
    assert status == 1
    assert said.startswith("out/x: Permission denied; the traceback is in ")
    with pytest.raises(OSError, match="No space") as full, open("/dev/full", "w") as file:
        file.write("x" * 100_000)
    said, status = report(full.value)
    assert status == 1
    assert said.startswith("No space left on device; the traceback is in ")
    assert report(FileNotFoundError(errno.ENOENT, "none", "x"))[1] == BUG


def test_it_is_printed_where_it_is_asked_for_or_can_t_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DBSP_TRACEBACK", "1")
    assert report(bug())[0] == "dbsp has a bug: ZeroDivisionError: nothing is said; see above"
    assert "in bug\n" in capsys.readouterr().err
    monkeypatch.delenv("DBSP_TRACEBACK")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    assert "the traceback is in the lines above" in report(bug())[0]
    assert "in bug\n" in capsys.readouterr().err


def test_py4j_says_nothing_that_it_also_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    root, py4j = logging.getLogger(), logging.getLogger("py4j")
    monkeypatch.setattr(root, "filters", [])  # a command that ran before has heard already
    monkeypatch.setattr(py4j, "level", py4j.level)
    hear_once()
    (added,) = root.filters

    def passes(path: str) -> bool:
        record = logging.LogRecord("root", logging.ERROR, path, 1, "said", None, None)
        return bool(added(record))  # type: ignore[operator]

    assert not passes("/x/site-packages/py4j/java_gateway.py")
    assert passes("/x/dbsp/pipeline/pipeline.py")
    assert py4j.getEffectiveLevel() > logging.CRITICAL
    hear_once()
    assert root.filters == [added]
