"""Options of several commands: how their values are read, given once, several times and in a file."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from dbsp.commands import run as running
from dbsp.commands.cli import main
from dbsp.commands.process.options import check_changelog, defines, listed


@click.command()
@click.option("--define", multiple=True, callback=defines)
@click.option("--jars", multiple=True, callback=listed)
def command(define: dict[str, str], jars: tuple[str, ...]) -> None:
    click.echo(f"{define} {jars}")


def said(*arguments: str, file: dict[str, object] | None = None) -> str:
    return CliRunner().invoke(command, arguments, default_map=file).output.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "{} ()"),
        (["--define", "A=1", "--define", "B="], "{'A': '1', 'B': ''} ()"),
        (["--define", "A=x=y", "--define", "A=2"], "{'A': '2'} ()"),
        (["--jars", "a.jar,b.jar", "--jars", "c.jar"], "{} ('a.jar', 'b.jar', 'c.jar')"),
    ],
)
def test_values_are_read(arguments: list[str], expected: str) -> None:
    assert said(*arguments) == expected


def test_the_command_line_adds_to_a_file_and_wins() -> None:
    assert said("--define", "A=2", file={"define": ["A=1", "B=1"]}) == "{'A': '2', 'B': '1'} ()"


@pytest.mark.parametrize("value", ["A", "=1", ""])
def test_what_is_no_pair_is_named(value: str) -> None:
    assert said("--define", value).endswith(f"'{value}' is not NAME=VALUE")


def test_a_jar_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.jar", "b c.jar"):
        Path(name).touch()
    monkeypatch.setattr(running, "run_program", lambda program, **options: print(options["settings"].jars))

    def run(*jars: str) -> str:
        return CliRunner().invoke(main, ["run", "p.sql", "--jars", ",".join(jars)]).output.splitlines()[-1]

    there = (
        "a.jar",
        "b c.jar",
        "*.jar",
        f"{tmp_path}/a.jar",
        f"file://{tmp_path}/b%20c.jar",
        "s3a://b/c.jar",
    )
    assert run(*there) == str(there)
    for jar in ("nosuch.jar", "no*.jar", f"file://{tmp_path}/nosuch.jar"):
        assert run("a.jar", jar) == f"Error: Invalid value for '--jars': no such file: '{jar}'"


@pytest.mark.parametrize("output", ["table", "live-table"])
def test_a_table_has_no_changelog(output: str) -> None:
    check_changelog(output, "retract")
    check_changelog("json", "upsert")
    with pytest.raises(click.UsageError, match=f"--output {output} shows the views"):
        check_changelog(output, "upsert")
