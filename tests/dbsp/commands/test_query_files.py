"""Files are asked by their names, without a state and beside one."""

from __future__ import annotations

import pytest

from tests.dbsp.commands.project import dbsp, project

__all__ = ["project"]  # a fixture


@pytest.mark.spark
def test_files_are_asked_without_a_state_and_beside_one(project, spark):
    (project / "country.csv").write_text("code,name,since\nFR,France,2024-01-01 10:30:00\nUK,Britain,\n")
    alone = dbsp(
        "query", "SELECT name, FLOOR(since TO HOUR) AS hour FROM 'country.csv' ORDER BY country.code"
    )
    assert alone.output == (
        "name     hour\n-------  --------------------\nFrance   2024-01-01T10:00:00Z\nBritain  NULL\n"
    )
    dbsp("step", "program.sql", "deltas.sql", "--state", "state")
    joined = "SELECT c.name, t.total FROM turnover t JOIN 'country.csv' c ON c.code = t.country"
    assert (
        dbsp("query", "state", joined, "--output", "json").output == '{"name": "France", "total": "220.00"}\n'
    )
    unknown = dbsp("query", "SELECT nam FROM 'country.csv'")
    assert unknown.exit_code == 1
    assert "`name`" in unknown.stderr
    nothing = dbsp("query", "SELECT 1")
    assert nothing.exit_code == 1
    assert nothing.stderr.startswith("give the state directory whose views are asked")
    assert dbsp("query").exit_code == 2
    assert dbsp("query", "SELECT * FROM 'country.csv'", "--as-of", "1").exit_code == 2
