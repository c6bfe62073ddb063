"""Memory that a step has freed is used again, unless the environment says what is to become of it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

# fresh pages that the system fills with zeros, while 8 MB are taken and freed time and again, and seconds
# that it takes for that where Arrow takes them, in huge pages
PROGRAM = """
import sys
from resource import RUSAGE_SELF, getrusage
import time
import numpy as np
import pyarrow as pa
from dbsp.circuits.steps.memory import keep_freed_memory
does = keep_freed_memory() if sys.argv[1] == "ours" else False
np.ones(1 << 20)
before = getrusage(RUSAGE_SELF).ru_minflt
for _ in range(40):
    first, second = np.ones(1 << 20), np.ones(1 << 20)
    del first, second
found = getrusage(RUSAGE_SELF).ru_minflt - before
columns = [pa.array(np.ones(1 << 20))] * 3
before = getrusage(RUSAGE_SELF).ru_stime
for _ in range(40):
    one = pa.concat_arrays(columns)
    del one
    time.sleep(0.02)
print(does, found, getrusage(RUSAGE_SELF).ru_stime - before, pa.default_memory_pool().backend_name)
"""


def run(which: str, **said: str) -> tuple[bool, int, float, str]:
    """Whether it is done, the fresh pages, the seconds, Arrow's pool."""
    ours = ("MALLOC_", "ARROW_DEFAULT_MEMORY_POOL")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)} | said
    command = [sys.executable, "-c", PROGRAM, which]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    does, pages, seconds, pool = found.split()
    return does == "True", int(pages), float(seconds), pool


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's allocator")
def test_fresh_pages_are_few() -> None:
    _, usual, of_arrow, _ = run("glibc's")
    does, ours, seconds, _ = run("ours")
    assert does
    assert 4 * ours < usual
    assert seconds < of_arrow


def test_what_the_environment_says_holds() -> None:
    assert run("ours", MALLOC_TRIM_THRESHOLD_="100000")[0] is False
    does, _, _, pool = run("ours", ARROW_DEFAULT_MEMORY_POOL="jemalloc")
    assert (does, pool) == (False, "jemalloc")
