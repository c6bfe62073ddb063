"""Statements that SQL prepares."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from dbsp.serving.postgres.keeping.prepared import Prepared, Statements
from dbsp.serving.postgres.language.spelling import spark_text, statements
from tests.dbsp.serving.postgres.connected import Served, connected, shops


@pytest.fixture(scope="module")
def port() -> Iterator[Served]:
    with connected() as served:
        served.http.posted("orders", shops())
        yield served


def test_values_stand_where_parameters_did() -> None:
    found = Statements()
    found.prepare(statements("PREPARE p (int, text) AS SELECT $1, $2 || $3 FROM v")[0], lambda _, oids: oids)
    assert found["p"].oids == [0, 0, 0]
    said = found.executed(statements("EXECUTE p (f(1, 2), NULL, 'x')")[0])
    assert spark_text(said) == "SELECT (f(1, 2))::int, (NULL)::STRING || 'x' FROM v"
    assert {word.start for word in said[:1]} == {0}
    found["all"] = Prepared((), [])
    found.deallocate(statements("DEALLOCATE p")[0])
    assert [*found] == ["all"]
    found.deallocate(statements("DEALLOCATE PREPARE ALL")[0])
    assert not found


def test_statements_are_executed_by_name(port: Served) -> None:
    with port.connect() as one:
        one.execute("PREPARE of_shop AS SELECT n FROM turnover WHERE shop = $1")
        for described in (False, True):
            found = one.execute("EXECUTE of_shop('s0')", prepare=described)
            assert found.fetchall() == [(4,)] and found.statusmessage == "SELECT 1"
        for wrong, kind, said in (
            ("EXECUTE of_shop", psycopg.errors.SyntaxError, "'of_shop' has 1 parameters; EXECUTE gives 0"),
            ("EXECUTE other", psycopg.errors.InvalidSqlStatementName, "no prepared statement 'other'"),
            ("PREPARE of_shop AS SELECT 1", psycopg.errors.DuplicatePreparedStatement, "is there already"),
            ("PREPARE p SELECT 1", psycopg.errors.SyntaxError, r"PREPARE name \[\(type, ...\)\] AS"),
            ("EXECUTE of_shop(1", psycopg.errors.SyntaxError, "a bracket has no end"),
        ):
            with pytest.raises(kind, match=said):
                one.execute(wrong.encode())
        one.execute("DEALLOCATE of_shop")
        with pytest.raises(psycopg.errors.InvalidSqlStatementName):
            one.execute("EXECUTE of_shop('s0')")
