"""Memory that a step has freed is used again, unless the environment says what is to become of it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

# fresh pages that the system fills with zeros, while memory is taken and freed 40 times: NumPy's, Arrow's
PROGRAM = """
import sys
from resource import RUSAGE_SELF, getrusage
import numpy as np
import pyarrow as pa
from dbsp.circuits.steps.memory import keep_freed_memory
does = keep_freed_memory() if sys.argv[1] == "ours" else False
columns = [pa.array(np.ones(1 << 20))] * 3
def pages(take):
    take()
    before = getrusage(RUSAGE_SELF).ru_minflt
    for _ in range(40):
        take()
    return getrusage(RUSAGE_SELF).ru_minflt - before
print(does, pages(lambda: (np.ones(1 << 20), np.ones(1 << 20))), pages(lambda: pa.concat_arrays(columns)),
      pa.default_memory_pool().backend_name)
"""


def run(which: str, **said: str) -> tuple[bool, int, int, str]:
    """Whether it is done, the fresh pages of NumPy and of Arrow, Arrow's pool."""
    ours = ("MALLOC_", "ARROW_DEFAULT_MEMORY_POOL")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)} | said
    command = [sys.executable, "-c", PROGRAM, which]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    does, of_numpy, of_arrow, pool = found.split()
    return does == "True", int(of_numpy), int(of_arrow), pool


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's allocator")
def test_fresh_pages_are_few() -> None:
    _, usual, _, _ = run("glibc's")
    does, of_numpy, of_arrow, pool = run("ours")
    assert (does, pool) == (True, "system")
    assert 4 * of_numpy < usual
    every = 40 * 3 * 8 * (1 << 20) // os.sysconf("SC_PAGE_SIZE")
    assert 4 * of_arrow < every


@pytest.mark.slow
def test_what_the_environment_says_holds() -> None:
    assert run("ours", MALLOC_TRIM_THRESHOLD_="100000")[0] is False
    does, _, _, pool = run("ours", ARROW_DEFAULT_MEMORY_POOL="jemalloc")
    assert (does, pool) == (False, "jemalloc")
