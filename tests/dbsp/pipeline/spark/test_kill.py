"""Killed at any point, a run that is started again ends where an undisturbed one ends. So for JVMs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.dbsp.pipeline.spark.shop import EXPECTED, SOLD, changelog, opened, sell

pytestmark = [pytest.mark.spark, pytest.mark.slow]

RUN = """
import os, signal, sys
from dbsp.pipeline.pipeline import Pipeline
from dbsp.state.store import Store
from tests.dbsp.pipeline.spark.shop import TEXT

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

state, point = sys.argv[1:]
with Pipeline(sql=TEXT.format(os.path.dirname(state)), state=state) as p:
    if point == "commit":
        commit = Store.commit
        Store.commit = lambda store, record: die() if record.step == 2 else commit(store, record)
    p.run(once=True, on_step=lambda changes: die() if point == "checkpoint" and changes.step == 2 else None)
"""


@pytest.mark.parametrize("point", ["commit", "checkpoint"])
def test_a_killed_run_can_be_started_again(spark, shop, point):
    sell(shop, "3")
    command = [sys.executable, "-c", RUN, str(shop / "state"), point]
    died = subprocess.run(command, capture_output=True, check=False, cwd=os.getcwd())
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    with opened(spark, shop) as p:
        assert p.last_step == (1 if point == "commit" else 2)
        p.run(once=True)
        assert p.last_step == 3
        assert p["sold"].rows() == SOLD
    assert changelog(spark, shop) == EXPECTED


ORPHANED = """
import os, signal, sys
import dbsp
from dbsp.state.lock import Lock
from pathlib import Path
from pyspark import SparkContext

state = sys.argv[1]
p = dbsp.Pipeline(sql="CREATE TABLE t (a BIGINT); CREATE VIEW v AS SELECT a FROM t;", state=state)
p.insert("t", [(1,)])
p.step()
os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
SparkContext._gateway.proc.wait()
p.insert("t", [(2,)])
try:
    p.step()
except Exception as error:  # whichever it is, the test looks at its name
    print(type(error).__name__, p.last_step, p.queued, flush=True)
p.close()
Lock(Path(state, "lock")).close()
p.close()
print("closed", flush=True)
os._exit(0)
"""


def test_a_pipeline_whose_jvm_has_died_is_closed_all_the_same(tmp_path):
    command = [sys.executable, "-c", ORPHANED, str(tmp_path / "state")]
    ran = subprocess.run(command, capture_output=True, check=False, cwd=os.getcwd(), text=True)
    assert ran.returncode == 0, ran.stderr
    failed, closed = ran.stdout.strip().splitlines()[-2:]
    assert failed.split(" ", 1)[1] == "1 {'t': 1}"
    assert closed == "closed"
