"""`dbsp changes`: the lines of a run's own changelog, or their sum."""

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
"""
DELTAS = """
INSERT INTO vote VALUES (1, 1); STEP AT TIMESTAMP '2024-01-01 00:00:00';
INSERT INTO vote VALUES (2, 1); STEP AT TIMESTAMP '2024-01-02 00:00:00';
INSERT INTO vote VALUES (3, 2); STEP AT TIMESTAMP '2024-01-03 00:00:00';
"""


def dbsp(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def state(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("p")
    (root / "program.sql").write_text(PROGRAM)
    (root / "deltas.sql").write_text(DELTAS)
    code, _ = dbsp(
        "step", root / "program.sql", root / "deltas.sql", "--state", root / "s", "--keep-for", "36h"
    )
    assert code == 0
    return root / "s"


def test_the_changes_of_a_view(state: Path) -> None:
    assert dbsp("changes", state, "counts", "--since", "1") == (
        0,
        '{"step": 3, "view": "counts", "row": {"story": 1, "n": 1}, "weight": -1}\n'
        '{"step": 3, "view": "counts", "row": {"story": 1, "n": 2}, "weight": 1}\n'
        '{"step": 3, "view": "counts", "row": {"story": 2, "n": 1}, "weight": 1}\n',
    )
    since = "2024-01-02 12:00:00"
    assert dbsp("changes", state, "counts", "--since", since, "--each", "--output", "csv") == (
        0,
        "__step,__view,__weight,story,n\n3,counts,1,2,1\n",
    )
    code, table = dbsp("changes", state, "COUNTS", "--since", 0, "--until", 1, "--output", "table", "--each")
    assert code == 0
    assert [line.split() for line in table.splitlines()] == [
        ["story", "n", "__weight", "__step"],
        ["-----", "-", "--------", "------"],
        ["1", "1", "1", "1"],
    ]
    assert dbsp("changes", state, "counts", "--since", 3) == (0, "")


def test_what_isn_t_there(state: Path) -> None:
    code, said = dbsp("changes", state, "count", "--since", 1)
    assert (code, said.strip()) == (1, "unknown view 'count'; views: counts; did you mean 'counts'?")
    code, said = dbsp("changes", state, "counts", "--since", 9)
    assert code == 1
    assert "step 9 is not kept; steps 1 to 3 are" in said
    assert len(said.splitlines()) == 1


def test_views_as_of_other_steps_in_one_query(state: Path) -> None:
    then = "counts FOR SYSTEM_TIME AS OF '2024-01-01 06:00'"
    select = f"SELECT c.n, b.n AS before FROM counts c JOIN {then} b USING (story)"
    assert dbsp("query", state, select, "--output", "json") == (0, '{"n": 2, "before": 1}\n')
    select = "SELECT counts.n FROM counts VERSION AS OF 1"
    assert dbsp("query", state, select, "--output", "json", "--as-of", "2024-01-03") == (0, '{"n": 1}\n')
    code, said = dbsp("query", state, "SELECT * FROM count FOR SYSTEM_TIME AS OF 1")
    assert (code, said.strip()) == (1, "unknown view 'count'; views: counts; did you mean 'counts'?")
    code, said = dbsp("query", state, "SELECT * FROM counts FOR SYSTEM_TIME AS OF '1999-01-01'")
    assert code == 1
    assert "no step is kept as of 1999-01-01 00:00:00 UTC; step 1 was made at 2024-01-01 00:00:00 UTC" in said
