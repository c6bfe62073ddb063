"""What Spark says of a failure becomes one line, and what was ours is found in it."""

from __future__ import annotations

import logging

import pyspark
import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from dbsp.circuits.errors import StateError
from dbsp.running.spark.messages import first_line, foreseen, log_of_queries, own_error


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("no such file\n  at x.y\n", "no such file"),
        ("[TYPE] bad value SQLSTATE: 22018", "[TYPE] bad value"),
        ("[STREAM_FAILED] Query [id = a] terminated with exception: gone SQLSTATE: XXKST", "gone"),
        (
            "CSV header does not conform\n Header: a\n Schema: b\nat x",
            "CSV header does not conform Header: a Schema: b; a header has the table's columns by name, "
            "in its order, with sep between them (OPTIONS enforceSchema 'true' takes them by their places, "
            "whatever they are called)",
        ),
        ("", "Spark failed and said nothing"),
        (
            "An exception was thrown from the Python worker. Please see the stack trace below.\nTraceback\n"
            "dbsp.circuits.errors.DataError: a\n\nTraceback\ndbsp.circuits.errors.DataError: a message\nat",
            "a message",
        ),
        (
            "[KAFKA_DATA_SOURCE_NOT_ENABLED] Failed to find data source: kafka. Please deploy",
            "Spark has no connector for kafka; start it with one: --packages "
            f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}",
        ),
    ],
)
def test_one_line(said: str, line: str) -> None:
    assert first_line(PySparkException(said)) == line


def test_what_is_foreseen() -> None:
    assert str(foreseen(PySparkException("x\ny"))) == "Spark failed: x"
    assert str(foreseen(Py4JNetworkError("gone"))).startswith("Spark's JVM has ended")
    assert foreseen(ValueError("x")) is None


def test_what_a_task_found_wrong_with_the_state() -> None:
    found = own_error(PySparkException("Traceback\ndbsp.circuits.errors.StateError: seg: damaged\n at"))
    assert isinstance(found, StateError) and str(found) == "seg: damaged"
    assert own_error(PySparkException("else")) is None


@pytest.mark.spark
def test_what_a_jvm_has_not_is_not_its_end(spark) -> None:
    for asked in (spark._jvm.java.lang.Nothing, spark._jsparkSession.nothing):
        with pytest.raises((Py4JError, TypeError), match=r"[nN]othing|not callable") as raised:
            asked()
        assert foreseen(raised.value) is None


@pytest.mark.spark
def test_a_query_that_fails_says_why_whoever_made_its_log(spark, monkeypatch) -> None:
    monkeypatch.delitem(logging.Logger.manager.loggerDict, "SQLQueryContextLogger", raising=False)
    log = log_of_queries()
    monkeypatch.setattr(log, "disabled", True)
    with pytest.raises(PySparkException, match="DIVIDE_BY_ZERO"):
        spark.sql("SELECT 1 DIV id FROM range(1)").toArrow()
