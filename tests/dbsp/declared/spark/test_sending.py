"""What flows into a sink arrives there once, whatever ends a run."""

from __future__ import annotations

import json

import pytest

from dbsp.circuits.errors import Error, ProgramError, StateError
from dbsp.declared.asked import Asked
from dbsp.declared.refresh import FULL, INCREMENTAL, UNCHANGED
from dbsp.declared.remembered.remembered import Remembering
from dbsp.declared.tables.manifest import Manifest

pytestmark = pytest.mark.spark

PYTHON = """
from pyspark import pipelines as dp
from pyspark.sql import functions as F

dp.create_sink("out", "json", {{"path": "{folder}/out", "ignoreNullFields": "false"}})


@dp.append_flow(target="out", name="plain")
def plain():
    return spark.readStream.table("{source}")


@dp.append_flow(target="out", name="negative")
def negative():
    return spark.readStream.table("kept").withColumn("a", -F.col("a"))
"""
SQL = "CREATE STREAMING TABLE kept AS SELECT a FROM STREAM {source} WHERE a > 1;"


@pytest.fixture
def sending(project):
    project.sql("CREATE TABLE src (a INT) USING parquet", "INSERT INTO src VALUES (1), (2), (NULL)")
    project.write(PYTHON.format(folder=project.folder, source="src"), "python.py")
    return project


def sql():
    return SQL.format(source="src")


def arrived(project) -> list:
    """As Spark's own log of the files says."""
    rows = [json.loads(row[0]) for row in project.spark.read.text(f"{project.folder}/out").collect()]
    return sorted((row["a"] for row in rows), key=repr)


def test_rows_arrive_as_they_come(sending):
    done = sending.run(sql())
    assert (done["out"].how, done["out"].dataset.kind, done["out"].written.inserted) == (FULL, "sink", 4)
    assert arrived(sending) == [-2, 1, 2, None]
    assert {one.how for one in sending.run(sql()).values()} == {UNCHANGED}
    sending.sql("INSERT INTO src VALUES (3)")
    assert sending.run(sql())["out"].how == INCREMENTAL
    assert arrived(sending) == [-2, -3, 1, 2, 3, None]
    kept = list((sending.folder / "storage" / "dbsp" / "sinks").rglob("*.parquet"))
    assert not kept, "what is sent isn't kept"


@pytest.mark.parametrize("before", ["send", "forget"])
def test_a_run_that_dies_sends_nothing_twice(sending, monkeypatch, before):
    sending.run(sql())
    sending.sql("INSERT INTO src VALUES (3)")
    with sending.opened(sql()) as refresh, monkeypatch.context() as patched:
        if before == "send":
            patched.setattr(type(refresh.around), "send", _killed)
        else:
            written = Manifest.write
            patched.setattr(
                Manifest,
                "write",
                lambda self, held: _killed() if held.removed else written(self, held),
            )
        with pytest.raises(KeyboardInterrupt):
            refresh.run(Asked())
    sending.run(sql())
    sending.run(sql())
    assert arrived(sending) == [-2, -3, 1, 2, 3, None]


def test_all_is_sent_again_where_it_is_asked_for(sending):
    sending.run(sql())
    with pytest.raises(Error, match=r"without .*kept, which it reads, as both read .*src; name that, too"):
        sending.run(sql(), full_refresh=["out"])
    assert sending.run(sql(), full_refresh=["out"], refresh=["kept"])["out"].how == FULL
    assert arrived(sending) == [-2, -2, 1, 1, 2, 2, None, None]
    assert {one.how for one in sending.run(sql()).values()} == {UNCHANGED}


def test_a_state_that_doesnt_know_what_is_sent_sends_nothing(sending):
    sending.run(sql())
    for record in (sending.folder / "storage" / "dbsp" / "sinks").glob("*.json"):
        text = record.read_text()
    (sending.folder / "storage" / "dbsp" / "reads.json").unlink()
    with pytest.raises((StateError, Error)):
        sending.run(sql())
    assert record.read_text() == text
    assert arrived(sending) == [-2, 1, 2, None]


def test_what_cant_be_sent_is_said_and_is_sent_later(sending):
    (sending.folder / "out").write_text("in the way")
    with pytest.raises(
        Error, match=r"python\.py:5:1: sink .*out: .*is not a directory.*; what it lacks is sent by"
    ):
        sending.run(sql())
    (sending.folder / "out").unlink()
    sending.run(sql())
    assert arrived(sending) == [-2, 1, 2, None]
    assert sending.rows("kept") == [(2,)]


def test_rows_that_could_go_are_refused(project):
    project.sql("CREATE TABLE src (a INT) USING parquet")
    text = PYTHON.format(folder=project.folder, source="src")
    project.write(text.replace('"kept")', '"kept").agg(F.sum("a").cast("int").alias("a"))'), "python.py")
    with pytest.raises(ProgramError, match=r"would take rows back.*; sink spark_catalog.*out can't be kept"):
        project.run(sql())
    assert not (project.folder / "out").exists()


def test_a_name_of_a_dataset_is_refused(project):
    project.sql("CREATE TABLE src (a INT) USING parquet")
    project.write(PYTHON.format(folder=project.folder, source="src"), "python.py")
    with pytest.raises(ProgramError, match="sink out, as a dataset has that name, too"):
        project.plan(sql() + "CREATE MATERIALIZED VIEW out AS SELECT 1 AS a;")


def test_what_no_file_can_have_is_refused(project):
    project.sql("CREATE TABLE src (a INT) USING parquet")
    text = PYTHON.format(folder=project.folder, source="src")
    cast = '.select(F.expr("make_interval(a)").alias("a"))'
    project.write(
        text.replace('"src")', f'"src"){cast}').replace('.withColumn("a", -F.col("a"))', cast), "python.py"
    )
    with pytest.raises(ProgramError, match="column 'a' of INTERVAL; cast it"):
        project.plan(sql())


def test_a_known_project_asks_spark_to_send(sending):
    with sending.opened(sql()) as refresh:
        (sink,) = (dataset for dataset in refresh.project.datasets if dataset.is_sink)
        rows = sending.folder / "rows"
        sending.spark.range(3).selectExpr("CAST(id AS INT) AS a").write.parquet(str(rows))
        Remembering(None, lambda: refresh.around).send(sink, rows)
    assert arrived(sending) == [0, 1, 2]


def _killed(*_):
    raise KeyboardInterrupt
