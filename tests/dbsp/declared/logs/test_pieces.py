from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbsp.circuits.errors import DataError
from dbsp.declared.logs.pieces import Piece, Pieces


def written(folder, table, **options):
    pq.write_table(table, folder / "f.parquet", **options)


def read(folder, schema, **said):
    return Pieces(str(folder), schema, (Piece("f.parquet", said.pop("values", {}), **said),)).table()


def test_values_that_the_log_says_of_a_file(tmp_path):
    written(tmp_path, pa.table({"a": [1, 2]}))
    types = {
        "d": (pa.date32(), "2024-02-29", date(2024, 2, 29)),
        "n": (pa.decimal128(5, 2), "1.50", Decimal("1.50")),
        "b": (pa.bool_(), "true", True),
        "s": (pa.string(), "ü /", "ü /"),
        "none": (pa.int32(), None, None),
        "empty": (pa.string(), "", None),
    }
    schema = pa.schema([("a", pa.int64()), *((name, kind) for name, (kind, _, _) in types.items())])
    found = read(tmp_path, schema, values={name: text for name, (_, text, _) in types.items()})
    assert found.to_pylist() == [
        {"a": a, **{name: value for name, (_, _, value) in types.items()}} for a in (1, 2)
    ]


def test_columns_of_other_names_types_and_none(tmp_path):
    moment = datetime(2024, 1, 31, 10, tzinfo=UTC)
    written(
        tmp_path,
        pa.table({"A": pa.array([1], pa.int32()), "at": pa.array([moment], pa.timestamp("us", "UTC"))}),
        use_deprecated_int96_timestamps=True,
    )
    schema = pa.schema([("a", pa.int64()), ("at", pa.timestamp("us", "UTC")), ("later", pa.string())])
    assert read(tmp_path, schema).to_pylist() == [{"a": 1, "at": moment, "later": None}]


def test_rows_of_some_kinds(tmp_path):
    written(tmp_path, pa.table({"a": [1, 2, 3], "_change_type": ["insert", "delete", "update_preimage"]}))
    schema = pa.schema([("a", pa.int64())])
    assert read(tmp_path, schema, kinds=("delete", "update_preimage"))["a"].to_pylist() == [2, 3]


def test_a_feed_is_read_once_for_what_came_and_what_went(tmp_path):
    written(tmp_path, pa.table({"a": [1, 2, 3], "_change_type": ["insert", "delete", "update_preimage"]}))
    schema, feeds = pa.schema([("a", pa.int64())]), {}
    came, went = (
        Pieces(str(tmp_path), schema, (Piece("f.parquet", {}, 1, kinds),), feeds=feeds)
        for kinds in (("insert",), ("delete", "update_preimage"))
    )
    assert came.table()["a"].to_pylist() == [1]
    (tmp_path / "f.parquet").unlink()
    assert (went.table()["a"].to_pylist(), feeds) == ([2, 3], {})


def test_what_doesnt_fit(tmp_path):
    written(tmp_path, pa.table({"a": ["x"]}))
    with pytest.raises(DataError, match=r"f\.parquet: column 'a' is string, not int64"):
        read(tmp_path, pa.schema([("a", pa.int64())]))
    with pytest.raises(DataError, match=r"a partition's value 'x' of column 'p'"):
        read(tmp_path, pa.schema([("p", pa.int64())]), values={"p": "x"})


def test_files_that_are_gone(tmp_path):
    written(tmp_path, pa.table({"a": [1]}))
    pieces = Pieces(
        str(tmp_path), pa.schema([("a", pa.int64())]), (Piece("f.parquet", {}), Piece("g", {}, 7))
    )
    assert (pieces.missing(), pieces.size) == (["g"], 7)
