"""A directory is listed and read as Spark lists and reads it, or only Spark can say."""

from __future__ import annotations

import datetime
import decimal
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbsp.circuits.errors import StateError
from dbsp.declared.remembered.parquet_files import ParquetFiles, Unknown
from dbsp.declared.spark.sources import files_of
from dbsp.sql.plans.types import arrow_type

pytestmark = pytest.mark.spark

TYPES = {
    "a": ["TINYINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "BOOLEAN"],
    "b": ["STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ"],
    "c": ["DECIMAL(9,2)", "DECIMAL(18,2)", "DECIMAL(38,10)"],
}
VALUES = {
    "STRING": ["", "ü", "x" * 300],
    "BINARY": [b"", b"\xff\x00"],
    "BOOLEAN": [True, False],
    "DATE": [datetime.date(1, 1, 1), datetime.date(1582, 10, 10), datetime.date(9999, 12, 31)],
    "TIMESTAMP": [
        datetime.datetime(1883, 1, 1, 0, 0, 7, 5),
        datetime.datetime(2261, 5, 5),
        datetime.datetime(9999, 1, 1),
    ],
}
TIMES = ["INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"]


def value(random_, kind):
    if random_.random() < 0.2:
        return None
    if kind.startswith("DECIMAL"):
        return decimal.Decimal(random_.randrange(-(10**6), 10**6)).scaleb(-2)
    found = VALUES.get("TIMESTAMP" if kind.startswith("TIMESTAMP") else kind)
    if found:
        return random_.choice(found)
    number = random_.choice([0, 1, -7, 100])
    return float(number) if kind in ("FLOAT", "DOUBLE") else number


def rows_as_text(table):
    rows = table.to_pydict()
    return sorted(repr(row) for row in zip(*rows.values(), strict=True))


def kinds_of(random_):
    return {name: random_.choice(kinds) for name, kinds in TYPES.items()}


def expected(spark, kinds, folder):
    """What Spark reads of the directory as a table of these columns; None where it can't."""
    ddl = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    table = spark.read.schema(ddl).parquet(str(folder))
    return table, pa.schema([pa.field(f.name, arrow_type(f.dataType.jsonValue())) for f in table.schema])


def write(spark, random_, kinds, folder):
    """One more file, by Spark or by Arrow."""
    rows = [tuple(value(random_, kind) for kind in kinds.values()) for _ in range(random_.randrange(4))]
    listed = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    if random_.random() < 0.6:
        spark.conf.set("spark.sql.parquet.outputTimestampType", random_.choice(TIMES))
        spark.createDataFrame(rows, listed).coalesce(1).write.mode("append").parquet(str(folder))
        return
    names = random_.choice([list(kinds), [*kinds][::-1], ["A", "b", "c"], [*kinds, "more"], ["a", "b"]])
    table = pa.table({name: pa.array([1, None], pa.int32()) for name in names})
    pq.write_table(table, folder / f"part-{random_.randrange(10**9)}.parquet")


@pytest.mark.parametrize("seed", range(12))
def test_what_is_read_is_what_spark_reads(project, tmp_path, seed):
    random_, spark = random.Random(seed), project.spark
    kinds = kinds_of(random_)
    folder = tmp_path / "files"
    spark.createDataFrame([], ", ".join(f"{n} {k}" for n, k in kinds.items())).write.parquet(str(folder))
    for _ in range(3):
        write(spark, random_, kinds if random_.random() < 0.7 else kinds_of(random_), folder)
    table, schema = expected(spark, kinds, folder)
    seen = files_of(spark, table)
    prefix = next(iter(seen)).rpartition("/")[0]
    files = ParquetFiles(folder, prefix, schema, None)
    assert files.listed() == seen
    known = [file for file in seen if is_known(files, file)]
    if not known:
        return
    theirs = spark.read.schema(table.schema).parquet(*known).toArrow()
    assert rows_as_text(files.read(known)) == rows_as_text(theirs.cast(schema))


def is_known(files, file):
    try:
        files.check([file])
    except Unknown:
        return False
    return True


def test_files_of_the_same_types_are_known(project, tmp_path):
    """Else the law above would hold of nothing."""
    for times in TIMES[:2]:
        project.spark.conf.set("spark.sql.parquet.outputTimestampType", times)
        folder = tmp_path / times
        made = project.spark.sql(
            "SELECT 1 AS a, 'x' AS b, timestamp'2024-01-01' AS t, 1.50 AS d, date'2024-01-01' AS e"
        )
        made.write.parquet(str(folder))
        table = project.spark.read.parquet(str(folder))
        schema = pa.schema([pa.field(f.name, arrow_type(f.dataType.jsonValue())) for f in table.schema])
        seen = files_of(project.spark, table)
        files = ParquetFiles(folder, next(iter(seen)).rpartition("/")[0], schema, None)
        files.check(seen)
        assert rows_as_text(files.read(seen)) == rows_as_text(table.toArrow().cast(schema))


@pytest.mark.parametrize("name", ["day=1/part.parquet", "_metadata", "_spark_metadata/0", "a b.parquet"])
def test_what_more_there_is_only_spark_knows(tmp_path, name):
    files = ParquetFiles(tmp_path, f"file://{tmp_path}", pa.schema([("a", pa.int32())]), None)
    pq.write_table(pa.table({"a": pa.array([1], pa.int32())}), tmp_path / "part-1.parquet")
    assert list(files.listed()) == [f"file://{tmp_path}/part-1.parquet"]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(Unknown):
        files.listed()


def test_columns_that_a_file_says_are_those_while_it_is_the_first(tmp_path):
    first = tmp_path / "part-2.parquet"
    first.write_bytes(b"")
    seen = [0, first.stat().st_mtime_ns]
    files = ParquetFiles(tmp_path, "file:/x", pa.schema([]), ("part-2.parquet", seen))
    (tmp_path / "part-3.parquet").write_bytes(b"")
    assert len(files.listed()) == 2
    (tmp_path / "part-1.parquet").write_bytes(b"")
    with pytest.raises(Unknown):
        files.listed()


def test_a_file_that_goes_while_it_is_read_ends_the_run(tmp_path):
    files = ParquetFiles(tmp_path, "file:/x", pa.schema([("a", pa.int64())]), None)
    with pytest.raises(StateError, match="run it again"):
        files.read(["file:/x/part-1.parquet"])
