"""What Spark says of a wrong query becomes one line, with what exists."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.sql.catalyst.reading.errors import spark_error
from dbsp.sql.text.tokens import Slice
from tests.sql.text.reading import source_of

QUERY = "SELECT amuont\nFROM orders o"
RELATIONS = {"orders": ["id", "amount"], "customer": ["id", "name"]}


def message(condition: str, text: str = "", **given: Any) -> str:
    """Of an error at the query's column."""
    error = {"condition": condition, "message": text, "index": 7, "parameters": given.pop("parameters", {})}
    source = source_of(given.pop("query", QUERY))
    return str(
        spark_error(source, Slice(source.text, 0), {**error, **given.pop("error", {})}, RELATIONS, **given)
    )


def test_an_unknown_column_with_those_of_the_table() -> None:
    unknown = {"parameters": {"objectName": "`o`.`amuont`"}}
    assert message("UNRESOLVED_COLUMN.WITH_SUGGESTION", **unknown) == (
        "p.sql:1:8: unknown column 'o.amuont' in 'orders'; columns: id, amount; did you mean 'amount'?"
    )
    both = message("UNRESOLVED_COLUMN", query="SELECT amuont FROM orders, customer", **unknown)
    assert both.endswith(
        "columns of orders: id, amount; columns of customer: id, name; did you mean 'amount'?"
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "unknown table 'ordrs'; tables and views so far: orders, customer; did you mean 'orders'?"),
        (
            {"later": ["Ordrs"]},
            "'ordrs' is defined further down; a view reads what is above it: move 'ordrs' up",
        ),
        (
            {"own": "ORDRS"},
            "'ordrs' reads itself; write CREATE RECURSIVE VIEW ORDRS (column TYPE, ...) AS query",
        ),
    ],
)
def test_an_unknown_table(given: dict[str, Any], expected: str) -> None:
    found = message("TABLE_OR_VIEW_NOT_FOUND", parameters={"relationName": "`ordrs`"}, **given)
    assert found == f"p.sql:1:8: {expected}"


def test_an_unknown_function_with_the_programs_own() -> None:
    unknown = {"parameters": {"routineName": "`medain`"}}
    assert message("UNRESOLVED_ROUTINE", functions=["median"], **unknown) == (
        "p.sql:1:8: unknown function 'medain'; the program's own: median; did you mean 'median'?"
    )
    assert "declare your own by CREATE FUNCTION" in message("UNRESOLVED_ROUTINE", **unknown)


@pytest.mark.parametrize(
    ("condition", "parameters", "expected"),
    [
        ("PARSE_SYNTAX_ERROR", {"error": "'FORM'", "hint": ""}, "syntax error at or near 'FORM'"),
        (
            "MISSING_AGGREGATION",
            {"expression": '"name"'},
            "name is neither in GROUP BY nor within an aggregate; add it to GROUP BY, or say any_value(name)",
        ),
        (
            "AMBIGUOUS_REFERENCE",
            {"name": "`id`", "referenceNames": "[`o`.`id`, `c`.`id`]"},
            "column 'id' could be any of o.id, c.id; say which",
        ),
    ],
)
def test_other_conditions(condition: str, parameters: dict[str, str], expected: str) -> None:
    assert message(condition, parameters=parameters) == f"p.sql:1:8: {expected}"


def test_anything_else_is_sparks_first_line() -> None:
    text = (
        "[DATATYPE_MISMATCH.X] Cannot do it. If necessary set spark.x to false to bypass this error. "
        "SQLSTATE: 42K09; line 1 pos 7;\n'Project [1]\n+- Rel"
    )
    assert message("DATATYPE_MISMATCH", text) == "p.sql:1:8: Cannot do it"


@pytest.mark.parametrize(
    ("query", "place"),
    [("SELECT akk, kk2\nFROM t\nGROUP BY k AS kk", "3:15"), ("SELECT kk\nGROUP BY k AS kk", "1:1")],
)
def test_a_place_by_the_token_that_does_not_fit(query: str, place: str) -> None:
    """Of some Spark says no place; one of several isn't guessed."""
    given = {"index": -1, "parameters": {"error": "'kk'", "hint": ": extra input 'kk'"}}
    found = message("PARSE_SYNTAX_ERROR", query=query, error=given)
    assert found == f"p.sql:{place}: syntax error at or near 'kk': extra input 'kk'"


def test_a_place_by_line_and_column() -> None:
    found = message("OTHER", "[OTHER] no", error={"index": -1, "line": 2, "column": 5})
    assert found == "p.sql:2:6: no"
