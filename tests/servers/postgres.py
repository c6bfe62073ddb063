"""A Postgres of a test's own, on loopback, in a directory that goes with it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.servers.missing import missing
from tests.servers.ports import free_port


def binaries() -> Path:
    """Where initdb and postgres lie. Skips where there are none, unless they must be there."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    named = shutil.which("postgres")
    folders = (*reversed(found), *([Path(named).resolve().parent] if named else []))
    whole = [each for each in folders if (each / "initdb").exists() and (each / "postgres").exists()]
    return whole[0] if whole else missing("Postgres")


@dataclass
class Server:
    """It trusts everybody on loopback."""

    bin: Path
    root: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return self.url_of(self.port)

    def url_of(self, port: int) -> str:
        return f"postgresql://dbsp@127.0.0.1:{port}/postgres"

    def start(self) -> None:
        """And wait until it answers: after a crash, until it has recovered."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "port": self.port,
            "recovery_init_sync_method": "syncfs",
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        deadline = time.monotonic() + 180
        while True:
            # again where the shared memory of one that was killed is still in use
            if self.process is None or self.process.poll() is not None:
                self.process = self._run("postgres", "-D", str(self.root / "data"), *options)
            with suppress(psycopg.OperationalError), psycopg.connect(self.url, connect_timeout=2):
                return
            assert time.monotonic() < deadline, (self.root / "log").read_text()[-2000:]
            time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL to all of it at once."""
        if self.process is None or self.process.poll() is not None:
            return
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()  # of sessions of their own
        for each in (pid, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self.process.wait()

    def make(self) -> None:
        data = str(self.root / "data")
        made = self._run("initdb", "-N", "-D", data, "-U", "dbsp", "-A", "trust", "-E", "UTF8")
        assert made.wait() == 0, (self.root / "log").read_text()

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """In a group of its own; it refuses to be root."""
        account = pwd.getpwnam("postgres") if os.getuid() == 0 else None
        if account is not None:
            os.chown(self.root, account.pw_uid, account.pw_gid)
        with (self.root / "log").open("ab") as log:
            return subprocess.Popen(
                [str(self.bin / program), *arguments],
                cwd=self.root,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
                stdout=log,
                stderr=log,
                user=account.pw_uid if account else None,
                group=account.pw_gid if account else None,
                extra_groups=[] if account else None,
                start_new_session=True,
            )

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(query).fetchall()

    def execute(self, *statements: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)


@contextmanager
def postgres() -> Iterator[Server]:
    """A new one, which is running."""
    folder = binaries()
    root = Path(tempfile.mkdtemp(prefix="dbsp-postgres-"))
    port = free_port()
    server = Server(folder, root, port)
    try:
        server.make()
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(root, ignore_errors=True)
