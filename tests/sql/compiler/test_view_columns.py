"""A view's columns have names to read them by, types, and no other than are declared."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program

TABLE = "CREATE TABLE t (a INT, b STRING);\n"
CALLED = "CREATE FUNCTION twice (n INT) RETURNS INT LANGUAGE PYTHON AS $$ return 2 * n $$;\n"


@pytest.mark.parametrize(
    "text, error",
    [
        ("CREATE VIEW v AS SELECT a, A FROM t;", "2:18: view 'v' has two columns 'A'; rename one with AS"),
        (
            "CREATE VIEW v (x, X) AS SELECT a, b FROM t;",
            "2:25: view 'v' has two columns 'X'; rename one with AS",
        ),
        (
            "CREATE VIEW v AS SELECT NULL AS x;",
            "2:18: column 'x' of view 'v' is always NULL of no type; CAST it",
        ),
        (
            "CREATE VIEW v (a BIGINT) AS SELECT a FROM t;",
            "2:18: column 'a' of 'v' is declared BIGINT, its query gives int; CAST it",
        ),
        (
            CALLED + "CREATE VIEW v AS SELECT b, twice(a) FROM t;",
            "3:18: column 2 calls 'twice' and has no name; name it with AS",
        ),
    ],
)
def test_what_they_may_not_be(text: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compile_program(TABLE + text)
    assert str(raised.value).endswith(error)


def test_what_they_may_be() -> None:
    text = CALLED + "CREATE VIEW v (A INT, c) AS SELECT twice(a), CAST(NULL AS DATE) FROM t;"
    assert [column.name for column in compile_program(TABLE + text).views["v"].schema] == ["A", "c"]
