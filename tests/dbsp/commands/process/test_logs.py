"""`--log json`: every line on stderr is an object, whatever is said, and text stays as it was without it."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from dbsp.circuits.errors import DataError
from dbsp.commands import run as running
from dbsp.commands.cli import main
from dbsp.commands.process.logs import formatter, json_lines, say
from tests.dbsp.commands.test_serve import PROGRAM


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def ran(monkeypatch: pytest.MonkeyPatch, *options: str, error: BaseException | None = None) -> Result:
    """`dbsp run p.sql`, which says a word and then raises."""

    def run(program: str, **given: object) -> None:
        say(f"running {program}")
        if error is not None:
            raise error

    monkeypatch.setattr(running, "run_program", run)
    return CliRunner().invoke(main, ["run", "p.sql", *options])


def test_a_record_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with json_lines():
        logging.getLogger("dbsp").info("step 7", extra={"fields": {"step": 7, "rows_in": {"t": 2}}})
        logging.getLogger("other").warning("two\nlines of %s", "it")
        logging.getLogger("other").info("nobody asked")
    first, second = lines(capsys.readouterr().err)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first.pop("time"))
    assert first == {"level": "INFO", "logger": "dbsp", "message": "step 7", "step": 7, "rows_in": {"t": 2}}
    assert (second["level"], second["message"]) == ("WARNING", "two\nlines of it")


def test_a_name_that_is_no_utf_8_is_a_line_that_is() -> None:
    """Said to nobody: what takes the records of a test couldn't send it on."""
    record = logging.LogRecord("dbsp", logging.WARNING, "", 0, "%s is gone", ("in/\udce4.csv",), None)
    with json_lines():
        form = formatter()
        assert form is not None
        line = form.format(record)
    assert json.loads(line.encode())["message"] == "in/\udce4.csv is gone"


def test_it_ends_with_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    before = logging.getLogger("dbsp").level, threading.excepthook
    with json_lines():
        pass
    assert formatter() is None
    assert (logging.getLogger("dbsp").level, threading.excepthook) == before
    say("plain")
    assert capsys.readouterr().err == "plain\n"


def test_an_error_has_its_class_and_a_bug_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with json_lines():
        say("it failed", logging.ERROR, DataError("no such row"))
        say("it failed", logging.ERROR, ZeroDivisionError("1 / 0"))
    known, bug = lines(capsys.readouterr().err)
    assert known["error"] == {"class": "DataError", "text": "no such row"} and "traceback" not in known
    assert bug["error"]["class"] == "ZeroDivisionError" and "ZeroDivisionError: 1 / 0" in bug["traceback"]


def test_warnings_and_threads_say_it_in_lines_too(capsys: pytest.CaptureFixture[str]) -> None:
    with json_lines():
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        thread = threading.Thread(target=lambda: 1 / 0, name="worker")
        thread.start()
        thread.join()
    warned, ended = lines(capsys.readouterr().err)
    assert "old" in warned["message"]
    assert (ended["message"], ended["error"]["class"]) == ("thread worker has ended", "ZeroDivisionError")


@pytest.mark.parametrize("how", ["option", "environment", "file"])
def test_it_is_asked_for(how: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    if how == "environment":
        monkeypatch.setenv("DBSP_LOG", "json")
    if how == "file":
        (tmp_path / "dbsp.toml").write_text('log = "json"')
    done = ran(monkeypatch, *(["--log", "json"] if how == "option" else []))
    assert (done.exit_code, [line["message"] for line in lines(done.stderr)]) == (0, ["running p.sql"])
    assert formatter() is None
    monkeypatch.setenv("DBSP_LOG", "text")
    (tmp_path / "dbsp.toml").unlink(missing_ok=True)
    assert ran(monkeypatch).stderr == "running p.sql\n"


def test_the_last_word_is_a_line_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DBSP_TRACEBACK", "1")
    known = ran(monkeypatch, "--log", "json", error=DataError("no route to mariadb://me:pass@db/x\nmore"))
    bug = ran(monkeypatch, "--log", "json", error=KeyError("x"))
    stopped = ran(monkeypatch, "--log", "json", error=KeyboardInterrupt())
    usage = CliRunner().invoke(main, ["run", "p.sql", "--log", "json", "--partitions", "none"])
    assert [known.exit_code, bug.exit_code, stopped.exit_code, usage.exit_code] == [1, 70, 130, 2]
    last = [lines(result.stderr)[-1] for result in (known, bug, stopped, usage)]
    assert last[0]["message"] == "no route to mariadb://me:***@db/x"
    assert last[0]["error"] == {"class": "DataError", "text": "no route to mariadb://me:***@db/x\nmore"}
    assert last[1]["message"].startswith("dbsp has a bug: KeyError: 'x'") and "traceback" in last[1]
    assert (last[2]["level"], last[2]["message"][:11]) == ("WARNING", "interrupted")
    assert "'none' is not a valid integer" in last[3]["message"]


def test_what_is_defined_under_a_secret_name_is_hidden(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["--log", "json", "-D", "DB_PASSWORD=hidden-1"]
    assert "hidden-1" not in ran(monkeypatch, *given, error=DataError("who is hidden-1?")).stderr


@pytest.mark.spark
def test_a_server_s_log_is_json_and_has_no_token(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(PROGRAM)
    command = [sys.executable, "-m", "dbsp.commands.cli", "serve", "p.sql", "--http", "0", "--log", "json"]
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    environment.pop("DBSP_TOKEN", None)
    token = "a-token-that-is-given"
    for given in ({}, {"DBSP_TOKEN": token}):
        running = subprocess.Popen(
            command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environment | given
        )
        assert running.stderr is not None
        first = json.loads(running.stderr.readline())
        found = re.search(r"http://\S+", first["message"])
        assert found is not None, first
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=found[0], headers=headers, trust_env=False, timeout=60) as client:
            client.post("/tables/votes", json=[{"user_id": 1, "story_id": 7}])
        running.send_signal(signal.SIGTERM)
        rest = running.stderr.read()  # communicate() would leave out what is buffered
        assert running.wait(60) == 0
        said = lines(rest)
        assert token not in rest
        steps = [line for line in said if "step" in line]
        if given:
            assert [(line["step"], line["rows_in"]) for line in steps] == [(1, {"votes": 1})]
        else:
            assert steps == [] and any(line["message"].startswith("nobody can write") for line in said)
