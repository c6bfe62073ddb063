"""Rows of files that a table's log names, one piece a file.

A piece has the columns that its file has, those that the log says of the whole file, by which the table is
partitioned, and NULL for those that came later. Of a change feed's file the rows have a kind, and a piece is
of those of some kinds. Of a file with deleted rows a piece is of those that aren't, or of those that are
since a while: then the row groups are read that have them.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dbsp.circuits.errors import DataError, StateError
from dbsp.declared.logs.changed import Rows
from dbsp.declared.logs.vectors import Deleted
from dbsp.rows.parquet.footers import opened
from dbsp.state.records.places import Place, place_of

KIND = "_change_type"  # a column of a change feed's files


@dataclass(frozen=True)
class Piece:
    """path: of the file, below the table's place. values: of the columns that the log says, as texts.

    kinds: which rows of a change feed's file; none: all rows. size: of the file in bytes, 0 if nobody says.
    among, without: of all rows, or of these, those that aren't these.
    """

    path: str
    values: Mapping[str, str | None]
    size: int = 0
    kinds: tuple[str, ...] = ()
    among: Deleted | None = None
    without: Deleted | None = None

    @property
    def paths(self) -> list[str]:
        """The files that it needs."""
        beside = [each.path for each in (self.among, self.without) if each is not None]
        return [self.path, *(path for path in beside if path is not None)]


@dataclass(frozen=True)
class Pieces(Rows):
    """place: of the table, a directory or a URI. stored: of columns, their names in files and in `values`.
    feeds: the rows of a change feed's file that was read for those of some kinds, until others ask for
    theirs, with whom this is shared.
    """

    place: str
    schema: pa.Schema
    pieces: tuple[Piece, ...]
    stored: Mapping[str, str] = field(default_factory=dict)
    feeds: dict[str, pa.Table] = field(default_factory=dict, compare=False)

    @property
    def size(self) -> int:
        return sum(piece.size for piece in self.pieces)

    def missing(self) -> list[str]:
        """The files that are gone."""
        root = place_of(self.place)
        return [path for piece in self.pieces for path in piece.paths if not (root / path).exists()]

    def table(self) -> pa.Table:
        """See `Rows`. A change feed's file is read once, for what came and what went."""
        parts = [
            part
            for piece in self.pieces
            for part in ([self._once(piece)] if piece.kinds else self.read(piece))
        ]
        return pa.concat_tables(parts) if parts else self.schema.empty_table()

    def read(self, piece: Piece) -> Iterator[pa.Table]:
        """See `Rows`; by row groups. Raises StateError, DataError for a column of another type."""
        for rows in self._found(piece):
            yield _of_kinds(rows, piece)

    def _once(self, piece: Piece) -> pa.Table:
        if (found := self.feeds.pop(piece.path, None)) is None:
            found = self.feeds[piece.path] = pa.concat_tables(self._found(piece))
        return _of_kinds(found, piece)

    def _found(self, piece: Piece) -> Iterator[pa.Table]:
        """With the kinds of a change feed's rows."""
        try:
            yield from self._read(piece)
        except FileNotFoundError as error:
            what = f"{self.place}/{piece.path} went while it was read (VACUUM); run it again"
            raise StateError(what) from error

    def _read(self, piece: Piece) -> Iterator[pa.Table]:
        names = {field.name: self.stored.get(field.name, field.name) for field in self.schema}
        with _opened(place_of(self.place) / piece.path) as file:
            stored = opened(file)
            spelled = {name.lower(): name for name in stored.schema_arrow.names}
            wanted = {name: spelled.get(other.lower()) for name, other in names.items()}
            there = [name for name in wanted.values() if name is not None]
            columns = [*there, KIND] if piece.kinds else there
            numbers = _numbers(piece, self.place, stored.metadata.num_rows)
            for found, places in _chosen(stored, columns, numbers):
                rows = self._shown(piece, found, names, wanted)
                yield rows if places is None else rows.take(pa.array(places))

    def _shown(
        self, piece: Piece, found: pa.Table, names: Mapping[str, str], wanted: Mapping[str, str | None]
    ) -> pa.Table:
        """names: of the columns in `values`. wanted: in the file; None: it hasn't got them."""
        read = []
        for column in self.schema:
            if names[column.name] in piece.values:
                read.append(_repeated(piece, column, piece.values[names[column.name]], found.num_rows))
            elif (name := wanted[column.name]) is None:
                read.append(pa.nulls(found.num_rows, column.type))
            else:
                read.append(_as(found[name], column, piece))
        rows = pa.table(read, schema=self.schema)
        return rows.append_column(KIND, found[KIND].cast(pa.string())) if piece.kinds else rows


def _of_kinds(found: pa.Table, piece: Piece) -> pa.Table:
    if not piece.kinds:
        return found
    return found.filter(pc.is_in(found[KIND], pa.array(piece.kinds))).drop_columns([KIND])


def _numbers(piece: Piece, place: str, count: int) -> np.ndarray | None:
    """Of the rows that it is of, ascending; None: all. count: of the file's."""
    if piece.among is None and piece.without is None:
        return None
    rows = np.arange(count) if piece.among is None else piece.among.numbers(place)
    if piece.without is not None:
        rows = np.setdiff1d(rows, piece.without.numbers(place), assume_unique=True)
    if len(rows) and rows[-1] >= count:
        raise StateError(f"{place}/{piece.path}: row {rows[-1]} is deleted, and there are {count}")
    return rows


def _chosen(
    file: pq.ParquetFile, columns: list[str], rows: np.ndarray | None
) -> Iterator[tuple[pa.Table, np.ndarray | None]]:
    """The columns of the row groups that have these rows, and where those are in it; None: all, one group
    after the other.
    """
    if rows is None:
        if not file.num_row_groups:
            yield file.read(columns), None
        for number in range(file.num_row_groups):
            yield file.read_row_group(number, columns), None
        return
    sizes = np.array([file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)], np.int64)
    ends = np.cumsum(sizes)
    at = np.searchsorted(ends, rows, side="right")
    groups, place = np.unique(at, return_inverse=True)
    before = (ends - sizes)[groups] - np.concatenate([[0], np.cumsum(sizes[groups])])[:-1]
    yield file.read_row_groups(groups.tolist(), columns), rows - before[place]


def _opened(place: Place) -> IO[bytes]:
    return io.BytesIO(place.read_bytes()) if hasattr(place, "bucket") else open(place, "rb")


def _as(column: pa.ChunkedArray, field: pa.Field, piece: Piece) -> pa.ChunkedArray:
    try:
        return column.cast(field.type)  # a moment as INT96 has no zone: it is UTC's
    except pa.ArrowException as error:
        raise DataError(f"{piece.path}: column '{field.name}' is {column.type}, not {field.type}") from error


def _repeated(piece: Piece, field: pa.Field, text: str | None, count: int) -> pa.Array:
    """A value that the log says of all rows; '' is NULL, as the protocol has it."""
    if not text:
        return pa.nulls(count, field.type)
    try:
        return pa.repeat(pc.cast(pa.scalar(text), field.type), count)
    except pa.ArrowException as error:
        what = f"not supported yet: a partition's value '{text}' of column '{field.name}', as {field.type}"
        raise DataError(f"{piece.path}: {what}") from error
