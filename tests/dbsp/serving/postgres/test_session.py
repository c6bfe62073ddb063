"""What statements mean: queries, transactions, settings."""

from __future__ import annotations

import time
from typing import Any

import psycopg
import pytest

from tests.dbsp.serving.postgres.connected import Served, connected, shops

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def port() -> Any:
    with connected() as served:
        served.http.posted("orders", shops())
        yield served


def test_what_is_wrong_is_said_where_it_is(port: Served) -> None:
    with port.connect() as one:
        for query, kind, said in (
            ("SELECT * FROM turnove", psycopg.errors.UndefinedTable, "unknown table 'turnove'"),
            ("SELECT nn FROM turnover", psycopg.errors.UndefinedColumn, "nn"),
            ("SELECT nn(1)", psycopg.errors.UndefinedFunction, "nn"),
            ("SELECT * FRM turnover", psycopg.errors.SyntaxError, "at or near"),
            ("INSERT INTO orders VALUES (1)", psycopg.errors.InsufficientPrivilege, "as user 'writer'"),
            ("COPY turnover FROM '/x'", psycopg.errors.FeatureNotSupported, "TO STDOUT"),
            ("SUBSCRIBE TO nothing", psycopg.errors.UndefinedTable, "unknown view 'nothing'"),
            ("EXPLODE", psycopg.errors.SyntaxError, "EXPLODE: this port knows SELECT"),
        ):
            with pytest.raises(kind, match=said):
                one.execute(query)
        assert one.execute("SELECT 1").fetchone() == (1,)


def test_a_transaction_that_failed_waits_for_its_end(port: Served) -> None:
    with port.connect() as one:
        one.execute("BEGIN")
        assert one.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        with pytest.raises(psycopg.errors.UndefinedColumn):
            one.execute("SELECT nn FROM turnover")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            one.execute("SELECT 1")
        assert one.execute("COMMIT").statusmessage == "ROLLBACK"
        assert one.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_settings_are_those_of_a_connection(port: Served) -> None:
    with port.connect() as one, port.connect() as other:
        one.execute("SET application_name = 'me'")
        assert one.execute("SHOW application_name").fetchone() == ("me",)
        assert other.execute("SHOW application_name").fetchone() == ("",)


# a query that takes minutes
LONG = "SELECT count(*) FROM (SELECT explode(sequence(1, 30000))) a, (SELECT explode(sequence(1, 30000))) b"


def test_a_statement_takes_as_long_as_it_may(port: Served) -> None:
    with port.connect(options="-c statement_timeout=300") as one:
        assert one.execute("SHOW statement_timeout").fetchone() == ("300ms",)
        began = time.monotonic()
        for query, prepares in ((LONG, False), (f"{LONG} WHERE a.col > b.col", True)):
            with pytest.raises(
                psycopg.errors.QueryCanceled, match="due to statement timeout, which is 300ms"
            ):
                one.execute(query.encode(), prepare=prepares)
        with pytest.raises(psycopg.errors.QueryCanceled):
            list(one.cursor().stream("SUBSCRIBE TO turnover"))
        assert time.monotonic() - began < 20
        one.execute("SET statement_timeout = 0")
        assert one.execute("SELECT n FROM turnover WHERE shop = 's1'").fetchall() == [(3,)]


def test_all_settings_are_shown(port: Served) -> None:
    assert ("statement_timeout", "1min") in port.asked("SHOW ALL")
