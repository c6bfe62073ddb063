"""An S3 server of a test's own, moto's, on loopback and in memory; and what may happen to a request."""

from __future__ import annotations

import multiprocessing
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Protocol

from tests.servers.missing import missing
from tests.servers.ports import free_port

BUCKET = "states"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "tests",
    "AWS_SECRET_ACCESS_KEY": "not-a-secret",
    "AWS_REGION": "us-east-1",
}
# moto looks whether an object is there and then puts it, in as many threads as there are requests
_SERVER = """
import sys, threading
from moto.s3.responses import S3Response
from moto.server import main
put, lock = S3Response.put_object, threading.Lock()
def alone(self):
    with lock:
        return put(self)
S3Response.put_object = alone
sys.exit(main(sys.argv[1:]))
"""
_ANSWERS = {
    "error": ("500 Internal Server Error", "InternalError"),
    "throttle": ("503 Slow Down", "SlowDown"),
    "deny": ("403 Forbidden", "AccessDenied"),
}


@dataclass
class Server:
    """endpoint: of the server itself; through a proxy it has another."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def make(self, bucket: str) -> None:
        request = urllib.request.Request(f"{self.endpoint}/{bucket}", method="PUT")
        with urllib.request.urlopen(request, timeout=60):
            pass


@contextmanager
def s3() -> Iterator[Server]:
    """A new one, with an empty bucket. Skips where there is none, unless it must be there."""
    if find_spec("moto") is None or find_spec("flask") is None or find_spec("obstore") is None:
        missing("S3 server (moto) or client (obstore)")
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER, "-H", "127.0.0.1", "-p", str(port)],
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    server = Server(port, process)
    try:
        deadline = time.monotonic() + 180
        while True:
            with suppress(OSError):
                server.make(BUCKET)
                break
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        yield server
    finally:
        process.kill()
        process.wait()


@dataclass(frozen=True)
class Request:
    """method, path: as in its first line, without the bucket."""

    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Upstream(Protocol):
    """What listens on loopback."""

    port: int


@dataclass
class Proxy:
    """Before a server: at a request something may happen. Each connection is closed after its answer.

    fault: what happens to a request, by its number. None: nothing. 'error', 'throttle', 'deny': the answer,
    without the server. 'refuse': the connection ends before, 'lose': after, so its answer is lost.
    delay: seconds, of each.
    """

    server: Upstream
    fault: Callable[[int, Request], str | None] = lambda n, request: None
    delay: float = 0.0
    seen: list[Request] = field(default_factory=list)
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            given = _message(client)
            if given is None:
                return
            method, target, _ = given.split(b"\r\n", 1)[0].decode().split(" ")
            request = Request(method, target.removeprefix(f"/{BUCKET}/"))
            with self._counting:
                n = len(self.seen)
                self.seen.append(request)
            time.sleep(self.delay)
            fault = self.fault(n, request)
            if fault in _ANSWERS:
                status, code = _ANSWERS[fault]
                body = f"<Error><Code>{code}</Code></Error>"
                head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {len(body)}"
                client.sendall(f"{head}\r\n\r\n{body}".encode())
            elif fault != "refuse":
                with socket.create_connection(("127.0.0.1", self.server.port)) as upstream:
                    upstream.sendall(_closing(given))
                    answer = b"".join(iter(lambda: upstream.recv(1 << 16), b""))
                if fault != "lose":
                    client.sendall(_closing(answer))

    def close(self) -> None:
        self._listener.close()


def _message(client: socket.socket) -> bytes | None:
    """Head and body of a request."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = client.recv(1 << 16)
        if not more:
            return None
        data += more
    head = data.split(b"\r\n\r\n", 1)[0]
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    size = len(head) + 4 + (int(length[1]) if length else 0)
    while len(data) < size:
        more = client.recv(1 << 16)
        if not more:
            return None
        data += more
    return data


def _closing(message: bytes) -> bytes:
    """The message, after which its connection ends."""
    head, body = message.split(b"\r\n\r\n", 1)
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    return b"\r\n".join([*lines, b"Connection: close"]) + b"\r\n\r\n" + body


@contextmanager
def outside(server: Server, delay: float = 0.0) -> Iterator[Outside]:
    """A proxy in a process of its own: for clients that hold Python's lock while they wait for an answer, or
    whose time is taken. delay: seconds, of each request."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve_outside, args=(server.port, delay, there)
    )
    process.start()
    try:
        yield Outside(here.recv(), here)
    finally:
        process.kill()
        process.join()


@dataclass
class Outside:
    endpoint: str
    pipe: Connection

    def fault_at(self, n: int, kind: str | None) -> None:
        """What happens to the nth request from now on, from 0."""
        self.pipe.send((n, kind))
        self.pipe.recv()

    def seen(self) -> list[Request]:
        """Since then."""
        self.pipe.send(None)
        return list(self.pipe.recv())


def _serve_outside(port: int, delay: float, pipe: Connection) -> None:
    wanted: list[tuple[int, str | None]] = [(-1, None)]
    server = Server(port, None)  # type: ignore[arg-type]  another process started it
    proxy = Proxy(server, lambda n, _: wanted[0][1] if n == wanted[0][0] else None, delay)
    pipe.send(proxy.endpoint)
    with suppress(EOFError):
        while True:
            asked = pipe.recv()
            if asked is not None:
                wanted[0] = asked
                proxy.seen.clear()
            pipe.send(proxy.seen)
