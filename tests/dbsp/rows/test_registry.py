"""What a registry's client does where it answers late, not at all, or no; and of a real one what it says.

The faults are those of a server of the test's own, which says what it is told to.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from dbsp.circuits.errors import DataError, Error
from dbsp.rows import registry
from dbsp.rows.registry import Registry, Stored
from tests.servers.registry import schema_registry

RECORD = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}'


class Scripted(ThreadingHTTPServer):
    """answers: of the next requests. asked: (path, Authorization) of those there were."""

    answers: list[tuple[int, Any]]
    asked: list[tuple[str, str | None]]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class _Answering(BaseHTTPRequestHandler):
    server: Scripted

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["Authorization"]))
        status, answer = self.server.answers.pop(0)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    monkeypatch.setattr(registry, "WAITS", (0.0, 0.0))
    with Scripted(("127.0.0.1", 0), _Answering) as made:
        made.answers, made.asked = [], []
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def test_asked_once_and_with_a_password(server: Scripted) -> None:
    one = Registry(f"http://me:p%40ss@{server.host}/base/")
    server.answers = [(503, b"busy"), (200, {"schema": RECORD})]
    assert one.schema(7) == one.schema(7) == Stored(RECORD)
    assert server.asked == [("/base/schemas/ids/7", "Basic bWU6cEBzcw==")] * 2
    assert "p@ss" not in repr(one) and "p%40ss" not in repr(one)


def test_references_come_first(server: Scripted) -> None:
    named = [{"name": "B", "subject": "b s", "version": 3}]
    server.answers = [
        (200, {"schema": "A", "references": named}),
        (200, {"schema": "B", "references": [{"name": "C", "subject": "c", "version": 1}]}),
        (200, {"schema": "C"}),
    ]
    assert Registry(f"http://{server.host}").schema(1) == Stored("A", ("C", "B"))
    assert [path for path, _ in server.asked] == [
        "/schemas/ids/1",
        "/subjects/b%20s/versions/3",
        "/subjects/c/versions/1",
    ]


def test_what_it_refuses(server: Scripted) -> None:
    one = Registry(f"http://me:secret@{server.host}")
    server.answers = [(404, {"error_code": 40403, "message": "Schema not found"})]
    with pytest.raises(DataError, match=rf"the schema registry http://{server.host} has no schemas/ids/9"):
        one.schema(9)
    server.answers = [(200, {"schema": "x", "schemaType": "JSON"})]
    with pytest.raises(DataError, match="schema 9 of the registry is JSON, and not AVRO"):
        one.schema(9)
    server.answers = [(401, {"message": "who are you"})]
    with pytest.raises(Error, match=r"refuses schemas/ids/9: 401 who are you; give schema_registry a user:"):
        one.schema(9)
    server.answers = [(409, {"error_code": 409, "message": "incompatible\n with 3"})]
    with pytest.raises(Error, match="doesn't take the schema of t-value: 409 incompatible with 3"):
        one.register("t-value", RECORD)


def test_a_registry_that_is_gone_and_back(server: Scripted) -> None:
    """What fails can be repeated: nothing is remembered of it. The password isn't said."""
    one = Registry(f"http://me:secret@{server.host}")
    server.answers = [(503, b"<html>later</html>")] * 3
    with pytest.raises(Error) as raised:
        one.schema(5)
    said = f"the schema registry http://{server.host} doesn't answer, asked 3 times: 503 <html>later</html>"
    assert str(raised.value) == said and not isinstance(raised.value, DataError)
    server.answers = [(200, {"schema": RECORD})]
    assert one.schema(5).text == RECORD
    with pytest.raises(Error, match=r"http://127\.0\.0\.1:9 doesn't answer, asked 3 times: .*refused"):
        Registry("http://me:secret@127.0.0.1:9").schema(1)


def test_the_next_address_where_one_is_gone(server: Scripted) -> None:
    server.answers = [(200, {"id": 3})]
    assert Registry(f"http://127.0.0.1:9,http://{server.host}").register("a.b/c", RECORD) == 3
    assert server.asked == [("/subjects/a.b%2Fc/versions", None)]


@pytest.mark.parametrize("url", ["localhost:8081", "ftp://me:secret@host", "http://", ""])
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(Error, match="schema_registry is 'http://host:8081'") as raised:
        Registry(url)
    assert "secret" not in str(raised.value)


@pytest.mark.slow
def test_a_real_one() -> None:
    with schema_registry() as real:
        one = Registry(real.url)
        number = one.register("t-value", RECORD)
        assert one.register("t-value", RECORD) == number
        assert json.loads(one.schema(number).text) == json.loads(RECORD)
        with pytest.raises(DataError, match="has no schemas/ids/4711"):
            one.schema(4711)
        with pytest.raises(Error, match="doesn't take the schema of t-value: 4"):
            one.register("t-value", '{"type": "no"}')
