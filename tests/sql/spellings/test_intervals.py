"""Intervals of other systems, in Spark's spelling."""

from __future__ import annotations

import pytest

from dbsp.sql.spellings.intervals import in_singular
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Slice
from tests.sql.spellings.respelled import respelled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INTERVAL '1:00' HOURS TO MINUTES", "INTERVAL '1:00' HOUR TO MINUTE"),
        ("INTERVAL '1 2:03:04.5' DAYS TO SECONDS + x", "INTERVAL '1 2:03:04.5' DAY TO SECOND + x"),
        ("INTERVAL '1:00' HOUR TO MINUTE", "INTERVAL '1:00' HOUR TO MINUTE"),
        ("INTERVAL 5 HOURS", "INTERVAL 5 HOURS"),
        ("hours - to_minutes", "hours - to_minutes"),
    ],
)
def test_units_are_singular(text: str, expected: str) -> None:
    source = as_it_is(text, "p.sql")
    assert in_singular(source, Slice(source.text, 0)).text == expected
    assert respelled(f"SELECT {text} FROM t").text == f"SELECT {expected} FROM t"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * FROM t WHERE (a - b) SECOND < x", "SELECT * FROM t WHERE (a - b)  < x"),
        ("SELECT (a - (b)) DAY TO SECOND AS d FROM t", "SELECT (a - (b))  AS d FROM t"),
        ("SELECT (a - b) MINUTE AS m FROM t", "SELECT (a - b)  AS m FROM t"),
        # names of values, and calls
        ("SELECT (a - b) SECOND FROM t", "SELECT (a - b) SECOND FROM t"),
        ("SELECT (a - b) second, c FROM t", "SELECT (a - b) second, c FROM t"),
        ("SELECT (a + b) MINUTE AS m FROM t", "SELECT (a + b) MINUTE AS m FROM t"),
        ("SELECT f(a - b) HOUR AS m FROM t", "SELECT f(a - b) HOUR AS m FROM t"),
    ],
)
def test_a_unit_behind_a_difference(query: str, expected: str) -> None:
    assert respelled(query).text == expected
