"""MinIO of a test's own, on loopback: another server of S3's protocol than moto's, with a disk.

`python -m tests.servers.minio` builds it from Go's module proxy, which takes some minutes of a core.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.servers.jars import ROOT
from tests.servers.missing import missing
from tests.servers.ports import free_port
from tests.servers.s3 import BUCKET, ENVIRONMENT, Server

PROGRAM = ROOT / "minio" / "minio"
_MODULE = "github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c"
_DEADLINE = 60.0


@contextmanager
def minio(folder: Path) -> Iterator[Server]:
    """A new one, with an empty bucket. Skips where it wasn't built, unless it must be there."""
    if not PROGRAM.exists():
        missing("S3 server (MinIO)", "make minio")
    port = free_port()
    (folder / BUCKET).mkdir(parents=True)  # a folder of its disk is a bucket
    process = subprocess.Popen(
        [str(PROGRAM), "server", "--quiet", "--address", f"127.0.0.1:{port}", str(folder)],
        env={
            **os.environ,
            "MINIO_ROOT_USER": ENVIRONMENT["AWS_ACCESS_KEY_ID"],
            "MINIO_ROOT_PASSWORD": ENVIRONMENT["AWS_SECRET_ACCESS_KEY"],
            "MINIO_BROWSER": "off",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    server = Server(port, process)
    try:
        deadline = time.monotonic() + _DEADLINE
        while not _is_ready(server):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.1)
        yield server
    finally:
        process.kill()
        process.wait()


def _is_ready(server: Server) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"{server.endpoint}/minio/health/ready", timeout=2):
        return True
    return False


def main() -> None:
    """Build it, unless it is there."""
    if PROGRAM.exists():
        return
    if shutil.which("go") is None:
        sys.exit(f"make: MinIO needs Go to be built; install it, or put the program at {PROGRAM}")
    partial = PROGRAM.parent.with_name("minio.partial")
    environment = {**os.environ, "GOBIN": str(partial), "CGO_ENABLED": "0"}
    command = ["go", "install", "-ldflags=-s -w", _MODULE]
    if subprocess.run(command, env=environment, cwd="/", check=False).returncode:
        sys.exit(f"make: can't build {_MODULE}; put the program at {PROGRAM}")
    shutil.rmtree(PROGRAM.parent, ignore_errors=True)
    partial.rename(PROGRAM.parent)


if __name__ == "__main__":
    main()
