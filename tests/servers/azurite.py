"""An Azure Blob Storage of a test's own, on loopback and in memory: Azurite, which running this installs."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import formatdate
from importlib.util import find_spec

from tests.servers.jars import ROOT
from tests.servers.missing import missing
from tests.servers.ports import free_port

FOLDER = ROOT / "azurite"
CONTAINER = "states"
_PACKAGE = "azurite@3.37.0"
_PROGRAM = FOLDER / "node_modules" / ".bin" / "azurite-blob"
_ACCOUNT = "tests"


@dataclass
class Server:
    """key: of its only account, in base 64."""

    port: int
    key: str
    process: subprocess.Popen[bytes]

    def environment(self, endpoint: str) -> dict[str, str]:
        """By which a client finds it, there."""
        return {
            "AZURE_STORAGE_USE_EMULATOR": "true",
            "AZURITE_BLOB_STORAGE_URL": endpoint,
            "AZURE_STORAGE_ACCOUNT_NAME": _ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": self.key,
        }

    def make(self, container: str) -> None:
        """Raises OSError. By a request that is signed as Shared Key asks for."""
        resource = f"/{_ACCOUNT}/{container}"
        headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
        named = "".join(f"{name}:{value}\n" for name, value in headers.items())
        signed = f"PUT{chr(10) * 12}{named}/{_ACCOUNT}{resource}\nrestype:container"
        key = hmac.new(base64.b64decode(self.key), signed.encode(), hashlib.sha256).digest()
        headers["Authorization"] = f"SharedKey {_ACCOUNT}:{base64.b64encode(key).decode()}"
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{resource}?restype=container",
            method="PUT",
            headers={**headers, "Content-Length": "0"},
        )
        with urllib.request.urlopen(request, timeout=60):
            pass


@contextmanager
def azurite() -> Iterator[Server]:
    """A new one, with an empty container. Skips where there is none, unless it must be there."""
    if not _PROGRAM.exists() or find_spec("obstore") is None:
        missing("Azurite or client (obstore)")
    port = free_port()
    key = base64.b64encode(secrets.token_bytes(64)).decode()
    process = subprocess.Popen(
        [_PROGRAM, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence", "--silent"],
        env={**os.environ, "AZURITE_ACCOUNTS": f"{_ACCOUNT}:{key}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    server = Server(port, key, process)
    try:
        deadline = time.monotonic() + 180
        while True:
            with suppress(OSError):
                server.make(CONTAINER)
                break
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        yield server
    finally:
        process.kill()
        process.wait()


def main() -> None:
    """Install it, unless it is there."""
    if _PROGRAM.exists():
        return
    partial = FOLDER.with_name("azurite.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    # of a folder's own; with --prefix npm would look for the machine's settings there, too
    (partial / "package.json").write_text('{"private": true}')
    command = ["npm", "install", "--no-audit", "--no-fund", "--silent", _PACKAGE]
    if all(subprocess.run(command, cwd=partial, check=False).returncode for _ in range(3)):
        sys.exit(f"make: can't install {_PACKAGE} by npm; put it and what it needs into {FOLDER}")
    shutil.rmtree(FOLDER, ignore_errors=True)
    partial.rename(FOLDER)


if __name__ == "__main__":
    main()
