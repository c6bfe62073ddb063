"""A MariaDB of a test's own, on loopback, in a directory that goes with it."""

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
from typing import Any, ClassVar

import pymysql

from tests.servers.missing import missing
from tests.servers.ports import free_port

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass
class Server:
    """Its only account is dbsp, without a password, from loopback."""

    daemon: str
    root: Path
    port: int
    process: subprocess.Popen[bytes] | None = None
    # in whose name it runs instead of root's
    account: ClassVar[str | None] = "mysql"
    options: ClassVar[tuple[str, ...]] = (
        *("--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=2", "--skip-log-bin"),
    )

    @property
    def url(self) -> str:
        return self.url_of(self.port)

    def url_of(self, port: int) -> str:
        return f"mariadb://dbsp@127.0.0.1:{port}/shop"

    def start(self) -> None:
        """And wait until it answers: after a crash, until it has recovered."""
        deadline = time.monotonic() + 180
        while True:
            if self.process is None or self.process.poll() is not None:
                self.process = self._run(
                    self.daemon,
                    "--no-defaults",
                    f"--datadir={self.root}/data",
                    f"--socket={self.root}/socket",
                    f"--pid-file={self.root}/pid",
                    f"--init-file={self.root}/init.sql",
                    "--bind-address=127.0.0.1",
                    f"--port={self.port}",
                    *self.options,
                )
            with suppress(pymysql.err.OperationalError), self._connected():
                return
            assert time.monotonic() < deadline, (self.root / "log").read_text()[-2000:]
            time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL."""
        if self.process is None or self.process.poll() is not None:
            return
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def make(self) -> None:
        statements = (
            "CREATE DATABASE IF NOT EXISTS shop;",
            "CREATE USER IF NOT EXISTS dbsp@'127.0.0.1';",
            "GRANT ALL ON *.* TO dbsp@'127.0.0.1';",
        )
        (self.root / "init.sql").write_text("\n".join(statements) + "\n")
        self.install()

    def install(self) -> None:
        """Its own tables."""
        made = self._run(
            "mariadb-install-db",
            "--no-defaults",
            f"--datadir={self.root}/data",
            "--skip-test-db",
            "--auth-root-authentication-method=normal",
        )
        assert made.wait() == 0, (self.root / "log").read_text()

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """In a group of its own; it refuses to be root, unless that is said."""
        account = pwd.getpwnam(self.account) if self.account and os.getuid() == 0 else None
        if account is not None:
            for path in (self.root, *self.root.iterdir()):
                os.chown(path, account.pw_uid, account.pw_gid)
        with (self.root / "log").open("ab") as log:
            return subprocess.Popen(
                [program, *arguments],
                cwd=self.root,
                env={"PATH": _PATH, "LC_ALL": "C.UTF-8"},
                stdout=log,
                stderr=log,
                user=account.pw_uid if account else None,
                group=account.pw_gid if account else None,
                extra_groups=[] if account else None,
                start_new_session=True,
            )

    def _connected(self) -> Any:
        return pymysql.connect(
            host="127.0.0.1", port=self.port, user="dbsp", database="shop", charset="utf8mb4", autocommit=True
        )

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self._connected() as connection, connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    def execute(self, *statements: str) -> None:
        with self._connected() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)


@contextmanager
def mariadb() -> Iterator[Server]:
    """A new one, which is running. Skips where there is none, unless it must be there."""
    daemon = shutil.which("mariadbd", path=_PATH)
    if daemon is None or shutil.which("mariadb-install-db", path=_PATH) is None:
        missing("MariaDB")
    root = Path(tempfile.mkdtemp(prefix="dbsp-mariadb-"))
    server = Server(str(daemon), root, free_port())
    try:
        server.make()
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(root, ignore_errors=True)
