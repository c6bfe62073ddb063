"""Whatever ends a process while its Spark starts, the JVM ends with it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

START = """
import sys
from dbsp.running.spark.session import session
session(sys.argv[1], cores=1)
print("started", flush=True)
sys.stdin.read()
"""
# as a notebook does: what was interrupted is given up, and the process goes on
INTERRUPTED = """
import sys
from dbsp.running.spark.session import session
try:
    session(sys.argv[1], cores=1)
except KeyboardInterrupt:
    said = "interrupted"
else:
    said = "started"
print(said, flush=True)
sys.stdin.read()
"""
ROOT = Path(__file__).parents[4]


def java_of(name: str) -> list[int]:
    """The Java processes that were started for an application of that name."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # no process, or no more
        if f"spark.app.name={name}".encode() in words and words[0].endswith(b"java"):
            found.append(int(entry.name))
    return found


def wait_for(condition: object, seconds: float = 60) -> bool:
    until = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def started(script: str, name: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-c", script, name], stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=ROOT
    )
    assert wait_for(lambda: java_of(name) or process.poll() is not None)
    assert process.poll() is None
    return process


def interrupted_until(process: subprocess.Popen[str], is_over: Callable[[], bool]) -> None:
    """Ctrl-C, again where Python has lost one: it ignores what is raised in a weak reference's callback."""
    for _ in range(6):
        process.send_signal(signal.SIGINT)
        if wait_for(is_over, seconds=10):
            return
    process.kill()
    pytest.fail(f"six interrupts, and it goes on: {process.communicate()}")


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
def test_no_jvm_outlives_its_process(number: signal.Signals, tmp_path: Path) -> None:
    for place, delay in enumerate((0.0, 0.7, 2.5)):
        name = f"dbsp-{tmp_path.name}-{number.name}-{place}"
        process = started(START, name)
        time.sleep(delay)
        if number == signal.SIGINT:
            interrupted_until(process, lambda: process.poll() is not None)  # noqa: B023
        else:
            process.send_signal(number)
        process.communicate(timeout=60)
        assert process.returncode != 0
        assert wait_for(lambda: not java_of(name)), f"{number.name} after {delay} s"  # noqa: B023


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are looked up in /proc")
def test_no_jvm_outlives_an_interrupted_start(tmp_path: Path) -> None:
    for attempt in range(3):
        name = f"dbsp-{tmp_path.name}-{attempt}"
        process = started(INTERRUPTED, name)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        said = process.stdout.readline()
        if said == "interrupted\n":
            assert wait_for(lambda: not java_of(name))  # noqa: B023
            assert process.poll() is None
        process.communicate(timeout=60)
        if said != "started\n":  # else Python has lost it, see above
            break
    assert said == "interrupted\n"
