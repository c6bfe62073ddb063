"""A standalone cluster of Spark: a master and workers that share no directory, on loopback.

Each worker has a home and an address of its own, so that its tasks keep their copies of segments there and
nowhere else, and Spark takes it for a host.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

from tests.servers.ports import free_port

_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
_DEADLINE = 180.0
# of each of its JVMs: what tests say of any Spark's
OPTIONS = os.environ.get("SPARK_SUBMIT_OPTS", "")


@dataclass
class Worker:
    """home: of it and its executors."""

    home: Path
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """With its executors, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass
class Cluster:
    """master: its URL."""

    master: str
    workers: list[Worker]


@contextmanager
def cluster(root: Path, workers: int = 2) -> Iterator[Cluster]:
    """Workers of one core, with a directory each under `root`. They are there when the body begins."""
    with ExitStack() as stack:
        port, page = free_port(), free_port()
        options = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)]
        stack.enter_context(_running(root / "master", "master.Master", *options))
        master = f"spark://127.0.0.1:{port}"
        _wait(lambda: _alive(page) is not None)
        started = []
        for n in range(workers):
            home = root / f"worker{n}"
            given = ["--host", f"127.0.0.{n + 1}", "--cores", "1", "--memory", "1g", "--webui-port", "0"]
            process = stack.enter_context(
                _running(home, "worker.Worker", *given, "--work-dir", str(home / "work"), master)
            )
            started.append(Worker(home, process))
        _wait(lambda: _alive(page) == workers)
        yield Cluster(master, started)


@contextmanager
def _running(home: Path, kind: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own session, whose home, scratch and working directory are one that it has alone."""
    (home / "tmp").mkdir(parents=True)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "DBSP_", "XDG_"))
    }
    environment |= {
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "SPARK_LOCAL_DIRS": str(home / "tmp"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": f"-Djava.io.tmpdir={home / 'tmp'} {OPTIONS}",
        "PYSPARK_PYTHON": sys.executable,
    }
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(_CLASS), f"org.apache.spark.deploy.{kind}", *options],
            env=environment,
            cwd=home,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _alive(page: int) -> int | None:
    """How many workers the master knows; None: it doesn't answer yet."""
    # its pages are there one after the other: until that one is, it is the first page
    with (
        suppress(OSError, json.JSONDecodeError),
        urllib.request.urlopen(f"http://127.0.0.1:{page}/json/", timeout=2) as answer,
    ):
        return sum(worker["state"] == "ALIVE" for worker in json.load(answer)["workers"])
    return None


def _wait(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _DEADLINE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)
