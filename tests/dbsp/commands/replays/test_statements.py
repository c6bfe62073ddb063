"""Replay files in SQL: what a statement may be, and mistakes are placed at line and column."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError, ProgramError
from dbsp.commands.replays.files import queue
from dbsp.commands.replays.statements import read_sql
from dbsp.commands.replays.steps import Change
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import ColumnLateness
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import pipeline, program, table, view, votes_program


def changes(text):
    (step,) = read_sql(text, "d.sql", votes_program())
    return step.changes


def test_columns_may_be_named_in_any_order_and_left_out():
    text = "INSERT INTO votes (story_id, USER_ID) VALUES (1, 2), (3, NULL);\n"
    text += "DELETE FROM votes (user_id) VALUES (4)"
    assert changes(text) == {
        "votes": [
            Change({"story_id": 1, "user_id": 2}, 1, False, "d.sql:1:46"),
            Change({"story_id": 3, "user_id": None}, 1, False, "d.sql:1:54"),
            Change({"user_id": 4}, -1, False, "d.sql:2:36"),
        ]
    }


def test_rows_of_a_keyed_table_go_by_their_key():
    (one, other) = changes("UPSERT INTO customer VALUES (1, 'x', NULL); DELETE FROM customer VALUES (1)")[
        "customer"
    ]
    assert (one.weight, one.by_key) == (1, False)
    assert (other.weight, other.by_key) == (-1, True)


def test_steps_end_with_step_and_have_its_clock():
    text = "STEP; INSERT INTO event VALUES (1, 2.5); STEP AT '2024-01-01 10:00:00'; ;; STEP"
    steps = list(read_sql(text, "d.sql", votes_program()))
    assert [step.clock for step in steps] == [None, datetime(2024, 1, 1, 10), None]
    assert [bool(step.changes) for step in steps] == [False, True, False]


RANGE = "column '{}' (BIGINT): it is beyond -9223372036854775808 to 9223372036854775807"
SQL_MISTAKES = [
    ("INSERT INTO votes (user_id, USER_ID) VALUES (1, 2)", ["d.sql:1:29: column 'USER_ID' is listed twice"]),
    (
        "UPSERT INTO customer VALUES (1, 'x', 5)",
        ["d.sql:1:38: 5 doesn't fit column 'joined'", "expected a time"],
    ),
    (
        "INSERT INTO votes VALUES (9223372036854775808, 1)",
        ["d.sql:1:26: table 'votes'", RANGE.format("user_id")],
    ),
    ("INSERT INTO vots VALUES (1)", ["d.sql:1:13: unknown table 'vots'", "'votes'?"]),
    ("STEP;\nSELECT 1", ["d.sql:2:1: unknown statement 'SELECT'", "INSERT INTO"]),
    ("UPSERT INTO votes SELECT 1", ["d.sql:1:13: table 'votes' has no PRIMARY KEY"]),
    ("UPSERT INTO customer (id)", ["d.sql:1:26: expected VALUES", "rows are listed"]),
    ("INSERT INTO votes VALUES (1)", ["d.sql:1:26: 1 values for 2 columns (user_id, story_id)"]),
    ("INSERT INTO votes (usr) VALUES (1)", ["d.sql:1:20: unknown column 'usr'", "user_id, story_id"]),
    ("INSERT INTO votes VALUES (1, two)", ["d.sql:1:30: expected a value, found 'two'", "a number, 'text'"]),
    ("INSERT INTO votes VALUES (1, 2", ["d.sql:1:31: expected ), found the end"]),
    ("INSERT INTO votes VALUES (1, 'two')", ["d.sql:1:26: table 'votes'", "'two'", "give an int"]),
    ("INSERT INTO votes VALUES (1, 2)\n(3, 4)", ["d.sql:2:1: expected ; found '('"]),
    ("INSERT INTO votes VALUES (1, 2.5)", ["d.sql:1:26: table 'votes'", "2.5", "fraction"]),
    ("UPSERT INTO votes VALUES (1, 1)", ["d.sql:1:13: table 'votes' has no PRIMARY KEY"]),
    ("UPSERT INTO customer VALUES (1, 'x', DATE 'soon')", ["d.sql:1:43: 'soon'", "expected a date"]),
    ("UPSERT INTO customer VALUES (1, 'x', 'soon')", ["d.sql:1:38: 'soon' doesn't fit column 'joined'"]),
    ("UPSERT INTO customer VALUES (1, 'x)", ["d.sql:1:33: ' is never closed"]),
    ("STEP AT TIMESTAMP 'soon'", ["d.sql:1:19: 'soon'", "expected a time"]),
    ("STEP AT 5", ["d.sql:1:9: expected a quoted text"]),
    ("STEP STEP", ["d.sql:1:6: expected AT"]),
]


@pytest.mark.parametrize(("text", "said"), SQL_MISTAKES, ids=[said[0] for _, said in SQL_MISTAKES])
def test_mistakes_in_sql(text, said):
    with pytest.raises(DataError) as caught, pipeline() as p:
        for step in read_sql(text, "d.sql", p.program):
            queue(p, step)
    assert p.queued == {}
    message = str(caught.value)
    assert message.startswith(said[0])
    for words in said[1:]:
        assert words in message


def test_rows_that_are_found_as_of_the_step_before() -> None:
    with pipeline() as p:
        text = """
        INSERT INTO votes VALUES (1, 7), (2, 7), (3, 8);
        UPSERT INTO customer (id, name) VALUES (1, 'a'), (2, 'b');
        STEP;
        UPDATE customer SET name = 'c' WHERE id = 2;
        DELETE FROM votes WHERE story_id = 7;
        INSERT INTO votes VALUES (4, 7);
        STEP;
        TRUNCATE votes;
        """
        seen = []
        for step in read_sql(text, "d.sql", p.program):
            queue(p, step)
            p.step()
            seen.append(sorted(row["user_id"] for row in p["votes"].rows()))
        assert seen == [[1, 2, 3], [3, 4], []]
        assert [row["name"] for row in p["customer"].rows()] == ["a", "c"]


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("INSERT INTO votes VALUES (1, 7)", False),
        ("INSERT INTO votes (user_id, story_id) VALUES (1, DEFAULT)", False),
        ("DELETE FROM votes VALUES (1, 7)", False),
        ("INSERT INTO votes SELECT * FROM (VALUES (1, 7))", True),
        ("INSERT INTO votes (SELECT * FROM votes)", True),
        ("UPSERT INTO customer TABLE customer", True),
        ("DELETE FROM votes WHERE (user_id, story_id) IN (VALUES (1, 7))", True),
        ("DELETE FROM votes", True),
        ("WITH c AS (SELECT 1 AS id) DELETE FROM votes WHERE user_id IN (TABLE c)", True),
        ("WITH c AS (VALUES (1, 7)) INSERT INTO votes TABLE c", True),
        ("MERGE INTO votes USING (VALUES (1, 7)) AS s(a, b) ON user_id = a WHEN MATCHED THEN DELETE", True),
    ],
)
def test_rows_are_listed_or_found(text: str, is_found: bool) -> None:
    with pipeline() as p:
        (step,) = read_sql(text, "d.sql", p.program)
        assert (len(step.statements), len(step.changes)) == (is_found, not is_found)
        if "DEFAULT" in text:
            assert step.changes["votes"][0].row == {"user_id": 1, "story_id": None}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("STEP;\n  UPDATE voters SET a = 1;", "d.sql:2:10: unknown table 'voters'"),
        ("DELETE FROM votes WHERE", "d.sql:1:24: "),
        ("DELETE FROM event;", "d.sql:1:1: table 'event' is append-only"),
    ],
)
def test_a_statement_that_is_wrong_is_said_where(text: str, said: str) -> None:
    with pipeline() as p, pytest.raises(DataError, match=said):
        for step in read_sql(text, "d.sql", p.program):
            queue(p, step)
    assert p.queued == {}


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("query:1:32: unknown column 'v.idd' in 'votes'; columns: user_id", "2:28"),
        ("query:1:32: unknown column 'user_id' in 'x'", "2:3"),
        ("query:1:1: there is no name", "2:3"),
    ],
)
def test_an_error_of_a_statement_is_placed_at_what_it_names(said: str, place: str) -> None:
    """Its query is nothing that somebody has written; a name that is there twice isn't guessed."""
    with pipeline() as p:
        text = "STEP;\n  DELETE FROM votes WHERE (IDD) = user_id + user_id;"
        (evaluated,) = [one for step in read_sql(text, "d.sql", p.program) for one in step.statements]
        error = evaluated.failed(ProgramError(said))
    assert str(error) == f"d.sql:{place}: {said.partition(': ')[2]}"


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("visit", "visit.at"),
        ("visit", "`visit`.`AT`"),
        ("sales.visit", "sales.visit.at"),
        ("sales.visit", "`Sales`.`visit`.`at`"),
        ("c.sales.vis`it", "c.sales.`vis``it`.at"),
    ],
)
def test_a_waterline_is_of_a_table_with_a_schema_or_without(name: str, spelled: str) -> None:
    schema = (Field("who", pa.int64()), Field("at", pa.timestamp("us", tz="UTC")))
    visit = replace(table(name, schema), lateness=(ColumnLateness(1, 1_000_000, None),))
    visits = program([visit], [view("v", Scan(name, schema))])
    (step,) = read_sql(f"ADVANCE {spelled} TO TIMESTAMP '2024-01-01 10:00:00'", "d.sql", visits)
    assert [one.waterline.name for one in step.advances] == [f"{name}.at"]
    with pytest.raises(DataError, match=r"^d.sql:1:9: no LATENESS for '.*\.who' to advance"):
        list(read_sql(f"ADVANCE {spelled.rpartition('.')[0]}.who TO 1", "d.sql", visits))
