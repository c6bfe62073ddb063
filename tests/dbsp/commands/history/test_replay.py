"""`dbsp replay`, `backup` and `restore` of a program with a sink, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbsp.commands.cli import main

pytestmark = pytest.mark.spark

PROGRAM = """
CREATE TABLE vote (user BIGINT, story BIGINT);
CREATE VIEW counts AS SELECT story, count(*) AS n FROM vote GROUP BY story;
CREATE TABLE out (story BIGINT, n BIGINT, __weight BIGINT) USING json OPTIONS (path '{}');
INSERT INTO out SELECT * FROM counts;
"""


def dbsp(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def test_what_if_and_back(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(PROGRAM.format(tmp_path / "out"))
    (tmp_path / "d.sql").write_text("INSERT INTO vote VALUES (1, 1); STEP; INSERT INTO vote VALUES (2, 1);")
    (tmp_path / "if.jsonl").write_text('{"table": "vote", "row": {"user": 2, "story": 7}}\n')
    (tmp_path / "bad.jsonl").write_text('{"table": "votes", "row": {"user": 2, "story": 7}}\n')
    state, other = tmp_path / "s", tmp_path / "o"
    assert dbsp("step", tmp_path / "p.sql", tmp_path / "d.sql", "--state", state)[0] == 0
    written = sorted(path.name for path in (tmp_path / "out").iterdir())

    code, said = dbsp("replay", state, "--from", 1, tmp_path / "bad.jsonl", "--state", other)
    assert code == 1
    assert "bad.jsonl:1: unknown table 'votes'" in said
    assert not other.exists()
    line = '{"step": 2, "view": "counts", "row": {"story": 7, "n": 1}, "weight": 1}\n'
    assert dbsp("replay", state, "--from", 1, tmp_path / "if.jsonl", "--state", other) == (0, line)
    rows = '{"n": 1, "story": 1}\n{"n": 1, "story": 7}\n'
    assert dbsp("query", other, "SELECT n, story FROM counts ORDER BY ALL", "--output", "json") == (0, rows)
    assert dbsp("query", state, "SELECT n, story FROM counts", "--output", "json") == (
        0,
        '{"n": 2, "story": 1}\n',
    )
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == written
    code, said = dbsp("replay", state, "--from", 1, tmp_path / "if.jsonl", "--state", other)
    assert (code, said) == (1, f"{other}: is there already; use a new directory\n")

    code, said = dbsp("backup", state, tmp_path / "to")
    assert code == 0
    assert said.startswith(f"{tmp_path / 'to'}: step 2; ")
    assert dbsp("backup", state, tmp_path / "to") == (
        0,
        f"{tmp_path / 'to'}: step 2; 0 segments copied, 0 bytes\n",
    )
    assert dbsp("restore", tmp_path / "to", tmp_path / "r")[0] == 0
    assert dbsp("fsck", tmp_path / "r") == (0, f"{tmp_path / 'r'}: steps 1 to 2 are whole\n")
    (tmp_path / "more.sql").write_text("INSERT INTO vote VALUES (3, 1);")
    code, said = dbsp("step", tmp_path / "p.sql", tmp_path / "more.sql", "--state", tmp_path / "r")
    assert code == 0
    assert said.splitlines()[-1] == '{"step": 3, "view": "counts", "row": {"story": 1, "n": 3}, "weight": 1}'


def test_code_is_not_taken_from_a_state_directory(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(
        "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$ return x + 1 $$;\n"
        "CREATE TABLE t (x BIGINT);\nCREATE VIEW v AS SELECT f(x) AS y FROM t;\n"
    )
    (tmp_path / "d.sql").write_text("INSERT INTO t VALUES (1);")
    assert dbsp("step", tmp_path / "p.sql", tmp_path / "d.sql", "--state", tmp_path / "s")[0] == 0
    code, said = dbsp("replay", tmp_path / "s", "--from", 1, tmp_path / "d.sql", "--state", tmp_path / "o")
    assert code == 1
    assert "no code is run that a state directory brings; give the program's file with --program" in said
    known = ("--program", tmp_path / "p.sql")
    code, said = dbsp(
        "replay", tmp_path / "s", "--from", 1, tmp_path / "d.sql", "--state", tmp_path / "o", *known
    )
    assert (code, said) == (0, '{"step": 2, "view": "v", "row": {"y": 2}, "weight": 1}\n')
