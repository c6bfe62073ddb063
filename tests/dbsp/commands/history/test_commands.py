"""The commands about what was: what they print, and what is no call of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbsp.commands.cli import main
from tests.dbsp.build import STEPS, feed, pipeline


@pytest.fixture
def state(tmp_path: Path) -> Path:
    with pipeline(tmp_path / "s") as p:
        feed(p)
    return tmp_path / "s"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_tags_are_made_listed_and_taken_away(state: Path) -> None:
    assert run("tag", state, "first", 2, "--for", "7d").exit_code == 0
    assert run("tag", state, "second").exit_code == 0
    listed = run("tag", state).output.splitlines()
    assert [line.split()[:3] for line in listed] == [
        ["first:", "step", "2,"],
        ["second:", "step", f"{STEPS},"],
    ]
    assert run("tag", state, "first", "--delete").output == "'first' is no tag any more\n"
    assert "first" not in run("tag", state).output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--delete"], "--delete takes the name of a tag, and nothing else"),
        (["name", "2", "--delete"], "--delete takes the name of a tag, and nothing else"),
        (["--for", "7d"], "--for is of a tag that is made: give its name"),
    ],
)
def test_what_is_no_call_of_tag(state: Path, arguments: list[str], said: str) -> None:
    found = run("tag", state, *arguments)
    assert (found.exit_code, said in found.stderr) == (2, True)


def test_a_backup_is_restored_to_the_same_views(state: Path, tmp_path: Path) -> None:
    first = run("backup", state, tmp_path / "b").output
    assert first.startswith(f"{tmp_path / 'b'}: step {STEPS}; ")
    assert run("backup", state, tmp_path / "b").output.endswith("; 0 segments copied, 0 bytes\n")
    assert run("restore", tmp_path / "b", tmp_path / "r").output == first.replace(
        f"{tmp_path / 'b'}:", f"{tmp_path / 'r'}:"
    )
    with pipeline(state) as one, pipeline(tmp_path / "r") as other:
        assert one["counts"].rows() == other["counts"].rows()


def test_a_command_that_fails_is_one_line(state: Path, tmp_path: Path) -> None:
    found = run("restore", tmp_path / "none", tmp_path / "r")
    assert found.exit_code == 1
    assert found.stderr.count("\n") == 1
    assert str(tmp_path / "none") in found.stderr
