"""A schema registry of a test's own: Apicurio, with Confluent's interface, on loopback, in memory."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from tests.servers.jars import java, registry
from tests.servers.jvm import SHORT
from tests.servers.missing import missing
from tests.servers.ports import free_port


@dataclass
class SchemaRegistry:
    """It forgets all when it ends."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/apis/ccompat/v7"

    def empty(self) -> None:
        """No subject is left: of each it has to be told twice that it goes."""
        with urlopen(f"{self.url}/subjects", timeout=60) as answer:
            subjects = json.load(answer)
        for subject in subjects:
            for how in ("false", "true"):
                address = f"{self.url}/subjects/{quote(subject, safe='')}?permanent={how}"
                with urlopen(Request(address, method="DELETE"), timeout=60):
                    pass


@contextmanager
def schema_registry() -> Iterator[SchemaRegistry]:
    """A new one, which is running. Skips where its jars aren't there."""
    if not registry():
        missing("schema registry")
    port = free_port()
    settings = [f"-Dquarkus.http.port={port}", "-Dquarkus.http.host=127.0.0.1"]
    with tempfile.TemporaryDirectory(prefix="dbsp-registry-") as root:
        log = Path(root, "log")
        with log.open("wb") as out:
            command = [java(), "-Xmx256m", *SHORT, *settings, *registry()]
            process = subprocess.Popen(command, cwd=root, stdout=out, stderr=out, start_new_session=True)
        started = SchemaRegistry(port, process)
        try:
            deadline = time.monotonic() + 180
            while not _answers(f"{started.url}/subjects"):
                assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-2000:]
                time.sleep(0.1)
            yield started
        finally:
            process.kill()
            process.wait()


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
