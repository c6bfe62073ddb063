"""The commands that make no step: what they print, and what they say of what is wrong."""

from __future__ import annotations

import re

import pytest

from dbsp.commands.starter import DELTAS, EXPECTED, PROGRAM
from tests.dbsp.commands.project import dbsp, project

__all__ = ["project"]  # a fixture


def test_init_overwrites_nothing(tmp_path):
    (tmp_path / "program.sql").write_text("mine")
    result = dbsp("init", tmp_path)
    assert result.exit_code == 1
    assert "program.sql: exists already" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["program.sql"]


@pytest.mark.spark
def test_state_goes_on_and_can_be_queried(project, spark):
    first, rest = DELTAS.split("STEP;", 1)
    (project / "first.sql").write_text(first)
    (project / "rest.sql").write_text(rest)
    output = dbsp("step", "program.sql", "first.sql", "--state", "state").output
    output += dbsp("step", "program.sql", "rest.sql", "--state", "state").output
    assert output == EXPECTED
    asked = dbsp("query", "state", "SELECT country, total FROM turnover ORDER BY total")
    assert asked.output == "country   total\n-------  ------\nFR       220.00\n"
    as_of = ["--as-of", "1", "--output", "json"]
    assert dbsp("query", "state", "SELECT * FROM turnover WHERE country = 'UK'", *as_of).output == (
        '{"country": "UK", "orders": 2, "total": "219.50"}\n'
    )
    unknown = dbsp("query", "state", "SELECT * FROM turnver")
    assert unknown.exit_code == 1
    assert "`turnver`" in unknown.stderr
    assert "views: turnover" in unknown.stderr
    wrong = dbsp("query", "state", "SELEC 1")
    assert re.match(
        r"\[PARSE_SYNTAX_ERROR\] Syntax error at or near 'SELEC'.*; views: turnover", wrong.stderr
    )
    command = dbsp("query", "state", "DROP VIEW turnover")
    assert (command.exit_code, command.stdout) == (1, "")
    assert re.match(
        r"\[PARSE_SYNTAX_ERROR\] Syntax error at or near 'DROP'.*; views: turnover", command.stderr
    )
    assert dbsp("query", "state", "WITH t AS (TABLE turnover) SELECT count(*) AS n FROM t;").exit_code == 0
    swept = dbsp("query", "state", "SELECT 1", "--as-of", "9")
    assert "step 9 is not kept; steps 1 to 3 are" in swept.stderr


@pytest.mark.spark
def test_check_says_what_bounds_every_state(project, spark):
    result = dbsp("check", "program.sql")
    assert result.exit_code == 0
    assert re.search(r"Upsert customer: .*; bounded by the primary key of customer \(id\)\n", result.output)
    assert re.search(r"bounded by the primary key of orders \(id\) and customer \(id\)\n", result.output)
    assert dbsp("check", "program.sql", "--strict").exit_code == 0
    (project / "program.sql").write_text(PROGRAM.replace(", PRIMARY KEY (id)", "").replace("STRING", "DATE"))
    bags = dbsp("check", "program.sql")
    assert bags.exit_code == 0
    assert re.search(r"unbounded: grows with customer, orders; LATENESS on customer\.name or", bags.output)
    strict = dbsp("check", "program.sql", "--strict")
    assert strict.exit_code == 1
    assert re.fullmatch(r"program\.sql: the state of \d+ operators is unbounded; see above\n", strict.stderr)


@pytest.mark.spark
def test_explain_in_every_form(project, spark):
    text = dbsp("explain", "program.sql").output
    assert "= view turnover (country STRING, orders BIGINT NOT NULL, total DECIMAL(20,2))" in text
    assert "Upsert customer  key (id)" in text
    assert "stream key: country" in text
    assert dbsp("explain", "program.sql", "TURNOVER").output == text
    operators = len(re.findall(r"^ *\d+  level", text, re.MULTILINE))
    forms = {"mermaid": r"^  n\d+\[", "dot": r"^  n\d+ \[", "svg": "<rect "}
    for form, pattern in forms.items():
        drawn = dbsp("explain", "program.sql", "--format", form).output
        assert len(re.findall(pattern, drawn, re.MULTILINE)) == operators
        assert "turnover" in drawn
    unknown = dbsp("explain", "program.sql", "turnver")
    assert unknown.stderr == "unknown view 'turnver'; views: turnover; did you mean 'turnover'?\n"


@pytest.mark.spark
def test_a_program_s_mistake_is_placed(project, spark):
    (project / "program.sql").write_text(PROGRAM.replace("o.amount", "o.amuont"))
    result = dbsp("step", "program.sql", "deltas.sql")
    assert (result.exit_code, result.stdout) == (1, "")
    assert re.match(r"program\.sql:\d+:\d+: .*amuont", result.stderr)
    assert result.stderr.count("\n") == 1
