"""The JVM beside this process: it may die at any time, and is another one's after a fork."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.allowance import Allowance
from dbsp.circuits.errors import Ended, Error
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.spark import process
from dbsp.circuits.functions.spark.process import evaluator
from tests.oracles.against_spark import AgainstSpark

ROWS = pa.RecordBatch.from_pydict({"k": pa.array([1, 2], pa.int64())})


@pytest.fixture(scope="module")
def call(spark: Any) -> Call:
    return AgainstSpark(spark, ROWS).call("to_csv(named_struct('k', k))")


@pytest.mark.spark
def test_one_that_has_died_is_said_and_followed_by_another(call: Call) -> None:
    assert evaluate(call, ROWS).to_pylist() == ["1", "2"]
    first = evaluator()
    assert evaluator() is first
    first.process.kill()
    first.process.wait()
    with pytest.raises(Error, match="the JVM that evaluates Spark's functions has ended: it was killed"):
        evaluate(call, ROWS)
    assert evaluator() is not first
    assert evaluate(call, ROWS).to_pylist() == ["1", "2"]


@pytest.mark.spark
def test_an_answer_that_nobody_has_read_is_not_the_next_ones(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(call, ROWS)
    interrupted = evaluator()

    def interrupt(_: int) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupted, "read", interrupt)
    with pytest.raises(KeyboardInterrupt):
        evaluate(call, ROWS)
    assert evaluate(call, ROWS.slice(1)).to_pylist() == ["2"]
    assert evaluator() is not interrupted


@pytest.mark.spark
def test_a_query_has_a_jvm_of_its_own_and_ends_when_nobody_waits(call: Call, spark: Any) -> None:
    evaluate(call, ROWS)
    steps = evaluator()
    against = AgainstSpark(spark, ROWS)
    document = "concat('<a>', repeat('<b>1</b>', 150000 + k), '</a>')"
    query = against.call(f"xpath_double({document}, 'count(a/b[count(preceding-sibling::b) > 5])')")
    allowance = Allowance(seconds=600, bytes_=1 << 40)
    found: list[Any] = []

    def ask() -> None:
        try:
            found.append(evaluate(query, ROWS))
        except Ended as error:
            found.append(error)

    asking = Thread(target=allowance.within(ask))
    asking.start()
    assert evaluate(call, ROWS).to_pylist() == ["1", "2"]
    assert evaluator() is steps
    allowance.end()
    asking.join(60)
    assert isinstance(found[0], Ended)


@pytest.mark.spark
def test_threads_that_wait_for_one_that_dies_go_on_with_another(call: Call) -> None:
    first = evaluator()
    with ThreadPoolExecutor(6) as threads:
        asked = [threads.submit(evaluate, call, ROWS) for _ in range(60)]
        first.process.kill()
        said = [one.exception() or one.result().to_pylist() for one in asked]
    assert sum(isinstance(one, Error) for one in said) <= 1
    assert all(one == ["1", "2"] for one in said if not isinstance(one, Error))
    assert evaluator() is evaluator() is not first


@pytest.mark.spark
def test_the_eldest_of_many_expressions_goes(spark: Any, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    against = AgainstSpark(spark, ROWS)
    document = "'<a>' || k || '</a>'"
    translated = against.translate([f"""xpath_string({document}, 'concat(a, ",{n}")')""" for n in range(300)])
    assert translated is not None
    _, calls = against._over(ROWS, translated)
    for _ in range(2):
        assert [evaluate(one, ROWS).to_pylist()[0] for one in calls] == [f"1,{n}" for n in range(300)]
    assert len(evaluator().numbers) == process._KNOWN


CHILD = """
import os, sys
from dbsp.circuits.functions.spark.process import evaluator
print(evaluator().process.pid, flush=True)
os._exit(0)
"""


@pytest.mark.slow
def test_it_ends_with_its_parent() -> None:
    pid = int(
        subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True).stdout
    )
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if "Z" in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]:
            return
        time.sleep(0.1)
    pytest.fail("it goes on")


def test_a_java_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(Error, match="needs Java here: set JAVA_HOME"):
        process._started()
