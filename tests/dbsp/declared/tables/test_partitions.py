"""Directories of partitions, against those that Arrow writes and reads."""

from __future__ import annotations

import datetime
from itertools import chain

import pyarrow as pa

from dbsp.declared.tables.partitions import InFiles, Partitioning, folder_of, folders_of

SCHEMA = pa.schema([("n", pa.int64()), ("day", pa.date32()), ("shop", pa.string())])
ROWS = [
    {"n": 1, "day": datetime.date(2024, 2, 29), "shop": "ü/=x y%"},
    {"n": 2, "day": None, "shop": "a"},
    {"n": 3, "day": datetime.date(2024, 2, 29), "shop": "ü/=x y%"},
    {"n": 4, "day": datetime.date(1969, 1, 1), "shop": None},
]
BY = Partitioning(SCHEMA, ("day", "shop"))


def test_what_is_split_is_joined():
    batch = pa.RecordBatch.from_pylist(ROWS, SCHEMA)
    split = dict(BY.split(batch))
    assert list(split) == [
        "day=2024-02-29/shop=ü%2F%3Dx y%25",
        "day=__HIVE_DEFAULT_PARTITION__/shop=a",
        "day=1969-01-01/shop=__HIVE_DEFAULT_PARTITION__",
    ]
    assert all(rows.schema.names == ["n"] for rows in split.values())
    joined = [BY.joined(folder, pa.Table.from_batches([rows])).to_pylist() for folder, rows in split.items()]
    assert sorted(chain.from_iterable(joined), key=lambda row: row["n"]) == ROWS


def test_a_column_that_a_file_is_without_is_null():
    joined = Partitioning(SCHEMA, ()).joined("", pa.table({"n": [1], "shop": ["a"]}))
    assert joined.to_pylist() == [{"n": 1, "day": None, "shop": "a"}]
    assert Partitioning(SCHEMA, ()).joined("", pa.table({"n": pa.array([], pa.int64())})).num_rows == 0


def test_folders():
    assert folders_of(["a=1/f", "g"]) == {"a=1", ""}
    assert folder_of("a=1/b=2/f") == "a=1/b=2"


def test_a_log_says_more_than_directories_can():
    """'' isn't NULL, nor is what directories call it."""
    rows = [*ROWS, {"n": 5, "day": None, "shop": ""}, {"n": 6, "day": None, "shop": "a"}]
    batch = pa.RecordBatch.from_pylist(rows, SCHEMA)
    by = InFiles(SCHEMA, ("day", "shop"))
    split = [by.joined(folder, pa.Table.from_batches([part])) for folder, part in by.split(by.as_read(batch))]
    numbers = sorted(part["n"].to_pylist() for part in split)
    assert numbers == [[1, 3], [2, 6], [4], [5]]
    assert sorted(chain.from_iterable(part.to_pylist() for part in split), key=lambda row: row["n"]) == rows
    assert list(InFiles(SCHEMA, ()).split(batch)) == [("", batch)]
    assert list(by.split(batch.slice(0, 0))) == []
