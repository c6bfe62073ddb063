"""PostgreSQL's clients by TLS: libpq asks for it and checks who answers; nothing slips in before it."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterator

import psycopg
import pytest

from dbsp.serving.postgres import wire
from tests.dbsp.serving.certificates import Certificate, certified
from tests.dbsp.serving.postgres.connected import Served, connected
from tests.dbsp.serving.served import TOKEN

ASKED = struct.pack("!ii", 8, wire.TLS)


@pytest.fixture(scope="module")
def shows(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certified(tmp_path_factory.mktemp("shown"))


@pytest.fixture(scope="module")
def port(shows: Certificate) -> Iterator[Served]:
    with connected(shows=shows) as one:
        one.http.posted("orders", [{"id": i, "shop": f"s{i % 3}"} for i in range(3000)])
        yield one


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_clients_check_who_answers(port: Served, shows: Certificate, host: str) -> None:
    with port.connect(host=host, sslmode="verify-full", sslrootcert=shows.file) as one:
        assert one.pgconn.ssl_in_use
        assert one.execute("SELECT n FROM turnover WHERE shop = 's1'").fetchall() == [(1000,)]


def test_clients_that_only_prefer_it_have_it(port: Served) -> None:
    for mode in ("require", "prefer", "allow"):
        with port.connect(sslmode=mode) as one:
            assert one.pgconn.ssl_in_use


def test_messages_longer_than_a_buffer_pass_both_ways(port: Served) -> None:
    shop = "x" * 900_000
    port.http.posted("orders", [{"id": 9000, "shop": shop}])
    with port.connect(sslmode="require") as one:
        assert one.execute("SELECT id, shop FROM latest WHERE shop = %s", (shop,)).fetchall() == [
            (9000, shop)
        ]


def test_the_token_is_asked_for_there_too(port: Served) -> None:
    with port.connect(user="writer", password=TOKEN, sslmode="require") as one:
        assert one.execute("SELECT shop FROM latest WHERE id = 2").fetchall() == [("s2",)]
    with pytest.raises(psycopg.OperationalError, match="user 'writer' has the token"):
        port.connect(user="writer", password="wrong", sslmode="require")


def test_a_follower_is_cancelled(port: Served) -> None:
    with port.connect(sslmode="require") as one:
        stream = one.cursor().stream("SUBSCRIBE TO latest SINCE 0")
        assert next(stream)[0] == 1
        one.cancel_safe()
        with pytest.raises(psycopg.errors.QueryCanceled, match="cancelled, as was asked"):
            for _ in stream:
                pass


def test_who_comes_without_is_told(port: Served) -> None:
    with pytest.raises(psycopg.OperationalError, match="by TLS alone; connect with sslmode=require"):
        port.connect(sslmode="disable")


def test_nobody_puts_words_before_the_handshake(port: Served) -> None:
    """Else they would be read as the client's, who is known only afterwards."""
    with socket.create_connection(("127.0.0.1", port.port), timeout=60) as one:
        one.sendall(ASKED + b"Q\0\0\0\x0dSELECT 1\0")
        assert b"nothing may follow the request for TLS" in _all(one)


def test_nonsense_for_a_handshake_harms_nobody(port: Served, shows: Certificate) -> None:
    with socket.create_connection(("127.0.0.1", port.port), timeout=60) as one:
        one.sendall(ASKED)
        assert one.recv(1) == b"S"
        one.sendall(b"\0" * 600)
        _all(one)
    context = ssl.create_default_context(cafile=shows.file)
    with socket.create_connection(("127.0.0.1", port.port), timeout=60) as one:
        one.sendall(ASKED)
        assert one.recv(1) == b"S"
        with context.wrap_socket(one, server_hostname="localhost") as inner:
            inner.sendall(ASKED)  # once is enough
            assert inner.recv(1) == b"N"
    with port.connect(sslmode="require") as other:
        assert other.execute("SELECT shop FROM latest WHERE id = 1").fetchall() == [("s1",)]


def test_without_a_certificate_there_is_none() -> None:
    with connected() as plain:
        with pytest.raises(psycopg.OperationalError, match="server does not support SSL"):
            plain.connect(sslmode="require")
        with plain.connect(sslmode="prefer") as one:
            assert not one.pgconn.ssl_in_use


def _all(one: socket.socket) -> bytes:
    found = b""
    while piece := one.recv(4096):
        found += piece
    return found
