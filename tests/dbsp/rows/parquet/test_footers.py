"""Spark says which type a column has, and whose calendar its days are of."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbsp.rows.parquet.footers import INSTANT, Days, fits, opened

pytestmark = pytest.mark.spark

OLD = {"day": date(1500, 3, 10), "at": datetime(1500, 3, 10, tzinfo=UTC)}
TYPES = {"day": pa.date32(), "at": INSTANT}
ROWS = pa.table({name: pa.array([OLD[name]], data_type) for name, data_type in TYPES.items()})
VERSION, LEGACY, JULIAN = (
    f"org.apache.spark.{name}" for name in ("version", "legacyDateTime", "legacyINT96")
)
MODES = ("datetimeRebaseModeInRead", "int96RebaseModeInRead")


@pytest.fixture
def modes(spark: Any) -> Iterator[Any]:
    """Sets how files are read that don't say whose their days are."""
    names = [f"spark.sql.parquet.{mode}" for mode in MODES]
    before = [spark.conf.get(name) for name in names]

    def change(*given: str) -> None:
        for name, mode in zip(names, given, strict=True):
            spark.conf.set(name, mode)

    yield change
    change(*before)


@pytest.mark.parametrize("version", [None, "2.4.8", "3.0.0", "3.1.2", "4.0.0-SNAPSHOT"])
def test_days_are_of_today_where_spark_reads_them_as_they_are(
    spark: Any, modes: Any, tmp_path: Path, version: str | None
) -> None:
    path = tmp_path / "file.parquet"
    for noted, julian, trusts in product(
        ([], [LEGACY], [JULIAN]), (False, True), product((True, False), repeat=2)
    ):
        said = {**dict.fromkeys(noted, ""), **({VERSION: version} if version else {})}
        pq.write_table(ROWS.replace_schema_metadata(said), path, use_deprecated_int96_timestamps=julian)
        modes(*("CORRECTED" if each else "LEGACY" for each in trusts))
        found = spark.read.schema("day DATE, at TIMESTAMP").parquet(str(path)).toArrow()
        for name, data_type in TYPES.items():
            as_it_is = found[name].cast(data_type).equals(ROWS[name])
            assert fits(opened(path), {name: data_type}, Days(*trusts)) == as_it_is, (said, julian, name)


def test_a_column_is_there_once_and_of_its_type(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    columns = {"a": [1], "A": [2], "b": ["x"], "c": [[1]], "d": [{"x": 1}], "e": [1.5]}
    given = pa.table(columns).set_column(2, "b", pa.array(["x"], pa.large_string()))
    pq.write_table(given, path)
    file = opened(path)
    good = [("b", pa.string()), ("e", pa.float64())]
    assert fits(file, dict(good))
    assert fits(file, {})
    others = [
        ("a", pa.int64()),
        ("A", pa.int64()),
        ("B", pa.string()),
        ("e", pa.float32()),
        ("f", pa.int64()),
    ]
    others += [("c", pa.list_(pa.int64())), ("d", pa.struct([("x", pa.int64())])), ("d.x", pa.int64())]
    for column in others:
        assert not fits(file, dict([*good, column])), column
