"""Which statements there are, and what begins one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.dml.reading.statements import is_statement, read_statement
from dbsp.dml.statement import Delete, Where
from tests.dbsp.dml.reading.items import PROGRAM, T


def test_truncate_is_delete() -> None:
    assert read_statement("TRUNCATE TABLE item", PROGRAM) == Delete(T, Where())
    assert read_statement("truncate bag;", PROGRAM) == Delete(PROGRAM.tables["bag"], Where())


def test_what_begins_a_statement() -> None:
    assert all(
        map(
            is_statement, ["insert into t values (1)", "\n DELETE FROM t", "Update t set a = 1", "TRUNCATE t"]
        )
    )
    assert not any(map(is_statement, ["SELECT 1", "", "-- x\nSELECT 1", "VALUES (1)", "DELETED"]))


def test_a_with_is_of_all_its_queries() -> None:
    for text in (
        "UPDATE item SET name = id",
        "DELETE FROM item WHERE id IN (TABLE c)",
        "INSERT INTO item TABLE c",
    ):
        assert is_statement(f"with c AS (SELECT 1 AS id) {text}")
        found = read_statement(f"with c AS (SELECT 1 AS id) {text};", PROGRAM)
        assert found.ctes == "with c AS (SELECT 1 AS id)"
        assert replace(found, ctes="") == read_statement(text, PROGRAM)
    for query in ("SELECT 1", "(SELECT 1)", "VALUES (1)"):
        assert not is_statement(f"WITH insert AS (SELECT 1) {query}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("WITH c AS (SELECT 1) DROP TABLE item", "unknown statement"),
        ("MERGE INTO item", "expected USING"),
        ("REPLACE INTO item", "unknown statement 'REPLACE'"),
        ("TRUNCATE item WHERE id = 1", "expected the end, found 'WHERE'"),
    ],
)
def test_what_is_wrong_is_said_where(text: str, said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        read_statement(text, PROGRAM)
