"""Compiling without a session starts a JVM, says nothing, and leaves nothing behind; a session stays."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from dbsp.running.spark.session import session
from dbsp.sql.catalyst import compile_session

SCRIPT = """
import os, subprocess
from dbsp.sql.compiler.load import compile_program
program = compile_program("CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a + 1 AS b FROM t")
children = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "comm="], capture_output=True, text=True)
print(*program.views, children.stdout.split())
"""


@pytest.mark.spark
@pytest.mark.slow
def test_the_jvm_of_a_compilation_is_quiet_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")  # one that writes its classes down ends later
    answer = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert (answer.stdout, answer.stderr) == ("v ['ps']\n", "")


@pytest.mark.spark
def test_a_session_of_another_thread_is_used_and_stays(spark: Any) -> None:
    def elsewhere() -> tuple[bool, Any, Any]:
        active = type(spark).getActiveSession()
        with compile_session() as compiling:
            return active is None, compiling.sparkContext, session().sparkContext

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere).result() == (True, spark.sparkContext, spark.sparkContext)
    assert spark.range(3).count() == 3
