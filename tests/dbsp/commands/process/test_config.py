"""dbsp.toml: what it says holds where the command line is silent; what it can't say is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbsp.commands import run as running
from dbsp.commands.cli import main

FILE = """
state = "kept"
every = "2s"
max_undelivered = 3
once = false
packages = ["g:a:1", "g:b:2"]
[conf]
"spark.ui.enabled" = true
"spark.x" = 1
[define]
BROKER = "h:1"
"""


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What `dbsp run p.sql` of these arguments would run with, beside a dbsp.toml of this text."""
    monkeypatch.chdir(tmp_path)
    seen: dict[str, Any] = {}
    monkeypatch.setattr(running, "run_program", lambda program, **options: seen.update(options))

    def run(text: str | None, *arguments: str) -> dict[str, Any] | str:
        if text is not None:
            Path("dbsp.toml").write_text(text)
        done = CliRunner().invoke(main, ["run", "p.sql", *arguments])
        return seen if done.exit_code == 0 else done.output.splitlines()[-1]

    return run


def test_the_file_says_what_the_command_line_leaves_out(ran: Any) -> None:
    options = ran(FILE)
    assert (options["state"], options["every"], options["max_undelivered"]) == ("kept", "2s", 3)
    assert options["settings"].packages == ("g:a:1", "g:b:2")
    assert options["settings"].conf == {"spark.ui.enabled": "true", "spark.x": "1"}
    assert options["define"] == {"BROKER": "h:1"}


def test_the_command_line_wins_and_of_tables_name_by_name(ran: Any) -> None:
    given = ["--state", "other", "--conf", "spark.x=2", "--packages", "g:c:3,g:d:4", "--master", "local[1]"]
    options = ran(FILE, *given, "-D", "TOPIC=t")
    assert (options["state"], options["settings"].master) == ("other", "local[1]")
    assert options["settings"].packages == ("g:c:3", "g:d:4")
    assert options["settings"].conf == {"spark.ui.enabled": "true", "spark.x": "2"}
    assert options["define"] == {"BROKER": "h:1", "TOPIC": "t"}


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ('every = "1s"', ["--once"], {"once": True, "every": None}),
        ("once = true", ["--every", "1s"], {"once": False, "every": "1s"}),
        ('changelog = "upsert"', ["--output", "table"], {"output": "table", "changelog": "retract"}),
        ('changelog = "upsert"', ["--output", "csv"], {"output": "csv", "changelog": "upsert"}),
        ('output = "table"', ["--changelog", "upsert"], {"output": None, "changelog": "upsert"}),
        ('output = "table"', ["--changelog", "retract"], {"output": "table", "changelog": "retract"}),
    ],
)
def test_what_the_command_line_excludes_is_left_out(
    ran: Any, text: str, given: list[str], expected: dict[str, Any]
) -> None:
    options = ran(text, *given)
    assert {name: options[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "given"), [('every = "1s"\nonce = true', []), ("state = 's'", ["--once", "--every", "1s"])]
)
def test_of_one_place_both_are_refused(ran: Any, text: str, given: list[str]) -> None:
    assert ran(text, *given) == "Error: --once and --every exclude each other"


def test_another_file_and_none(ran: Any, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('output = "csv"')
    assert ran(FILE, "--config", "other.toml")["output"] == "csv"
    (tmp_path / "dbsp.toml").unlink()
    options = ran(None)
    assert (options["state"], options["settings"].options(), options["define"]) == (None, {}, {})


def test_a_server_s_options_are_called_as_on_its_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dbsp.toml").write_text('http = 9000\nallow-host = ["a.example", "b.example"]\nstate = "s"\n')
    with main.commands["serve"].make_context("serve", ["p.sql"]) as context:
        assert (context.params["port"], context.params["state"]) == (9000, "s")
        assert context.params["allowed"] == ("a.example", "b.example")


def test_a_project_has_one_file_for_both(ran: Any, tmp_path: Path) -> None:
    both = 'state = "s"\nonce = true\noutput = "csv"\nhttp = 9000\nallow_host = ["a.example"]\n'
    options = ran(both)
    assert (options["state"], options["once"], options["output"]) == ("s", True, "csv")
    with main.make_context("dbsp", ["serve", "p.sql"]) as parent:
        serve = main.commands["serve"].make_context("serve", ["p.sql"], parent=parent)
    assert (serve.params["port"], serve.params["state"]) == (9000, "s")
    assert ran(both + "htp = 1").startswith("dbsp.toml: unknown key 'htp'; there are: allow-host, ")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("stat = 's'", "dbsp.toml: unknown key 'stat'; there are: allow-host, changelog, conf, "),
        ("packages = 'g:a:1'", 'dbsp.toml: packages is a list of texts: packages = ["...", "..."]'),
        ("conf = 1", "dbsp.toml: conf is a table of names and values: [conf], then"),
        ("every = ['1s']", "dbsp.toml: every is one value, not ['1s']"),
        ("every = ", "dbsp.toml: Invalid value (at end of document)"),
        ("evolve = true", "dbsp.toml: unknown key 'evolve'"),
        ("output = 'svg'", "Error: Invalid value for '--output': 'svg' is not one of"),
    ],
)
def test_what_a_file_can_t_say(ran: Any, text: str, error: str) -> None:
    assert str(ran(text)).startswith(error)


def test_a_file_that_is_not_there(ran: Any) -> None:
    said = str(ran(None, "--config", "no.toml"))
    assert said == "no.toml: can't read the options: No such file or directory"
