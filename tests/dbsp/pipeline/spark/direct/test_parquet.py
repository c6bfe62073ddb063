"""Small files of Parquet: read here what Spark reads, and left to Spark whatever it may read otherwise."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.direct import parquet
from dbsp.pipeline.spark.direct.parquet import NearFiles

pytestmark = pytest.mark.spark

TYPES: list[tuple[str, str, pa.DataType, st.SearchStrategy[Any]]] = [
    ("a", "TINYINT", pa.int8(), st.integers(-128, 127)),
    ("b", "SMALLINT", pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    ("c", "INT", pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    ("d", "BIGINT", pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    ("e", "FLOAT", pa.float32(), st.floats(width=32, allow_nan=False)),
    ("f", "DOUBLE", pa.float64(), st.floats(allow_nan=False)),
    ("g", "BOOLEAN", pa.bool_(), st.booleans()),
    ("h", "STRING", pa.string(), st.text(max_size=5)),
    ("i", "BINARY", pa.binary(), st.binary(max_size=5)),
    ("j", "DATE", pa.date32(), st.dates()),
    ("k", "TIMESTAMP", pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(UTC))),
    ("l", "DECIMAL(5, 2)", pa.decimal128(5, 2), st.decimals(-999, 999, places=2)),
    ("m", "DECIMAL(38, 10)", pa.decimal128(38, 10), st.decimals(-(10**20), 10**20, places=10)),
]
SCHEMA = pa.schema([(name, data_type) for name, _, data_type, _ in TYPES])
LARGE = pa.schema(
    [
        (
            each.name,
            {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}.get(each.type, each.type),
        )
        for each in SCHEMA
    ]
)
ROWS = st.lists(
    st.fixed_dictionaries({n: st.one_of(st.none(), values) for n, *_, values in TYPES}), max_size=6
)
TEXT = """
CREATE TABLE t ({columns}) USING parquet OPTIONS (path '{place}'{more});
CREATE VIEW v AS SELECT * FROM t;
"""
COLUMNS = ", ".join(f"{name} {ddl}" for name, ddl, *_ in TYPES)
SALE = "id BIGINT NOT NULL, at TIMESTAMP, note STRING"
SALES = pa.schema([("id", pa.int64()), ("at", pa.timestamp("us", "UTC")), ("note", pa.string())])


def opened(spark: Any, place: Path, columns: str, more: str = "") -> Pipeline:
    (place / "in").mkdir(exist_ok=True)
    text = TEXT.format(columns=columns, place=place / "in", more=more)
    return Pipeline(sql=text, spark=spark, state=place / "state", runner="inline")


def near_of(p: Pipeline, spark: Any) -> NearFiles:
    near = NearFiles(p, spark)
    near.take(0, p.program.tables["t"])
    return near


@pytest.fixture(scope="module")
def all_types(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    place = tmp_path_factory.mktemp("types")
    with opened(spark, place, COLUMNS) as p:
        yield near_of(p, spark).tables[0], place


@settings(max_examples=15)
@given(
    rows=ROWS, by_spark=st.booleans(), told=st.sampled_from(["", "as it is", "large"]), julian=st.booleans()
)
def test_rows_are_those_that_spark_reads(
    all_types: Any, spark: Any, rows: list[dict[str, Any]], by_spark: bool, told: str, julian: bool
) -> None:
    """told: which schema of Arrow's the file has, too. julian: whether its times are days and nanoseconds."""
    near, place = all_types
    path = str(place / "file.parquet")
    table = pa.Table.from_pylist(rows, SCHEMA)
    if by_spark:
        spark.createDataFrame(table).coalesce(1).write.mode("overwrite").parquet(str(place / "written"))
        path = str(next((place / "written").glob("part-*")))
    else:
        noted = table.cast(LARGE) if told == "large" else table
        pq.write_table(noted, path, store_schema=bool(told), use_deprecated_int96_timestamps=julian)
    found = near.rows(near.opened([path]))
    own = pa.Table.from_batches([batch.select(SCHEMA.names) for batch in found], SCHEMA)
    assert own.equals(spark.read.schema(COLUMNS).parquet(path).toArrow().cast(SCHEMA))


def legacy(table: pa.Table, said: dict[bytes, bytes]) -> pa.Table:
    return table.replace_schema_metadata(said)


GOOD = pa.Table.from_pylist([{"id": 1, "at": datetime(2026, 1, 1, tzinfo=UTC), "note": "x"}], SALES)
NULL = pa.Table.from_pylist([{"id": None, "at": None, "note": None}], SALES)


@pytest.mark.parametrize(
    "write",
    [
        lambda path: pq.write_table(
            legacy(GOOD, {b"org.apache.spark.version": b"3.0.1"}), path, use_deprecated_int96_timestamps=True
        ),
        lambda path: pq.write_table(
            legacy(GOOD, {b"org.apache.spark.version": b"3.5.1", b"org.apache.spark.legacyINT96": b""}),
            path,
            use_deprecated_int96_timestamps=True,
        ),
        lambda path: pq.write_table(GOOD, path, coerce_timestamps="ms"),
        lambda path: pq.write_table(GOOD.set_column(1, "at", GOOD["at"].cast(pa.timestamp("us"))), path),
        lambda path: pq.write_table(GOOD.set_column(0, "id", GOOD["id"].cast(pa.int32())), path),
        lambda path: pq.write_table(GOOD.rename_columns(["ID", "at", "note"]), path),
        lambda path: pq.write_table(GOOD.append_column("Note", GOOD["note"]), path),
        lambda path: pq.write_table(GOOD.select(["id", "at"]), path),
        lambda path: pq.write_table(legacy(GOOD, {b"org.apache.spark.version": b"2.4.8"}), path),
        lambda path: pq.write_table(
            legacy(GOOD, {b"org.apache.spark.version": b"3.5.1", b"org.apache.spark.legacyDateTime": b""}),
            path,
        ),
        lambda path: pq.write_table(NULL, path),
        lambda path: pq.write_table(pa.concat_tables([GOOD] * 4), path),
        lambda path: Path(path).write_bytes(b"PAR1 and nothing more"),
    ],
    ids=[
        "old96",
        "rebased96",
        "millis",
        "ntz",
        "narrow",
        "case",
        "twice",
        "fewer",
        "old",
        "rebased",
        "null",
        "many",
        "broken",
    ],
)
def test_what_spark_may_read_otherwise_is_left_to_it(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[str], None]
) -> None:
    monkeypatch.setattr(parquet, "ROWS", 3)
    path = tmp_path / "file.parquet"
    with opened(spark, tmp_path, SALE) as p:
        near = near_of(p, spark)
        write(str(path))
        assert near.staged([0], {"t": [path.as_uri()]}) is None
        pq.write_table(pa.concat_tables([GOOD] * 3), path)
        assert near.staged([0], {"t": [path.as_uri()]})
        assert near.staged([0], {"t": ["s3a://b/file.parquet"]}) is None


@pytest.mark.parametrize(
    ("name", "julian"), [("datetimeRebaseModeInRead", False), ("int96RebaseModeInRead", True)]
)
def test_a_file_that_does_not_say_whose_its_times_are_is_read_as_the_session_says(
    spark: Any, tmp_path: Path, name: str, julian: bool
) -> None:
    path = tmp_path / "file.parquet"
    pq.write_table(GOOD, path, use_deprecated_int96_timestamps=julian)
    before = spark.conf.get(f"spark.sql.parquet.{name}")
    try:
        for mode in ("LEGACY", "CORRECTED"):
            spark.conf.set(f"spark.sql.parquet.{name}", mode)
            with opened(spark, tmp_path, SALE) as p:
                assert bool(near_of(p, spark).staged([0], {"t": [path.as_uri()]})) == (mode == "CORRECTED")
    finally:
        spark.conf.set(f"spark.sql.parquet.{name}", before)


@pytest.mark.parametrize(
    ("columns", "more"),
    [
        (SALE, ", mergeSchema 'true'"),
        (SALE, ", datetimeRebaseMode 'LEGACY'"),
        ("id BIGINT, seen ARRAY<INT>", ""),
        ("id BIGINT, seen TIMESTAMP_NTZ", ""),
        ("id BIGINT, note STRING DEFAULT 'none'", ""),
    ],
)
def test_tables_of_which_nothing_is_vouched_for(spark: Any, tmp_path: Path, columns: str, more: str) -> None:
    with opened(spark, tmp_path, columns, more) as p:
        assert not near_of(p, spark).tables


def test_of_rows_with_a_key_the_order_of_files_is_sparks(spark: Any, tmp_path: Path) -> None:
    paths = [tmp_path / f"{i}.parquet" for i in range(2)]
    for path in paths:
        pq.write_table(GOOD, path)
    with opened(spark, tmp_path, f"{SALE}, PRIMARY KEY (id)") as p:
        near = near_of(p, spark)
        assert near.staged([0], {"t": [paths[0].as_uri()]})
        assert near.staged([0], {"t": [path.as_uri() for path in paths]}) is None


def test_a_run_reads_each_file_once_whoever_reads_it(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A good file; one with a bad row, which Spark finds; one that is too long; again after a restart."""
    said: list[bool] = []
    staged = NearFiles.staged

    def spied(self: NearFiles, *given: Any) -> Any:
        found = staged(self, *given)
        said.append(found is not None)
        return found

    monkeypatch.setattr(NearFiles, "staged", spied)
    monkeypatch.setattr(parquet, "ROWS", 3)
    (tmp_path / "in").mkdir()

    def put(number: int, ids: list[int | None]) -> None:
        rows = [{"id": i, "at": datetime(1500, 1, 1, tzinfo=UTC), "note": f"{i}"} for i in ids]
        pq.write_table(pa.Table.from_pylist(rows, SALES), tmp_path / "in" / f"{number}.parquet")

    put(1, [1, 2])
    more = ", maxFilesPerTrigger '1'"
    with opened(spark, tmp_path, SALE, more) as p:
        p.run(once=True)
        put(2, [3, None])
        p.run(once=True)
        assert p["bad_rows"].to_arrow().num_rows == 1
    put(3, [4, 5, 6, 7])
    put(4, [8])
    with opened(spark, tmp_path, SALE, more) as p:
        p.run(once=True)
        assert sorted(row["id"] for row in p["v"].rows()) == [1, 2, 3, 4, 5, 6, 7, 8]
        assert {row["at"].year for row in p["v"].rows()} == {1500}
    assert said == [True, False, False, True]


def test_rows_of_which_nothing_is_read_are_counted(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"x": [1, None, 3]}), tmp_path / "in" / "1.parquet")
    text = f"""
    CREATE TABLE t (x BIGINT) USING parquet OPTIONS (path '{tmp_path / "in"}');
    CREATE VIEW v AS SELECT count(*) AS n FROM t;
    """
    with Pipeline(sql=text, spark=spark, state=tmp_path / "state", runner="inline") as p:
        assert near_of(p, spark).tables
        p.run(once=True)
        assert p["v"].rows() == [{"n": 3}]


def test_dates_and_decimals_stay_what_they_are(spark: Any, tmp_path: Path) -> None:
    """What the law's draws may miss: days before the calendar's change, and the most digits."""
    (tmp_path / "in").mkdir()
    schema = pa.schema([("day", pa.date32()), ("most", pa.decimal128(38, 0))])
    rows = [{"day": date(1, 1, 1), "most": Decimal("9" * 38)}, {"day": date(9999, 12, 31), "most": None}]
    pq.write_table(pa.Table.from_pylist(rows, schema), tmp_path / "in" / "1.parquet")
    with opened(spark, tmp_path, "day DATE, most DECIMAL(38, 0)") as p:
        assert near_of(p, spark).tables
        p.run(once=True)
        assert sorted((row["day"], row["most"]) for row in p["v"].rows() if row["most"]) == [
            (date(1, 1, 1), Decimal("9" * 38))
        ]
