"""The port begins and ends, and nonsense, floods and silence harm nobody."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest import mock

import httpx
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsp.circuits.errors import Error
from dbsp.serving.ports.switching import Switching
from dbsp.serving.postgres import port as module
from dbsp.serving.postgres.port import listening_postgres
from dbsp.serving.postgres.wire import PROTOCOL, text
from tests.dbsp.serving.postgres.connected import Served, connected


def _begin() -> bytes:
    said = PROTOCOL.to_bytes(4, "big") + text("user") + text("me") + b"\0"
    return (len(said) + 4).to_bytes(4, "big") + said


@contextmanager
def greeted(port: Served) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port.port), timeout=60) as one:
        one.sendall(_begin())
        assert kinds(one)[-1] == "Z"
        yield one


def kinds(one: socket.socket) -> str:
    """The kinds of the messages until the server is ready, or has left."""
    found = ""
    stream = one.makefile("rb", buffering=0)
    while found[-1:] != "Z":
        head = _exactly(stream, 5)
        if len(head) < 5:
            break
        found += chr(head[0])
        _exactly(stream, int.from_bytes(head[1:], "big") - 4)
    return found


def _exactly(stream: socket.SocketIO, count: int) -> bytes:
    found = b""
    while len(found) < count:
        piece = stream.read(count - len(found))
        if not piece:
            break
        found += piece
    return found


def test_a_port_that_is_taken_is_said() -> None:
    with connected() as served:
        with (
            pytest.raises(Error, match="in use; give another --postgres PORT"),
            listening_postgres(Switching(served.serving), "127.0.0.1", served.port),
        ):
            pass
        assert served.asked("SELECT 1") == [(1,)]


@pytest.mark.slow
@given(st.lists(st.binary(max_size=60), max_size=4), st.booleans())
@settings(max_examples=40, deadline=None)
def test_nonsense_harms_nobody(port: Served, pieces: list[bytes], begun: bool) -> None:
    with (
        suppress(ConnectionError),  # it is sent away when it has said enough
        socket.create_connection(("127.0.0.1", port.port), timeout=60) as one,
    ):
        one.sendall(_begin() if begun else b"")
        for piece in pieces:
            one.sendall(piece)
    with greeted(port) as other:
        other.sendall(b"Q\0\0\0\x0dSELECT 1\0")
        assert kinds(other) == "TDCZ"


@pytest.fixture(scope="module")
def port() -> Iterator[Served]:
    with connected() as served:
        yield served


def test_one_that_says_nothing_is_sent_away_and_too_many_are_told(port: Served) -> None:
    with (
        mock.patch.object(module, "_BEGUN", 0.2),
        socket.create_connection(("127.0.0.1", port.port), timeout=60) as one,
    ):
        assert one.recv(1) == b""
    with (
        mock.patch.object(module, "CONNECTIONS", 1),
        port.connect() as first,
        pytest.raises(psycopg.OperationalError, match="1 clients are connected; try again later"),
    ):
        assert first.execute("SELECT 1").fetchone() == (1,)
        port.connect()


def test_who_is_connected_at_the_end_is_let_go() -> None:
    with connected() as served:
        served.http.posted("orders", [{"id": 1, "shop": "a"}])
        idle, follower = served.connect(), served.connect()
        stream = follower.cursor().stream("SUBSCRIBE TO latest SINCE 0")
        assert next(stream)[:3] == (1, 1, 1)
    with pytest.raises(psycopg.OperationalError, match="the server ends"):
        idle.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match="the server ends"):
        next(stream)
    idle.close()
    follower.close()


def cancel_until(one: psycopg.Connection[Any], over: threading.Event) -> None:
    """Again and again: what has not begun is not cancelled."""
    while not over.wait(0.5):
        one.cancel_safe()


@pytest.mark.spark
def test_a_query_that_is_cancelled_or_takes_too_much_ends(spark: Any) -> None:
    endless = "SELECT count(*) FROM latest a, latest b, latest c, latest d, latest e WHERE a.id + e.id < b.id"
    with connected() as served:
        served.http.posted("orders", [{"id": i, "shop": "a"} for i in range(1500)])
        evaluating = served.serving.evaluating
        served.serving.pipeline.sql_schema(endless)  # what is compiled isn't ended
        for _ in range(3):  # more than are evaluated at the same time
            with served.connect() as one:
                over = threading.Event()
                cancelling = threading.Thread(target=cancel_until, args=(one, over))
                cancelling.start()
                with pytest.raises(psycopg.errors.QueryCanceled, match="cancelled, as was asked"):
                    one.execute(endless)
                over.set()
                cancelling.join()
        for method in ("GET", "POST", "GET"):
            asked = {"params": {"sql": endless}} if method == "GET" else {"content": endless}
            with pytest.raises(httpx.ReadTimeout):  # and the client leaves
                served.http.request(method, "/query", timeout=httpx.Timeout(60, read=0.5), **asked)
        # what they asked for has ended with them, and what is asked next has its place
        assert served.http.get("/views/latest?limit=1", timeout=60).json()["of"] == 1500
        evaluating.seconds = 1.0
        answer = served.http.get("/query", params={"sql": endless})
        assert (answer.status_code, answer.json()["error"][:20]) == (503, "no answer within 1 s")
        evaluating.seconds, evaluating.bytes = 60.0, 1 << 20
        with served.connect() as one, pytest.raises(psycopg.errors.OutOfMemory, match="may take 1 MB"):
            one.execute(endless)
        answer = served.http.get("/query", params={"sql": endless})
        assert answer.status_code == 422
        assert "may take 1 MB; ask for less" in answer.json()["error"]
        assert served.asked("SELECT count(*) FROM latest") == [(1500,)]
