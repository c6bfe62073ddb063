"""A process that is asked and answers, ends, is ended, and says why."""

from __future__ import annotations

import sys

import pytest

from dbsp.circuits.allowance import Allowance
from dbsp.circuits.child import INT, Child, Children
from dbsp.circuits.errors import Ended

ECHO = """
import subprocess, sys
while data := sys.stdin.buffer.read(4):
    if data == b"wait":
        subprocess.run([sys.executable, "-c", "import time; time.sleep(1000)"])
    if data == b"fail":
        raise ValueError("no")
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
"""


@pytest.fixture
def child() -> Child:
    return Child.start([sys.executable, "-c", ECHO])


def test_it_answers_until_it_is_ended(child: Child) -> None:
    child.write(memoryview(INT.pack(-7)))
    assert child.int() == -7
    child.write(memoryview(b"two asked"[:8]))
    assert child.read(8) == b"two aske"
    child.end()
    child.end()
    assert child.ended
    assert child.process.poll() is not None


def test_one_that_fails_says_why(child: Child) -> None:
    child.write(memoryview(b"fail"))
    with pytest.raises(EOFError):
        child.read(4)
    child.end()
    assert child.said() == "ValueError: no"


def test_who_asks_waits_for_no_more_than_his_time(child: Child) -> None:
    """What it has started ends with it: its output is closed."""
    child.write(memoryview(b"wait"))
    with pytest.raises(Ended):
        Allowance(0.5, 1).within(lambda: child.read(4))()
    child.end()
    assert child.process.stdout is not None
    assert child.process.stdout.read(1) == b""


def test_there_is_one_for_each_purpose_until_it_has_ended() -> None:
    children = Children[Child]()

    def one(purpose: str) -> Child:
        return children.of(purpose, lambda: Child.start([sys.executable, "-c", ECHO]))

    first, other = one("a"), one("b")
    assert one("a") is first
    assert other is not first
    first.end()
    again = one("a")
    assert again is not first
    for each in (again, other):
        each.end()
