"""Memory that a step has freed is used again, unless the environment says what is to become of it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

# fresh pages that the system fills with zeros, while 8 MB are taken and freed time and again
PROGRAM = """
import sys
from resource import RUSAGE_SELF, getrusage
import numpy as np
from dbsp.circuits.steps.memory import keep_freed_memory
does = keep_freed_memory() if sys.argv[1] == "ours" else False
np.ones(1 << 20)
before = getrusage(RUSAGE_SELF).ru_minflt
for _ in range(40):
    first, second = np.ones(1 << 20), np.ones(1 << 20)
    del first, second
print(does, getrusage(RUSAGE_SELF).ru_minflt - before)
"""


def run(which: str, **said: str) -> tuple[bool, int]:
    """Whether it is done, and the fresh pages."""
    environment = {name: value for name, value in os.environ.items() if "MALLOC_" not in name} | said
    command = [sys.executable, "-c", PROGRAM, which]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    does, pages = found.split()
    return does == "True", int(pages)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's allocator")
def test_fresh_pages_are_few() -> None:
    _, usual = run("glibc's")
    does, ours = run("ours")
    assert does
    assert 4 * ours < usual


def test_what_the_environment_says_holds() -> None:
    assert run("ours", MALLOC_TRIM_THRESHOLD_="100000")[0] is False
