"""Directories of a partitioned table: `day=2024-01-31/shop=7`, as Spark and Hive name them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

NULL = "__HIVE_DEFAULT_PARTITION__"
# what Spark writes as %XX in the name of a directory, beside control characters
_ESCAPED = frozenset("\"#%'*/:=?\\\x7f{[]^")


@dataclass(frozen=True)
class Partitioning:
    """columns: by whose values the files are in directories, in order. schema: of all of the table's rows."""

    schema: pa.Schema
    columns: tuple[str, ...]

    def __str__(self) -> str:
        listed = ", ".join(f"{field.name} {field.type}" for field in self.schema)
        return f"{listed} by {', '.join(self.columns)}"

    @property
    def stored(self) -> pa.Schema:
        """The columns that are in files."""
        return pa.schema([field for field in self.schema if field.name not in self.columns])

    def as_read(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows as a reader has them: no directory says '', which is NULL."""
        columns = [
            _named(column) if field.name in self.columns and pt.is_string(field.type) else column
            for column, field in zip(rows.columns, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def split(self, rows: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows of each directory; '' is the table's own. Files leave out what the directory says."""
        if not self.columns:
            yield "", rows
            return
        spelled = [_spelled(name, rows.column(name)) for name in self.columns]
        folders = pc.binary_join_element_wise(*spelled, "/").dictionary_encode()
        places = folders.indices.to_numpy()
        stored = rows.select(self.stored.names)
        for number, folder in enumerate(folders.dictionary.to_pylist()):
            yield folder, stored.take(pa.array(np.flatnonzero(places == number)))

    def joined(self, folder: str, rows: pa.Table) -> pa.RecordBatch:
        """The inverse: rows of a file in that directory, whole."""
        values = dict(part.split("=", 1) for part in folder.split("/")) if folder else {}
        columns = []
        for field in self.schema:
            if field.name in self.columns:
                columns.append(_value(values[_escaped(field.name)], field.type, rows.num_rows))
            else:
                # a file that was written before the column was
                there = field.name in rows.column_names
                found = rows.column(field.name) if there else pa.nulls(rows.num_rows, field.type)
                columns.append(
                    pa.chunked_array([found] if not there else found.chunks, found.type).cast(field.type)
                )
        table = pa.table(columns, schema=self.schema).combine_chunks()
        return pa.RecordBatch.from_arrays(
            [_one(column, field.type) for column, field in zip(table.columns, self.schema, strict=True)],
            schema=self.schema,
        )


class InFiles(Partitioning):
    """Of a table whose files have all columns, and whose log says their partitions: '' is a value."""

    @property
    def stored(self) -> pa.Schema:
        """All columns."""
        return self.schema

    def as_read(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows as they are."""
        return pa.RecordBatch.from_arrays(rows.columns, schema=self.schema)

    def split(self, rows: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows of each partition; no directory is named."""
        if not self.columns:
            yield "", rows
            return
        numbers = [
            rows.column(name).dictionary_encode(null_encoding="encode").indices for name in self.columns
        ]
        _, places = np.unique(np.stack([each.to_numpy() for each in numbers]), axis=1, return_inverse=True)
        for number in range(int(places.max(initial=-1)) + 1):
            yield "", rows.take(pa.array(np.flatnonzero(places == number)))

    def joined(self, folder: str, rows: pa.Table) -> pa.RecordBatch:
        """The inverse, in whichever directory the file is."""
        return Partitioning(self.schema, ()).joined("", rows)


def folders_of(paths: Sequence[str]) -> frozenset[str]:
    """The directories of files."""
    return frozenset(folder_of(path) for path in paths)


def folder_of(path: str) -> str:
    """Below the table's directory; '' is that itself."""
    return path.rpartition("/")[0]


def _one(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], kind)


def _named(texts: pa.Array) -> pa.Array:
    """NULL in place of texts that are no directory's name."""
    return pc.if_else(pc.is_in(texts, pa.array(["", NULL])), pa.scalar(None, texts.type), texts)


def _spelled(name: str, column: pa.Array) -> pa.Array:
    """`name=value` of each row."""
    distinct = column.dictionary_encode()
    texts = pc.cast(distinct.dictionary, pa.string()).to_pylist()
    named = pa.array([f"{_escaped(name)}={_escaped(text) if text else NULL}" for text in texts], pa.string())
    return pc.fill_null(named.take(distinct.indices), f"{_escaped(name)}={NULL}")


def _value(text: str, kind: pa.DataType, count: int) -> pa.Array:
    if text == NULL:
        return pa.nulls(count, kind)
    return pa.repeat(pc.cast(pa.scalar(unquote(text)), kind), count)


def _escaped(text: str) -> str:
    return "".join(f"%{ord(c):02X}" if c in _ESCAPED or ord(c) < 32 else c for c in text)
