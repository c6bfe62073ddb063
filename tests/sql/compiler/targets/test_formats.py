"""A format or option that is misspelt is said by the compiler; what it can't know passes."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.datasource import DataSource

from dbsp.circuits.errors import ProgramError
from dbsp.commands.check import notes
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program

pytestmark = pytest.mark.spark


def compiled(spark: Any, using: str, more: str = "") -> Program:
    text = f"CREATE TABLE t (a INT) USING {using}; CREATE VIEW v AS SELECT a FROM t; {more}"
    return compile_program(text, "p.sql", session=spark)


@pytest.mark.parametrize(
    ("using", "said"),
    [
        (
            "cvs OPTIONS (path 'x')",
            "unknown format 'cvs'; formats: csv, json.* or a class; did you mean 'csv'?",
        ),
        ("Parqet OPTIONS (path 'x')", "unknown format 'Parqet'.*did you mean 'parquet'?"),
        ("kafak", "did you mean 'kafka'?"),
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
    "using",
    [
        "kafka OPTIONS (subscribe 'x', `kafka.bootstrap.servers` 'h:1')",
        "delta",
        "com.acme.Csv OPTIONS (haeder 'true')",
        "org.apache.spark.sql.execution.datasources.csv.CSVFileFormat",
        "warehouse",
        "rate OPTIONS (rowsPerSecond '1')",
        "`rate-micro-batch`",
        "CSV OPTIONS (PATH 'x', Header 'TRUE', Mode 'FAILFAST', SEP ';', MAXFILESPERTRIGGER '1')",
        "csv OPTIONS (path 'x', nullvalue 'NA', `timestampFormat` 'yyyy', encoding 'latin1', escape '\"')",
        "json OPTIONS (path 'x', multiLine 'true', latestFirst 'true', `fs.s3a.endpoint` 'x')",
        "text OPTIONS (path 'x', wholetext 'true', pathGlobFilter '*.txt', cleanSource 'delete')",
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


def test_check_says_what_a_sink_can_not_promise(spark: Any) -> None:
    def of(columns: str, using: str) -> list[str]:
        target = (
            f"CREATE TABLE out ({columns}, __weight BIGINT) USING {using}; INSERT INTO out SELECT a FROM t"
        )
        return [*notes(compiled(spark, "json OPTIONS (path 'x')", target))]

    assert of("a INT", "parquet OPTIONS (path 'y')") == []
    (appended,) = of("a INT", "jdbc")
    assert appended.startswith("sink out: jdbc is appended to, so a crash")
    assert appended.endswith("writes that step again; __step BIGINT tells which")
    (stepped, package) = of("a INT, __step BIGINT", "kafka")
    assert stepped.endswith("writes that step again")
    assert package == "table out: kafka is no format of Spark's own; its run needs the package"
