"""Whatever ends a command is one line and a status: a bug, a signal."""

from __future__ import annotations

import signal
import tempfile

import pytest

from dbsp.circuits.errors import Error
from dbsp.commands.cli import main
from tests.dbsp.commands.project import dbsp


def fail_in(command: str, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(main.commands[command], "callback", fail)


def test_a_bug_is_one_line_and_its_traceback_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("DBSP_TRACEBACK", raising=False)
    fail_in("init", KeyError("amount\nand more"), monkeypatch)
    result = dbsp("init", "p")
    (kept,) = tmp_path.glob("dbsp-traceback-*.txt")
    assert (result.exit_code, result.stdout) == (70, "")
    assert result.stderr == (
        "dbsp has a bug: KeyError: 'amount\\nand more'; "
        f"the traceback is in {kept}; DBSP_TRACEBACK=1 prints it\n"
    )
    assert "in fail\n    raise error\n" in kept.read_text()
    monkeypatch.setenv("DBSP_TRACEBACK", "1")
    result = dbsp("init", "p")
    assert result.exit_code == 70
    assert result.stderr.startswith("Traceback (most recent call last):\n")
    assert result.stderr.endswith("dbsp has a bug: KeyError: 'amount\\nand more'; see above\n")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")])
def test_a_signal_is_one_line_and_a_status(number, word, monkeypatch):
    before = signal.getsignal(number)
    monkeypatch.setattr(main.commands["init"], "callback", lambda **_: signal.raise_signal(number))
    result = dbsp("init", "p")
    assert result.exit_code == 128 + number
    assert result.stderr == f"{word}; a state directory is as its last committed step left it\n"
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("error", [Error("wrong"), KeyboardInterrupt(), KeyError("x")])
def test_what_an_error_notes_is_a_line_after_its_own(error, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    error.add_note("steps 1 to 2 are committed")
    fail_in("init", error, monkeypatch)
    assert dbsp("init", "p").stderr.splitlines()[1:] == ["steps 1 to 2 are committed"]
