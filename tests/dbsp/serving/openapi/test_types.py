"""JSON Schema of rows: what a server answers is valid by it, of every type, and what it refuses isn't."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dbsp.serving.openapi.types import given_schema, key_schema, row_schema
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program
from tests.dbsp.serving.served import served

PROGRAM = """
CREATE TABLE t (
  id BIGINT PRIMARY KEY, b BOOLEAN, i INT NOT NULL, f FLOAT, d DECIMAL(10, 2), s STRING DEFAULT 'x', y BINARY,
  day DATE, at TIMESTAMP, ntz TIMESTAMP_NTZ, gap INTERVAL DAY TO SECOND, months INTERVAL YEAR TO MONTH,
  a ARRAY<INT>, m MAP<STRING, DOUBLE>, r STRUCT<x: INT, y: STRING>
);
CREATE VIEW v AS SELECT * FROM t;
"""
FULL = {
    "id": 1, "b": True, "i": 2, "f": 1.5, "d": "12.50", "s": "a", "y": "AAE=", "day": "2024-02-29",
    "at": "2024-02-29T10:00:00.500000Z", "ntz": "2024-02-29T10:00:00", "gap": 1_000_000, "months": 14,
    "a": [1, None], "m": [["k", 1.5], ["l", "NaN"]], "r": {"x": 1, "y": None},
}  # fmt: skip

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def program() -> Program:
    return compile_program(PROGRAM)


def valid(schema: dict[str, Any], value: object) -> bool:
    Draft202012Validator.check_schema(schema)
    return bool(Draft202012Validator(schema).is_valid(value))


def test_what_is_answered_is_valid(program: Program) -> None:
    rows = row_schema(program.views["v"].schema)
    given = given_schema(program.input("t"), {})
    with served(program=PROGRAM) as (client, _):
        nulls = {"id": 2, "i": 3}
        odd = {"id": 3, "i": 4, "f": "-Infinity", "d": 7, "s": None}
        for row in (FULL, nulls, odd):
            assert valid(given, row)
            client.posted("t", [row])
        answered = client.rows("/views/v?order=id")
    assert answered[0] == FULL
    for row in answered:
        assert valid(rows, row), [*Draft202012Validator(rows).iter_errors(row)]


@pytest.mark.parametrize(
    "change",
    [
        {"id": "1"}, {"b": 1}, {"i": None}, {"f": "inf"}, {"d": "x"}, {"a": [1.5]}, {"m": {"k": 1}},
        {"r": {"x": "1"}}, {"gap": "1 day"}, {"nothing": 1},
    ],
)  # fmt: skip
def test_what_does_not_fit_is_not(program: Program, change: dict[str, object]) -> None:
    assert valid(given_schema(program.input("t"), {}), FULL)
    assert not valid(given_schema(program.input("t"), {}), FULL | change)


def test_a_key_is_enough_to_delete(program: Program) -> None:
    assert valid(key_schema(program.input("t")), {"id": 1})
    assert not valid(key_schema(program.input("t")), {"i": 1})
