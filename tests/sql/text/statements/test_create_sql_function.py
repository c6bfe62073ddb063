"""A function in SQL is told from one in Python by its RETURN; what follows its name stays as written."""

from __future__ import annotations

import pytest

from dbsp.sql.text.source import read
from dbsp.sql.text.statements.create_function import CreateFunction
from dbsp.sql.text.statements.create_sql_function import CreateSqlFunction
from dbsp.sql.text.statements.statements import statements


@pytest.mark.parametrize(
    "head", ["CREATE", "CREATE OR REPLACE", "CREATE TEMPORARY", "CREATE OR REPLACE TEMP"]
)
def test_one_in_sql(head: str) -> None:
    definition = "(x INT DEFAULT 1, `return` INT)\n RETURNS TABLE (a INT) RETURN SELECT x AS a"
    (function,) = statements(read(f"{head} FUNCTION IF NOT EXISTS `f 1`{definition};", "p.sql"))
    assert isinstance(function, CreateSqlFunction)
    assert (function.name, function.definition.text) == ("f 1", definition)


def test_one_in_python() -> None:
    text = "CREATE OR REPLACE FUNCTION f(x INT) RETURNS INT LANGUAGE PYTHON AS $$ return x $$"
    (function,) = statements(read(text, "p.sql"))
    assert isinstance(function, CreateFunction)
