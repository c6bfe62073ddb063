"""Statements of a replay file as the rows that they change."""

from __future__ import annotations

import pytest

from dbsp.commands.replays.files import read_file
from dbsp.testing.evaluated import evaluated
from dbsp.testing.programs import in_process, load

pytestmark = pytest.mark.spark

PROGRAM = """
CREATE TABLE t (k BIGINT NOT NULL, s STRING DEFAULT 'new', PRIMARY KEY (k));
CREATE TABLE bag (x BIGINT, twice BIGINT GENERATED ALWAYS AS (x * 2));
CREATE VIEW keys AS SELECT k FROM t;
"""


def changes(text: str) -> list[dict[str, list[tuple[object, int]]]]:
    """Of each step, by table the rows and their weights."""
    program = load(PROGRAM)
    with in_process(program) as pipeline:
        made = evaluated(pipeline, list(read_file(text, "deltas.sql", program)))
        assert pipeline.last_step == len(made)
    assert not any(step.statements for step in made)
    return [
        {name: [(one.row, one.weight) for one in given] for name, given in step.changes.items()}
        for step in made
    ]


def test_a_row_of_a_keyed_table_goes_by_its_key():
    first, second = changes(
        "INSERT INTO t VALUES (1, 'a'), (2, 'b'); STEP;"
        "DELETE FROM t WHERE s = 'a'; UPDATE t SET s = DEFAULT WHERE k = 2; STEP;"
    )
    assert first == {"t": [({"k": 1, "s": "a"}, 1), ({"k": 2, "s": "b"}, 1)]}
    assert second == {"t": [({"k": 1}, -1), ({"k": 2, "s": "new"}, 1)]}


def test_rows_of_the_step_come_before_what_statements_change():
    _, second = changes(
        "INSERT INTO bag (x) VALUES (1), (1); STEP;"
        "INSERT INTO bag (x) VALUES (7); UPDATE bag SET x = x + 1; STEP;"
    )
    assert second == {
        "bag": [({"x": 7}, 1), ({"x": 1, "twice": 2}, -2), ({"x": 2, "twice": 4}, 2)],
    }


def test_a_statement_sees_what_those_before_it_changed():
    assert changes(
        "UPDATE t SET s = 'b'; STEP; INSERT INTO t SELECT 3, 'c'; DELETE FROM t WHERE k = 3; STEP;"
    ) == [
        {},
        {"t": [({"k": 3, "s": "c"}, 1), ({"k": 3}, -1)]},
    ]
