"""Compiling without a session starts a JVM, says nothing, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import os, subprocess
from dbsp.sql.compiler.load import compile_program
program = compile_program("CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a + 1 AS b FROM t")
children = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "comm="], capture_output=True, text=True)
print(*program.views, children.stdout.split())
"""


@pytest.mark.spark
@pytest.mark.slow
def test_the_jvm_of_a_compilation_is_quiet_and_ends() -> None:
    answer = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert (answer.stdout, answer.stderr) == ("v ['ps']\n", "")
