"""A Redis of a test's own, on loopback, in a directory that goes with it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import redis

from tests.servers.missing import missing
from tests.servers.ports import free_port


@dataclass
class Server:
    """It writes each command to a log before it answers."""

    program: str
    root: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return self.url_of(self.port)

    def url_of(self, port: int) -> str:
        return f"redis://127.0.0.1:{port}/0"

    @property
    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, decode_responses=True)

    def start(self) -> None:
        """And wait until it answers."""
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.root), "--save", ""]
        durable = ["--appendonly", "yes", "--appendfsync", "always"]
        self.process = subprocess.Popen(
            [self.program, *options, *durable], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 180
        while True:
            with suppress(redis.ConnectionError):
                self.client.ping()
                return
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def kill(self) -> None:
        """SIGKILL."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@contextmanager
def redis_server() -> Iterator[Server]:
    """A new one, which is running. Skips where there is none, unless it must be there."""
    program = shutil.which("redis-server")
    if program is None:
        missing("Redis")
    root = Path(tempfile.mkdtemp(prefix="dbsp-redis-"))
    port = free_port()
    server = Server(str(program), root, port)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(root, ignore_errors=True)
