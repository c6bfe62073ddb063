"""The protocol's course: many statements, prepared ones, pieces of an answer, what goes wrong between."""

from __future__ import annotations

import socket
import struct
from typing import Any

import psycopg
import pytest

from dbsp.serving.postgres.wire import PROTOCOL, message, text
from tests.dbsp.serving.postgres.connected import Served, connected, shops
from tests.dbsp.serving.postgres.test_port import greeted, kinds
from tests.dbsp.serving.postgres.test_transaction import writing


@pytest.fixture(scope="module")
def port() -> Any:
    with connected() as served:
        served.http.posted("orders", shops())
        yield served


def test_statements_in_one_message(port: Served) -> None:
    with port.connect() as one:
        cursor = one.execute("SELECT 1; SELECT n FROM turnover WHERE shop = 's0'; SET a.b = 1")
        assert cursor.fetchall() == [(1,)]
        assert cursor.nextset() and cursor.fetchall() == [(4,)]
        assert cursor.nextset() and cursor.statusmessage == "SET"
        assert one.execute("").statusmessage is None


def test_a_prepared_statement_is_asked_often(port: Served) -> None:
    with port.connect(prepare_threshold=0) as one:
        for i in range(10):
            rows = one.execute("SELECT shop FROM latest WHERE id = %s", (i,)).fetchall()
            assert rows == [(f"s{i % 3}",)]
        one.execute("DEALLOCATE ALL")


def test_names_that_are_not_there(port: Served) -> None:
    with port.connect() as one, pytest.raises(psycopg.errors.InvalidSqlStatementName):
        found = one.pgconn.exec_prepared(b"nothing", [])
        assert found.error_field(psycopg.pq.DiagnosticField.SQLSTATE) == b"26000"
        raise psycopg.errors.InvalidSqlStatementName


@pytest.mark.slow
def test_what_one_connection_can_hold_is_bounded(port: Served) -> None:
    long = message(b"P", text("long"), text("SELECT " + "1, " * 30_000 + "1"), struct.pack("!h", 0))
    short = [message(b"P", text(str(n)), text("SELECT 1"), struct.pack("!h", 0)) for n in range(201)]
    for several, parsed in (([long] * 2, 1), (short, 200)):
        with greeted(port) as one:
            one.sendall(b"".join(several[:1]))
            renamed = [piece.replace(b"long", b"more") for piece in several[1:]]
            one.sendall(b"".join(renamed) + message(b"S"))
            assert kinds(one) == "1" * parsed + "EZ"


@pytest.mark.slow
def test_statements_come_and_go(port: Served) -> None:
    """A client that keeps a few prepared statements and gives up the others asks as many as it likes."""
    with port.connect(prepare_threshold=0) as one:
        one.prepared_max = 5
        for i in range(250):
            assert one.execute(f"SELECT shop FROM latest WHERE id = %s AND id = {i % 3}", (i % 3,)).fetchall()
        one.execute("DEALLOCATE ALL")
        with pytest.raises(psycopg.errors.InvalidSqlStatementName, match="no prepared statement 'gone'"):
            one.execute("DEALLOCATE gone")


def test_a_cursor_is_a_portal_that_can_be_described(port: Served) -> None:
    with greeted(port) as one:
        one.sendall(message(b"Q", text("BEGIN; DECLARE c CURSOR FOR SELECT 1")))
        assert kinds(one) == "CCZ"
        one.sendall(message(b"D", b"P", text("c")) + message(b"D", b"P", text("d")) + message(b"S"))
        assert kinds(one) == "TEZ"


def test_what_is_described_is_not_done(port: Served) -> None:
    parse = message(b"P", text(""), text("BEGIN"), struct.pack("!h", 0))
    bind = message(b"B", text(""), text(""), struct.pack("!hhh", 0, 0, 0))
    with greeted(port) as one:
        one.sendall(parse + bind + message(b"D", b"P", text("")) + message(b"S"))
        assert kinds(one) == "12nZ"
        one.sendall(message(b"Q", text("COMMIT; SELECT 1")))
        assert kinds(one) == "CTDCZ"


@pytest.mark.spark
@pytest.mark.slow
def test_long_statements_and_values(port: Served) -> None:
    """As long as HTTP takes them; meanwhile others are answered."""
    value = "y" * 3_000_000
    with writing(port, autocommit=True) as one, port.connect() as other:
        one.execute("INSERT INTO orders (id, shop) VALUES (100, %s)", (value,))
        rows = ", ".join(f"({i}, 'shop {i}')" for i in range(1000, 61_000))
        assert len(rows) > 1 << 20
        assert one.execute(f"INSERT INTO orders (id, shop) VALUES {rows}").rowcount == 60_000
        assert one.execute("SELECT shop FROM latest WHERE id = 100").fetchone() == (value,)
        assert other.execute("SELECT count(*) FROM latest WHERE id >= 1000").fetchone() == (60_000,)
        with pytest.raises(psycopg.errors.DataException, match="at most 1,000,000 words; send rows by COPY"):
            other.execute("SELECT " + "1," * 600_000 + "1")
        one.execute("DELETE FROM orders WHERE id >= 100")


@pytest.mark.slow
def test_a_message_before_the_password_is_short(port: Served) -> None:
    begun = struct.pack("!i", PROTOCOL) + text("user") + text("writer") + b"\0"
    with socket.create_connection(("127.0.0.1", port.port), timeout=60) as one:
        one.sendall((len(begun) + 4).to_bytes(4, "big") + begun + b"p" + (10_001).to_bytes(4, "big"))
        said = b""
        while piece := one.recv(10_000):
            said += piece
        assert b"has 4 to 10,000 bytes, not 10,001" in said
