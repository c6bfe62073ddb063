"""INSERT and UPSERT: values that are read here, queries that the compiler reads, conflicts, mistakes."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.dml.reading.statements import read_statement
from dbsp.dml.statement import Conflict, Insert
from tests.dbsp.dml.reading.items import PROGRAM, T


def test_values_are_read_here() -> None:
    found = read_statement("INSERT INTO item (id, price) VALUES (1, 2.5), (2L, NULL);", PROGRAM)
    rows = [{"id": 1, "price": Decimal("2.5")}, {"id": 2, "price": None}]
    assert found == Insert(T, ("id", "price"), rows)
    found = read_statement("insert into ITEM values ((1), 'it''s', -1.5, DATE '2024-02-29')", PROGRAM)
    assert isinstance(found, Insert) and found.rows is not None
    assert found.rows[0]["day"] == date(2024, 2, 29) and found.columns == ("id", "name", "price", "day")


@pytest.mark.parametrize(
    "query",
    [
        "VALUES (1 + 1, '', 1, NULL)",
        "SELECT * FROM bag",
        "(SELECT * FROM bag)",
        "WITH b AS (SELECT 1) FROM b",
    ],
)
def test_the_rest_is_a_query(query: str) -> None:
    found = read_statement(f"INSERT INTO item {query} ON CONFLICT (id) DO NOTHING", PROGRAM)
    assert isinstance(found, Insert)
    assert (found.rows, found.query, found.conflict) == (None, query, Conflict())


def test_conflicts() -> None:
    text = (
        "INSERT INTO item (id) VALUES (1) ON CONFLICT DO UPDATE SET name = EXCLUDED.name, day = excluded.day"
    )
    found = read_statement(text, PROGRAM)
    assert isinstance(found, Insert) and found.conflict == Conflict(("name", "day"))


def test_values_of_the_clock_are_selected() -> None:
    said = "INSERT INTO item (id, day) VALUES (1, CURRENT_DATE), ((2), date(now() - INTERVAL (1) DAY))"
    found = read_statement(f"{said} ON CONFLICT DO NOTHING", PROGRAM)
    assert isinstance(found, Insert) and found.conflict == Conflict()
    query = "SELECT 1, CURRENT_DATE UNION ALL SELECT (2), date(now() - INTERVAL (1) DAY)"
    assert (found.rows, found.query) == (None, query)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("INSERT INTO item (id) VALUES (1, 2)", r"2 values for 1 columns \(id\)"),
        ("INSERT INTO item", "expected VALUES"),
        ("INSERT INTO bag VALUES (1, '', 1, NULL) ON CONFLICT DO NOTHING", "no PRIMARY KEY"),
        ("INSERT INTO item (id) VALUES (1) ON CONFLICT (name) DO NOTHING", r"the key of 'item' is \(id\)"),
        ("INSERT INTO item (id) VALUES (1) ON CONFLICT DO UPDATE SET name = 'x'", "expected EXCLUDED"),
        ("INSERT INTO item (id) VALUES (1) RETURNING id", "RETURNING isn't known here"),
        ("UPSERT INTO bag VALUES (1, '', 1, NULL)", "no PRIMARY KEY to upsert by"),
        ("UPSERT INTO item (id) VALUES (1) ON CONFLICT DO NOTHING", "ON CONFLICT is of INSERT"),
    ],
)
def test_what_is_wrong_is_said_where(text: str, said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        read_statement(text, PROGRAM)
