"""A view's columns have names to read them by, types, and no other than are declared."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program
from tests.sql.recorded import check_refused

TABLE = "CREATE TABLE t (a INT, b STRING);\n"
CALLED = "CREATE FUNCTION twice (n INT) RETURNS INT LANGUAGE PYTHON AS $$ return 2 * n $$;\n"


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (
            "SELECT a, A FROM t",
            "1: view 'v' has columns 'a' and 'A', which differ in case alone; rename one with AS",
        ),
        ("SELECT NULL AS x", "1: column 'x' of view 'v' is always NULL of no type; CAST it"),
    ],
)
def test_columns(query: str, error: str) -> None:
    check_refused(query, error)


@pytest.mark.spark
@pytest.mark.parametrize(
    "text, error",
    [
        (
            "CREATE VIEW v (x, X) AS SELECT a, b FROM t;",
            "2:25: view 'v' has columns 'x' and 'X', which differ in case alone; rename one with AS",
        ),
        (
            "CREATE VIEW v (a BIGINT) AS SELECT a FROM t;",
            "2:18: column 'a' of 'v' is declared BIGINT, its query gives INT; CAST it",
        ),
        (
            CALLED + "CREATE VIEW v AS SELECT b, twice(a) FROM t;",
            "3:18: column 2 calls 'twice' and has no name; name it with AS",
        ),
    ],
)
def test_what_they_may_not_be(text: str, error: str, spark: Any) -> None:
    with pytest.raises(ProgramError) as raised:
        compile_program(TABLE + text, session=spark)
    assert str(raised.value).endswith(error)


@pytest.mark.spark
def test_what_they_may_be(spark: Any) -> None:
    text = CALLED + "CREATE VIEW v (A INT, c) AS SELECT twice(a), CAST(NULL AS DATE) FROM t;"
    view = compile_program(TABLE + text, session=spark).views["v"]
    assert [column.name for column in view.schema] == ["A", "c"]
