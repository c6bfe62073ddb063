"""CPU and memory of this process and of those below it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks.suite import usage

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="told by Linux")
SPIN = "import time\nwhile time.process_time() < 0.3: pass\ninput()"


def test_children_count_while_they_run_and_after():
    before, alone = usage.cpu(children=True), usage.cpu(children=False)
    with subprocess.Popen([sys.executable, "-c", SPIN], stdin=subprocess.PIPE) as child:
        while usage.cpu(children=True) - before < 0.25:
            time.sleep(0.2)  # what looking takes is ours
        child.communicate(b"\n")
    assert usage.cpu(children=True) - before >= 0.25
    assert usage.cpu(children=False) - alone < 0.25


@pytest.mark.slow
def test_memory_is_what_was_there_at_most():
    held = np.ones(25_000_000)
    with usage.memory(children=False) as much:
        while not much.peak:  # who looks may have to wait for a core
            time.sleep(0.01)
        del held
    with usage.memory(children=False) as little:  # afterwards: what tests before have freed may go meanwhile
        pass
    assert much.peak - little.peak > 150_000_000
