"""A format or option that is misspelt is said by the compiler; what it can't know passes."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.datasource import DataSource

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program
from dbsp.views.explained.checks import notes

pytestmark = pytest.mark.spark


def compiled(spark: Any, using: str, more: str = "", columns: str = "a INT") -> Program:
    text = f"CREATE TABLE t ({columns}) USING {using}; CREATE VIEW v AS SELECT * FROM t; {more}"
    return compile_program(text, "p.sql", session=spark)


@pytest.mark.parametrize(
    ("using", "said"),
    [
        (
            "cvs OPTIONS (path 'x')",
            "unknown format 'cvs'; formats: csv, json.*, redis, python, excel, or a.*; did you mean 'csv'?",
        ),
        ("Parqet OPTIONS (path 'x')", "unknown format 'Parqet'.*did you mean 'parquet'?"),
        ("kafak", "did you mean 'kafka'?"),
        (
            "kafka OPTIONS (startingOffset 'earliest')",
            "no option 'startingOffset'; did you mean 'startingOffsets'?",
        ),
        ("rate OPTIONS (rows 1)", "Spark's rate has no option 'rows', and would ignore it"),
        ("csv", "table 't' USING csv needs OPTIONS \\(path 'directory'\\)"),
        ("avro OPTIONS (recordName 'x')", "table 't' USING avro needs OPTIONS"),
        ("json OPTIONS (pth 'x')", "Spark's json has no option 'pth'; did you mean 'path'?"),
        (
            "csv OPTIONS (path 'x', haeder 'true')",
            "Spark's csv has no option 'haeder'; did you mean 'header'?",
        ),
        ("csv OPTIONS (path 'x', seperator ';')", "no option 'seperator'; did you mean 'sep'?"),
        ("parquet OPTIONS (path 'x', whatever ';')", "no option 'whatever', and would ignore it"),
        (
            "parquet OPTIONS (path 'x', maxFilesPerTrigger 'two')",
            "maxFilesPerTrigger is 'two'; give a number from 1",
        ),
        (
            "parquet OPTIONS (path 'x', maxFilesPerTrigger '0')",
            "maxFilesPerTrigger is '0'; give a number from 1",
        ),
    ],
)
def test_what_is_misspelt_is_refused(spark: Any, using: str, said: str) -> None:
    with pytest.raises(ProgramError, match=f"^p.sql:1:14: .*{said}"):
        compiled(spark, using)


@pytest.mark.parametrize(
    ("using", "columns"),
    [
        ("kafka OPTIONS (subscribe 'x', `kafka.bootstrap.servers` 'h:1')", "value BINARY"),
        ("rate OPTIONS (rowsPerSecond '1')", "at TIMESTAMP, n BIGINT"),
        ("`rate-micro-batch`", "value BIGINT"),
        (
            "text OPTIONS (path 'x', wholetext 'true', pathGlobFilter '*.txt', cleanSource 'delete')",
            "a STRING",
        ),
    ],
)
def test_what_is_there_passes(spark: Any, using: str, columns: str) -> None:
    assert compiled(spark, using, columns=columns).tables["t"].options is not None


@pytest.mark.parametrize(
    "using",
    [
        "delta OPTIONS (path 'x')",
        "com.acme.Csv OPTIONS (haeder 'true')",
        "org.apache.spark.sql.execution.datasources.csv.CSVFileFormat",
        "warehouse",
        "CSV OPTIONS (PATH 'x', Header 'TRUE', Mode 'FAILFAST', SEP ';', MAXFILESPERTRIGGER '1')",
        "csv OPTIONS (path 'x', nullvalue 'NA', `timestampFormat` 'yyyy', encoding 'latin1', escape '\"')",
        "json OPTIONS (path 'x', multiLine 'true', latestFirst 'true', `fs.s3a.endpoint` 'x')",
    ],
)
def test_what_may_be_there_passes(spark: Any, using: str) -> None:
    assert compiled(spark, using).tables["t"].options is not None


def test_a_source_of_the_session_passes_whatever_it_is_called(spark: Any) -> None:
    class Near(DataSource):
        @classmethod
        def name(cls) -> str:
            return "jsonx"

    with pytest.raises(ProgramError, match="did you mean 'json'"):
        compiled(spark, "jsonx")
    own = spark.newSession()
    own.dataSource.register(Near)
    assert compiled(own, "jsonx").tables["t"].format == "jsonx"


def test_check_says_what_each_sink_promises(spark: Any) -> None:
    def of(columns: str, using: str) -> list[str]:
        target = (
            f"CREATE TABLE out ({columns}) USING {using}; INSERT INTO out SELECT CAST(a AS STRING) FROM t"
        )
        source = "json OPTIONS (path 'x') WITH (append_only = true)"
        return [*notes(compiled(spark, source, target))]

    once = "exactly once: a directory __step=n a step"
    again = "at least once: a crash between a step's write and its record writes that step again"
    package = "table out: kafka is no format of Spark's own; its run needs the package"
    assert of("a STRING, __weight BIGINT", "parquet OPTIONS (path 'y')") == [f"sink out: retract, {once}"]
    (text,) = of("a STRING", "text OPTIONS (path 'y')")
    assert text.startswith(f"sink out: append, {once}; NULL is an empty line")
    (appended,) = of("a STRING", "jdbc")
    assert appended.startswith(
        f"sink out: append, {again}; __step BIGINT tells which; a unique key of the data"
    )
    (stepped,) = of("a STRING, __step BIGINT", "jdbc")
    assert stepped.startswith(f"sink out: append, {again}; a unique key")
    assert of("a STRING", "noop") == ["sink out: append, written nowhere"]
    records = of("value STRING", "kafka OPTIONS (topic 'x')")
    told = "nothing tells which, unless value has something of its own that does"
    assert records == [f"sink out: append, {again}; {told}", package]
    upserts = "kafka OPTIONS (topic 'x'); CREATE VIEW n AS SELECT coalesce(CAST(a AS STRING), '') AS key,"
    upserts += " CAST(count(*) AS STRING) AS value FROM t GROUP BY 1; INSERT INTO k SELECT * FROM n"
    keyed = compiled(
        spark,
        "json OPTIONS (path 'x')",
        f"CREATE TABLE k (key STRING PRIMARY KEY, value STRING) USING {upserts}",
    )
    assert next(notes(keyed)) == f"sink k: upsert, {again}, which leaves each key the same last record"


def test_check_says_what_a_source_can_not_promise(spark: Any) -> None:
    def of(using: str) -> list[str]:
        text = f"CREATE TABLE s (value {'STRING' if 'socket' in using else 'BINARY'}) USING {using};"
        return [
            *notes(compiled(spark, "json OPTIONS (path 'x')", f"{text} CREATE VIEW w AS SELECT * FROM s"))
        ]

    assert of("socket OPTIONS (host 'h', port 1)") == [
        "table s: socket can't be read again; what it sent and no step has committed is lost in a crash"
    ]
    assert [note.split(";")[0] for note in of("kafka OPTIONS (subscribe 'x', failOnDataLoss 'false')")] == [
        "table s: kafka is read from its end as of the first run",
        "table s: failOnDataLoss 'false': what Kafka has deleted is skipped silently",
        "table s: kafka is no format of Spark's own",
    ]
    assert len(of("kafka OPTIONS (subscribe 'x', startingOffsets 'earliest')")) == 1
