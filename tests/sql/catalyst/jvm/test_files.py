"""Files as Spark finds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import Error
from dbsp.sql.catalyst import column_definitions, read_files

pytestmark = pytest.mark.spark


def test_columns_are_spelled_as_a_table_has_them(tmp_path: Path, spark: Any) -> None:
    (tmp_path / "a.json").write_text('{"order id": 1, "tags": ["x"], "at": {"x y": 1.5}}\n')
    found = column_definitions(read_files(spark, str(tmp_path / "*.json"), "json", {}))
    assert found == ["at STRUCT<`x y`: DOUBLE>", "`order id` BIGINT", "tags ARRAY<STRING>"]
    spark.sql("SELECT 1 AS id, DATE '2024-01-01' AS day").write.parquet(str(tmp_path / "p"))
    assert column_definitions(read_files(spark, str(tmp_path / "p"), "parquet", {})) == ["id INT", "day DATE"]


def test_what_is_not_there_or_no_such_file_is_said(tmp_path: Path, spark: Any) -> None:
    (tmp_path / "a.parquet").write_text("no parquet")
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(Error, match=r"there is no file '.*b.csv'; did you mean '.*a.csv'\?"):
        read_files(spark, str(tmp_path / "b.csv"), "csv", {})
    with pytest.raises(Error, match=r"Spark can't read '.*a.parquet'"):
        read_files(spark, str(tmp_path / "a.parquet"), "parquet", {})
    (tmp_path / "a.json").write_text('{"a":1\n')
    with pytest.raises(Error, match=r"Spark can't read '.*a.json': Unexpected end-of-input"):
        read_files(spark, str(tmp_path / "a.json"), "json", {"mode": "FAILFAST"})
    with pytest.raises(Error, match="has no columns: it is empty"):
        read_files(spark, str(tmp_path / "a.csv"), "csv", {"header": "true"})
