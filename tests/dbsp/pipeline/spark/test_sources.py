"""Sources: where files are, whose names columns have, and what can't be read."""

from __future__ import annotations

import os
import threading

import pytest

from dbsp.circuits.errors import DataError, Error, ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.runs.streaming import expected_steps, run
from tests.dbsp.pipeline.spark.shop import EXPECTED, TEXT, changelog, opened

pytestmark = pytest.mark.spark


def test_what_is_missing_is_said_before_anything_starts(spark, shop):
    (shop / "sales").rename(shop / "elsewhere")
    with opened(spark, shop) as p:
        with pytest.raises(ProgramError, match=r"^program.sql:2:14: table 'sale': there is no '.*/sales'"):
            p.run(once=True)
        assert not (shop / "state" / "checkpoint").exists()


def test_a_path_may_be_one_file_and_relative(spark, shop, monkeypatch):
    monkeypatch.chdir(shop)
    text = "CREATE TABLE t (a BIGINT, b BIGINT, c STRING) USING csv OPTIONS (path 'sales/1.csv');"
    with opened(spark, shop, text + "CREATE VIEW v AS SELECT a, b FROM t;") as p:
        assert expected_steps(p) == 1
        assert p.run(once=True) == 1
        assert [tuple(row.values()) for row in p["v"].rows()] == [(1, 5), (2, 7)]


def test_what_spark_says_is_one_line(spark, shop):
    text = "CREATE TABLE t (a BIGINT, b INT) USING csv OPTIONS (path '{0}/sales', mode 'FAILFAST');"
    (shop / "sales" / "1.csv").write_text("1,x\n")
    with opened(spark, shop, text + "CREATE VIEW v AS SELECT a, b FROM t;") as p:
        with pytest.raises(Error, match=r"reading file .*csv. (For input|\[MALFORMED)") as raised:
            p.run(once=True)
        assert "\n" not in str(raised.value)
        assert p.last_step == 0


@pytest.mark.parametrize("query", ["SELECT * FROM t", "SELECT c FROM t", "SELECT count(*) FROM t"])
def test_the_header_of_a_csv_file_names_the_columns(spark, shop, query):
    table = "CREATE TABLE t (a BIGINT, b BIGINT, c STRING) USING csv"
    text = f"{table} OPTIONS (path '{{0}}/headed', header 'true'%s); CREATE VIEW v AS {query};"
    (shop / "headed").mkdir()
    (shop / "headed" / "1.csv").write_text("A,b,c\n1,2,x\n")
    with opened(spark, shop, text % "") as p:
        p.run(once=True)
        assert len(p["v"].rows()) == 1
        if "count" not in query:  # which reads no column
            (shop / "headed" / "2.csv").write_text("b,c,a\n1,x,2\n")
            with pytest.raises(
                Error, match=r"2.csv. CSV header .* Header: .* Schema: .*Expected: . but found: ."
            ):
                p.run(once=True)
    positional = text % ", enforceSchema 'true'"
    with Pipeline(sql=positional.format(shop), spark=spark) as p:
        assert p.run(once=True) == 1


RATE = """
CREATE TABLE tick (at TIMESTAMP, number BIGINT) USING rate OPTIONS (rowsPerSecond '50', numPartitions '1');
CREATE VIEW ticks AS SELECT count(*) AS n, max(number) AS top FROM tick;
"""


def test_a_source_with_columns_of_its_own(spark, shop):
    stop = threading.Event()

    def enough(changes):
        if changes["ticks"].rows()[-1][0]["n"] > 0:
            stop.set()

    with opened(spark, shop, RATE) as p:
        assert expected_steps(p) is None
        run(p, every=0.2, on_step=enough, stop=stop)
        ((n, top),) = [tuple(row.values()) for row in p["ticks"].rows()]
        assert n == top + 1 > 0


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "(a BIGINT, b BIGINT, c BIGINT) USING rate",
            "the columns of format rate are: timestamp TIMESTAMP, val",
        ),
        ("(a BIGINT, b BIGINT) USING rate", "1:17: column 'a' of 't' is BIGINT, rate gives TIMESTAMP"),
        ("(a BIGINT) USING csv", "needs OPTIONS (path 'directory')"),
        ("(a BIGINT) USING nowhere", "nowhere"),
        ("(a BIGINT)", "no table has a source"),
    ],
)
def test_what_can_not_be_read_is_refused(spark, shop, source, message):
    text = f"CREATE TABLE t {source}; CREATE VIEW v AS SELECT a FROM t;"
    with pytest.raises((ProgramError, DataError)) as raised, opened(spark, shop, text) as p:
        p.run(once=True)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("form", ["file:{0}", "file://{0}"])
def test_a_source_and_a_sink_may_be_uris(spark, shop, form, monkeypatch):
    (shop / "here").mkdir()
    monkeypatch.chdir(shop / "here")
    with opened(spark, shop, TEXT.replace("{0}", form)) as p:
        p.run(once=True)
        assert p["sold"].rows()
    assert changelog(spark, shop) == [row for row in EXPECTED if row[0] < 3]
    assert os.listdir(shop / "here") == []


@pytest.mark.parametrize("end", ["/sales", "/changelog"])
def test_files_that_spark_does_not_know_are_refused(spark, shop, end):
    text = TEXT.replace("'{0}" + end, "'nowhere:/x")
    with (
        opened(spark, shop, text) as p,
        pytest.raises(ProgramError, match="Spark knows no files on 'nowhere'; use a local path, or give"),
    ):
        p.run(once=True)
    assert p.last_step == 0
