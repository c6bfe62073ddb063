"""The command line: exit status, what goes to stdout and what to stderr, and that help helps."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dbsp import Pipeline
from dbsp.circuits.errors import ProgramError
from dbsp.commands import starter
from dbsp.commands.cli import main
from dbsp.commands.starter import DELTAS, EXPECTED, PROGRAM
from tests.dbsp.commands.project import dbsp, project

ROOT = Path(__file__).parents[3]
COMMANDS = sorted(main.commands)
__all__ = ["project"]  # a fixture


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_an_example_and_words_for_every_option(command):
    shown = dbsp(command, "--help")
    assert shown.exit_code == 0
    assert re.search(rf"Example:\n +(echo .* \| )?dbsp {command} ", shown.output)
    choices = {"runner", "output", "form"}  # their values say it
    for parameter in main.commands[command].params:
        if parameter.param_type_name == "option" and parameter.name not in choices:
            assert parameter.help, f"{command} {parameter.name}"


def test_the_commands_are_those_of_the_interface():
    names = "backup changes check explain fsck init pipeline plan query replay restore run serve "
    names += "status step tag why"
    assert names.split() == COMMANDS
    assert all(command in dbsp("--help").output for command in COMMANDS)


def test_version():
    assert re.fullmatch(r"dbsp \d+\.\d+\.\d+\n", dbsp("--version").output)


@pytest.mark.parametrize(
    "arguments",
    [
        ["stp"],
        ["step"],
        ["step", "p.sql", "d", "--runner", "flink"],
        ["step", "p.sql", "d", "--partitions", "0"],
        ["step", "p.sql", "d", "--expect", "a", "--accept", "b"],
        ["step", "p.sql", "d", "--define", "X"],
        ["run", "p.sql", "--once", "--every", "1s"],
        ["step", "p.sql", "d", "--output", "table", "--changelog", "upsert"],
        ["run", "p.sql", "--output", "live-table", "--changelog", "append"],
        ["run", "p.sql", "--output", "text"],
        ["explain", "p.sql", "--format", "png"],
        ["query", "state"],
    ],
    ids=" ".join,
)
def test_usage_errors_exit_with_2(arguments):
    assert dbsp(*arguments).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["step", "nowhere.sql", "nowhere.jsonl"], "nowhere.jsonl: can't read the deltas: No such file"),
        (["step", "nowhere.sql", "-"], "nowhere.sql: can't read the program: No such file"),
        (["check", "nowhere.sql"], "nowhere.sql: can't read the program: No such file"),
        (["query", "nowhere", "SELECT 1"], "nowhere: no such directory"),
    ],
)
def test_what_is_wrong_is_one_line_on_stderr(arguments, said):
    result = dbsp(*arguments, text="")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1


@pytest.mark.spark
def test_a_new_project_runs_as_init_says(project, spark):
    (check,) = [line for line in dbsp("init", "again").output.splitlines() if line.startswith("check")]
    command = check.split(": dbsp ")[1].split()
    result = dbsp(*command)
    assert (result.exit_code, result.output) == (0, "")
    assert dbsp("step", "program.sql", "deltas.sql").output == EXPECTED


@pytest.mark.spark
def test_the_outputs_of_a_replay(project, spark):
    dbsp("step", "program.sql", "deltas.sql")
    table = dbsp("step", "program.sql", "deltas.sql", "--output", "table").output.splitlines()
    assert table[0] == "step 1: turnover"
    rows = dbsp("step", "program.sql", "deltas.sql", "--output", "csv", "--changelog", "upsert").output
    assert rows.splitlines()[0] == "__step,__view,__op,country,orders,total"
    assert {row.split(",")[2] for row in rows.splitlines()[1:]} == {"I", "U", "D"}
    refused = dbsp("step", "program.sql", "deltas.sql", "--changelog", "append")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "can take rows back, which an append can't say; use --changelog retract" in refused.stderr


@pytest.mark.spark
def test_a_difference_is_a_diff_and_status_3(project, spark):
    (project / "expected.jsonl").write_text(EXPECTED.replace('"219.50"', '"219.51"', 1))
    result = dbsp("step", "program.sql", "deltas.sql", "--expect", "expected.jsonl")
    assert result.exit_code == 3
    assert result.stdout.startswith("--- expected.jsonl\n+++ output\n@@")
    old, new = [line for line in result.stdout.splitlines()[2:] if line[0] in "+-"]
    assert json.loads(old[1:])["row"]["total"] == "219.51"
    assert json.loads(new[1:])["row"]["total"] == "219.50"
    assert result.stderr == ""
    kept = dbsp("step", "program.sql", "deltas.sql", "--expect", "expected.jsonl", "--state", "s")
    assert (kept.exit_code, kept.stdout) == (3, result.stdout)
    assert kept.stderr == "s: steps 1 to 3 are committed: all of deltas.sql; don't give it again\n"


@pytest.mark.spark
def test_accepted_output_is_expected_from_then_on(project, spark):
    (project / "expected.jsonl").unlink()
    missing = dbsp("step", "program.sql", "deltas.sql", "--expect", "expected.jsonl")
    assert missing.exit_code == 1
    assert "make it with --accept" in missing.stderr
    assert dbsp("step", "program.sql", "deltas.sql", "--accept", "expected.jsonl").output == ""
    assert (project / "expected.jsonl").read_text() == EXPECTED
    assert dbsp("step", "program.sql", "deltas.sql", "--expect", "expected.jsonl").exit_code == 0


@pytest.mark.spark
def test_a_mistake_in_the_deltas_ends_with_its_place(project, spark):
    deltas = (
        '{"table": "customer", "upsert": {"id": 1}}\n{"step": true}\n{"table": "customr", "upsert": {}}\n'
    )
    result = dbsp("step", "program.sql", "-", "--output", "text", text=deltas)
    assert result.exit_code == 1
    assert result.stdout == "step 1\n", "the step before it is made as it is read"
    assert (
        result.stderr
        == "stdin:3: unknown table 'customr'; tables: customer, orders; did you mean 'customer'?\n"
    )


@pytest.mark.spark
def test_a_step_that_fails_says_which_and_where(tmp_path, monkeypatch, spark):
    monkeypatch.chdir(tmp_path)
    Path("p.sql").write_text(
        "CREATE TABLE t (a INT, at DATE); CREATE VIEW v AS SELECT 12 / a AS q, at FROM t;"
    )
    good = '{"table": "t", "row": {"a": 1, "at": null}, "weight": 1}\n'
    zero = good.replace('"a": 1', '"a": 0')
    step = '{"step": true}\n'
    absent = good.replace(": 1}", ": -1}").replace('"a": 1', '"a": null')
    twice = good.replace(": 1}", ": -2}")
    for text, said in [
        (
            good + step + absent,
            "stdin:3: step 2: table 't': can't retract the row (a=NULL, at=NULL): it isn't there;",
        ),
        (
            good + step + good + twice + twice,
            "stdin:5: step 2: table 't': can't retract the row (a=1, at=NULL) 3 times: it is there once;",
        ),
        (good + step + zero, "stdin: step 2: view 'v': "),
    ]:
        result = dbsp("step", "p.sql", "-", "--output", "text", text=text)
        assert (result.exit_code, result.stdout.splitlines()[0]) == (1, "step 1")
        assert result.stderr.startswith(said), result.stderr
        assert result.stderr.count("\n") == 1
        kept = dbsp("step", "p.sql", "-", "--state", "s", text=text)
        (told,) = kept.stderr.splitlines()[1:]
        assert told.startswith("s: step 1 is committed: stdin up to stdin:2; go on with what follows that,")
        shutil.rmtree("s")


@pytest.mark.spark
def test_files_of_other_editors(project, spark):
    """A byte order mark, and lines that end in CR LF."""
    for name in ("program.sql", "deltas.sql"):
        text = (project / name).read_text().replace("\n", "\r\n")
        (project / name).write_text("\ufeff" + text, newline="")
    assert dbsp("step", "program.sql", "deltas.sql").output == EXPECTED
    lines = '\ufeff{"table": "customer", "upsert": {"id": 1}}\r\n'
    assert dbsp("step", "program.sql", "-", text=lines).exit_code == 0


@pytest.mark.spark
def test_a_table_that_is_written_takes_no_rows_and_keeps_none(project, spark):
    target = "CREATE TABLE out (country STRING, n BIGINT, __weight BIGINT) USING json OPTIONS (path 'out');"
    insert = "INSERT INTO out SELECT country, count(*) FROM customer GROUP BY country;"
    (project / "program.sql").write_text(f"{PROGRAM}\n{target}\n{insert}")
    result = dbsp("check", "program.sql", "--strict")
    assert (result.exit_code, re.search(r"^\d+ \w+ out:", result.output, re.MULTILINE)) == (0, None)
    assert "sink out: retract, exactly once" in result.output
    (project / "into.sql").write_text("INSERT INTO out VALUES ('FR', 1, 1)")
    said = "table 'out' takes no rows: INSERT INTO at program.sql:"
    refused = dbsp("step", "program.sql", "into.sql").stderr
    assert refused.startswith(f"into.sql:1:13: {said}")
    assert refused.endswith(" writes it; tables: customer, orders\n")
    with Pipeline("program.sql", runner="inline") as p, pytest.raises(ProgramError, match=said):
        p.insert("OUT", [("FR", 1, 1)])


@pytest.mark.spark
def test_a_known_program_needs_nothing_of_weight(project, spark):
    """What would make the start slow isn't even imported."""
    assert dbsp("step", "program.sql", "deltas.sql").exit_code == 0
    script = (
        "import sys; from dbsp.commands.cli import main\n"
        "main(['step', 'program.sql', 'deltas.sql', '--accept', 'out'], standalone_mode=False)\n"
        "heavy = ('pyspark', 'py4j', 'dbsp.sql.compiler.compile', 'sqlglot', 'rich', 'pandas')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
    assert (project / "out").read_text() == EXPECTED


def test_the_starter_is_all_of_its_files():
    assert set(starter.FILES.values()) == {PROGRAM, DELTAS, EXPECTED}
