"""A session of Spark Connect is refused in a sentence, whichever way it comes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dbsp.circuits.errors import Error
from dbsp.sql.catalyst.jvm.connect import check_classic, check_mode, is_classic

# Its variable holds for a whole process.
REMOTE = """
import dbsp
from pyspark.sql import SparkSession
from dbsp.pipeline.pipeline import Pipeline

TEXT = "CREATE TABLE t (connected INT); CREATE VIEW v AS SELECT connected + {0} AS x FROM t;"
remote = SparkSession.builder.remote("local[1]").getOrCreate()
rows = remote.range(3).selectExpr("CAST(id AS INT) AS connected")
assert rows.count() == 3

def refused(name, call):
    try:
        call()
    except dbsp.Error as error:
        print(name, "|", error)

refused("given", lambda: Pipeline(sql=TEXT.format(1), spark=remote))
refused("active", lambda: Pipeline(sql=TEXT.format(1)))
refused("compiling", lambda: Pipeline(sql=TEXT.format(__import__("time").time_ns() % 10**9), runner="inline"))
refused("session", dbsp.session)
with Pipeline(sql=TEXT.format(1), runner="inline") as pipeline:  # which is known: it needs no Spark
    refused("rows", lambda: pipeline.insert("t", rows))
    pipeline.insert("t", rows.toArrow())
    print([each["x"] for each in pipeline.step()["v"].zset.rows.to_pylist()])
"""
KNOWN = """
from dbsp.pipeline.pipeline import Pipeline
TEXT = "CREATE TABLE t (connected INT); CREATE VIEW v AS SELECT connected + 1 AS x FROM t;"
Pipeline(sql=TEXT, runner="inline").close()
"""


@pytest.mark.spark
@pytest.mark.slow
def test_each_way_is_refused_and_rows_can_be_given_as_arrow() -> None:
    pytest.importorskip("grpc")
    subprocess.run([sys.executable, "-c", KNOWN], check=True)
    done = subprocess.run([sys.executable, "-c", REMOTE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *refused, rows = done.stdout.splitlines()
    said = {name: text for name, _, text in (line.partition(" | ") for line in refused)}
    assert said.keys() == {"given", "active", "compiling", "session", "rows"}
    assert "toArrow()" in said.pop("rows")
    for name, text in said.items():
        assert "Spark Connect" in text and text.endswith("and SPARK_REMOTE"), name
    assert sorted(map(int, rows.strip("[]").split(", "))) == [1, 2, 3]


def test_what_has_no_jvm_is_none() -> None:
    assert not is_classic(object())
    with pytest.raises(Error, match=r"the session is one of Spark Connect, .* make a classic") as raised:
        check_classic(object())
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"])
def test_a_process_in_which_it_is_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for each in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
        monkeypatch.delenv(each, raising=False)
    check_mode()
    monkeypatch.setenv(name, "sc://127.0.0.1")
    with pytest.raises(Error, match=rf"Spark Connect is on in this process \({name}\), and dbsp needs"):
        check_mode()
