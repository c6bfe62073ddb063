"""TRIGGER and EMIT: where they begin, what they say, and the durations that make no sense."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.plans.program import Emission, Schedule, Triggers
from dbsp.sql.text.emission_clauses import (
    EmitClause,
    TriggerClause,
    emission_clause,
    emission_start,
    resolved,
)
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.statements.create_view import CreateView
from dbsp.sql.text.statements.statements import statements
from dbsp.sql.text.tokens import Slice
from tests.sql.text.reading import check_refused, cursor_over, parse, source_of

MINUTE = 60_000_000


@pytest.mark.parametrize(
    "query",
    [
        "SELECT emit FROM t",
        "SELECT trigger.a FROM t JOIN u trigger ON trigger.a = t.a",
        "SELECT a AS trigger FROM (SELECT 1 AS a EMIT) q",
        "SELECT a FROM t emit (a, b)",
    ],
)
def test_the_words_of_emission_are_names_elsewhere(query: str) -> None:
    assert emission_start(cursor_over(query)) is None


def test_only_a_clause_outside_of_parentheses_ends_a_query() -> None:
    cursor = cursor_over("SELECT a[trigger counting] FROM (SELECT 1 TRIGGER COUNTING 1) TRIGGER ON WATERLINE")
    start = emission_start(cursor)
    assert start is not None
    assert [token.text for token in cursor.tokens[start:-1]] == ["TRIGGER", "ON", "WATERLINE"]


def test_when_changes_leave_ends_a_view() -> None:
    first, second = parse(
        "CREATE VIEW v AS SELECT a FROM t trigger TRIGGER ON WATERMARK, counting 3, "
        "AFTER DELAY INTERVAL (2) DAY;"
        "CREATE VIEW w AS SELECT a FROM emit EMIT ("
        "FIRST RESULT OFFSET - INTERVAL '1' HOUR, UPDATE RATE 5 rows)"
    )
    assert isinstance(first, CreateView)
    assert isinstance(first.emission, TriggerClause)
    assert first.query.text == "SELECT a FROM t trigger"
    assert (first.emission.counting, first.emission.waterline) == (3, True)
    assert first.emission.delay is not None
    assert first.emission.delay.text == "INTERVAL (2) DAY"
    assert isinstance(second, CreateView)
    assert isinstance(second.emission, EmitClause)
    assert second.query.text == "SELECT a FROM emit"
    assert second.emission.first is not None
    assert (second.emission.first.text, second.emission.rate) == ("- INTERVAL '1' HOUR", 5)


def emission(clause: str) -> Emission:
    """With durations in minutes, as `+5` or `-5`."""

    def read(text: Slice) -> int:
        return int(text.text.replace(" ", "")) * MINUTE

    return resolved(source_of(clause), emission_clause(cursor_over(clause)), read)


def test_what_isnt_said_of_a_schedule_follows_from_what_is() -> None:
    assert emission("EMIT (RESULT STATE FLAG)") == Schedule(0, 0, 0, None, 1, False, True, "p.sql:1:1")
    early = emission("EMIT (COMPLETE RESULT OFFSET -3, LATE UPDATES ON, UPDATE RATE 2)")
    assert early == Schedule(
        -3 * MINUTE, -3 * MINUTE, -3 * MINUTE, 2 * MINUTE, None, True, False, "p.sql:1:1"
    )
    late = emission("EMIT (COMPLETE RESULT OFFSET 3, UPDATE RATE 4 ROWS, LATE UPDATES OFF)")
    assert late == Schedule(0, 3 * MINUTE, 3 * MINUTE, None, 4, False, False, "p.sql:1:1")


def test_triggers_with_their_delay() -> None:
    assert emission("TRIGGER AFTER DELAY 0, ON WATERLINE") == Triggers(None, 0, True, "p.sql:1:1")


@pytest.mark.parametrize(
    ("clause", "error"),
    [
        ("TRIGGER COUNTING 2, AFTER DELAY -1", "1:33: AFTER DELAY -1 is negative"),
        ("EMIT (UPDATE RATE 0)", "1:19: UPDATE RATE 0: a rate is a positive interval"),
        ("EMIT (FIRST RESULT OFFSET 1)", "1:27: the first result comes after the complete one"),
        ("EMIT (LAST RESULT OFFSET -1)", "1:26: the last result comes before the complete one"),
    ],
)
def test_durations_that_make_no_sense(clause: str, error: str) -> None:
    with pytest.raises(ProgramError, match=f"^p.sql:{error}"):
        emission(clause)


@pytest.mark.parametrize(
    ("clause", "error"),
    [
        ("TRIGGER COUNTING 0", "1:44: COUNTING 0: at least 1 record is needed"),
        ("TRIGGER COUNTING -3", "1:44: COUNTING -3: at least 1 record is needed"),
        ("TRIGGER COUNTING 2.5", "1:44: COUNTING needs a whole number, as in COUNTING 10, found '2.5'"),
        ("TRIGGER COUNTING 1, COUNTING 2", "1:47: COUNTING is given twice"),
        ("TRIGGER ON WATERMARK, ON WATERLINE", "1:49: ON WATERMARK is given twice"),
        ("TRIGGER COUNTING 1, DAILY", "1:47: unknown trigger 'DAILY'; triggers are COUNTING n, AFTER DELAY"),
        ("TRIGGER AFTER DELAY", "1:46: AFTER DELAY needs an interval, as in AFTER DELAY INTERVAL 5 MINUTES"),
        ("TRIGGER ON WATERLINE x", "1:48: TRIGGER ends the statement, found 'x'"),
        ("EMIT (UPDATE RATE 0 ROWS)", "1:45: UPDATE RATE 0: at least 1 record is needed"),
        ("EMIT (LATE UPDATES MAYBE)", "1:33: unknown option 'LATE' of EMIT; options are FIRST RESULT"),
        ("EMIT (UPDATE RATE 1 ROW, UPDATE RATE 2 ROWS)", "1:52: UPDATE RATE is given twice"),
        ("EMIT (RESULT STATE FLAG", "1:50: expected ), found the end"),
    ],
)
def test_refused(clause: str, error: str) -> None:
    check_refused(f"CREATE VIEW v AS SELECT 1 {clause}", error)


# ---- of a common table expression

COUNTED = "c AS (SELECT k, count(*) AS n FROM t GROUP BY k TRIGGER COUNTING 2)"


def viewed(query: str) -> CreateView:
    (one,) = statements(as_it_is(f"CREATE VIEW v AS {query}", "p.sql"))
    assert isinstance(one, CreateView)
    return one


@pytest.mark.parametrize(
    "query",
    [
        f"WITH {COUNTED} SELECT * FROM c",
        f"WITH b AS (SELECT 1), {COUNTED} SELECT n + 1, k FROM c AS d WHERE n IN (1, 2) ORDER BY n",
        f"WITH {COUNTED} FROM C",
    ],
)
def test_it_is_the_views_where_the_view_is_its_rows(query: str) -> None:
    emission = viewed(query).emission
    assert isinstance(emission, TriggerClause)
    assert emission.counting == 2


@pytest.mark.parametrize(
    "query",
    [
        f"WITH {COUNTED} SELECT max(n) FROM c GROUP BY k",
        f"WITH {COUNTED} SELECT DISTINCT n FROM c",
        f"WITH {COUNTED} SELECT * FROM c JOIN t USING (k)",
        f"WITH {COUNTED} SELECT * FROM c, t",
        f"WITH {COUNTED} SELECT * FROM t",
        f"WITH {COUNTED}, d AS (SELECT * FROM c) SELECT * FROM d",
        f"WITH {COUNTED} SELECT * FROM c UNION ALL SELECT * FROM c",
        "SELECT * FROM (SELECT k, count(*) FROM t GROUP BY k TRIGGER COUNTING 2)",
    ],
)
def test_elsewhere_it_would_say_nothing(query: str) -> None:
    with pytest.raises(ProgramError, match="TRIGGER says when a view's changes leave"):
        viewed(query)


def test_not_twice() -> None:
    with pytest.raises(ProgramError, match="has a TRIGGER or EMIT already"):
        viewed(f"WITH {COUNTED} SELECT * FROM c TRIGGER COUNTING 3")
