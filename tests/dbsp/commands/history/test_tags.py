"""`dbsp tag`, `--keep-steps`, `--keep-for` and `dbsp fsck` of a directory with tags."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from dbsp.commands.cli import main
from tests.dbsp.build import feed, pipeline


def dbsp(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def test_a_tag_is_made_listed_kept_and_taken_away(tmp_path: Path) -> None:
    state = tmp_path / "s"
    with pipeline(state, keep_steps=2) as p:
        feed(p)
        assert dbsp("tag", state, "first", 3) == (0, "step 3 is 'first'\n")
        assert dbsp("tag", state, "short", "--for", "1h")[0] == 0
        for _ in range(3):
            p.step()
    code, listed = dbsp("tag", state)
    assert code == 0
    assert [line.split(",")[0] for line in listed.splitlines()] == ["first: step 3", "short: step 4"]
    assert dbsp("fsck", state) == (0, f"{state}: steps 3 to 4 and 6 to 7 are whole\n")
    (state / "commits" / "000000000006.json").unlink()
    assert "000000000006.json: damaged: the file is missing" in dbsp("fsck", state)[1]
    assert dbsp("tag", state, "first", "--delete") == (0, "'first' is no tag any more\n")
    assert dbsp("tag", state, "first", "--delete")[0] == 1
    assert dbsp("tag", state, "--delete")[0] == 2
    assert dbsp("tag", state, "--for", "1h")[0] == 2
    assert "write it as 7d" in dbsp("tag", state, "x", "--for", "soon")[1]


def test_going_back_takes_tags_of_later_steps_away(tmp_path: Path) -> None:
    state = tmp_path / "s"
    with pipeline(state) as p:
        feed(p)
    dbsp("tag", state, "later", 4)
    dbsp("tag", state, "before", 2)
    code, said = dbsp("fsck", state, "--restore-to", 3)
    assert code == 0
    assert "tag 'later' was of step 4, and is gone" in said
    assert dbsp("tag", state)[1].startswith("before: step 2")
    with pipeline(state) as p:
        feed(p)
