"""The JVM beside this process: it may die at any time, and is another one's after a fork."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import Error
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.spark import process
from dbsp.circuits.functions.spark.process import evaluator
from tests.oracles.against_spark import AgainstSpark

ROWS = pa.RecordBatch.from_pydict({"k": pa.array([1, 2], pa.int64())})


@pytest.fixture(scope="module")
def call(spark: Any) -> Call:
    against = AgainstSpark(spark, ROWS)
    translated = against.translate(["to_csv(named_struct('k', k))"])
    assert translated is not None
    _, (call,) = against._over(ROWS, translated)
    assert isinstance(call, Call)
    return call


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

    monkeypatch.setattr(interrupted, "_read", interrupt)
    with pytest.raises(KeyboardInterrupt):
        evaluate(call, ROWS)
    assert evaluate(call, ROWS.slice(1)).to_pylist() == ["2"]
    assert evaluator() is not interrupted


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(Error, match="needs Java here: set JAVA_HOME"):
        process._java()
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setattr(process.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(Error, match="needs Spark's jars here: set SPARK_HOME"):
        process.jars()
