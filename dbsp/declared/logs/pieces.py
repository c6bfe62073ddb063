"""Rows of files that a table's log names, one piece a file.

A piece has the columns that its file has, those that the log says of the whole file, by which the table is
partitioned, and NULL for those that came later. Of a change feed's file the rows have a kind, and a piece is
of those of some kinds.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.errors import DataError, StateError
from dbsp.declared.logs.changed import Rows
from dbsp.rows.parquet.footers import opened
from dbsp.state.records.places import Place, place_of

KIND = "_change_type"  # a column of a change feed's files


@dataclass(frozen=True)
class Piece:
    """path: of the file, below the table's place. values: of the columns that the log says, as texts.

    kinds: which rows of a change feed's file; none: all rows. size: of the file in bytes, 0 if nobody says.
    """

    path: str
    values: Mapping[str, str | None]
    size: int = 0
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pieces(Rows):
    """place: of the table, a directory or a URI. feeds: the rows of a change feed's file that was read for
    those of some kinds, until others ask for theirs, with whom this is shared.
    """

    place: str
    schema: pa.Schema
    pieces: tuple[Piece, ...]
    feeds: dict[str, pa.Table] = field(default_factory=dict, compare=False)

    @property
    def size(self) -> int:
        return sum(piece.size for piece in self.pieces)

    def missing(self) -> list[str]:
        """The files that are gone."""
        root = place_of(self.place)
        return [piece.path for piece in self.pieces if not (root / piece.path).exists()]

    def table(self) -> pa.Table:
        """See `Rows`. A change feed's file is read once, for what came and what went."""
        parts = [self._once(piece) if piece.kinds else self.read(piece) for piece in self.pieces]
        return pa.concat_tables(parts) if parts else self.schema.empty_table()

    def read(self, piece: Piece) -> pa.Table:
        """See `Rows`. Raises StateError, DataError for a column of another type."""
        return _of_kinds(self._found(piece), piece)

    def _once(self, piece: Piece) -> pa.Table:
        if (found := self.feeds.pop(piece.path, None)) is None:
            found = self.feeds[piece.path] = self._found(piece)
        return _of_kinds(found, piece)

    def _found(self, piece: Piece) -> pa.Table:
        """With the kinds of a change feed's rows."""
        try:
            return self._read(piece)
        except FileNotFoundError as error:
            what = f"{self.place}/{piece.path} went while it was read (VACUUM); run it again"
            raise StateError(what) from error

    def _read(self, piece: Piece) -> pa.Table:
        with _opened(place_of(self.place) / piece.path) as file:
            stored = opened(file)
            spelled = {name.lower(): name for name in stored.schema_arrow.names}
            wanted = {each.name: spelled.get(each.name.lower()) for each in self.schema}
            there = [name for name in wanted.values() if name is not None]
            found = stored.read([*there, KIND] if piece.kinds else there)
        columns = []
        for each in self.schema:
            if each.name in piece.values:
                columns.append(_repeated(piece, each, found.num_rows))
            elif (name := wanted[each.name]) is None:
                columns.append(pa.nulls(found.num_rows, each.type))
            else:
                columns.append(_as(found[name], each, piece))
        rows = pa.table(columns, schema=self.schema)
        return rows.append_column(KIND, found[KIND].cast(pa.string())) if piece.kinds else rows


def _of_kinds(found: pa.Table, piece: Piece) -> pa.Table:
    if not piece.kinds:
        return found
    return found.filter(pc.is_in(found[KIND], pa.array(piece.kinds))).drop_columns([KIND])


def _opened(place: Place) -> IO[bytes]:
    return io.BytesIO(place.read_bytes()) if hasattr(place, "bucket") else open(place, "rb")


def _as(column: pa.ChunkedArray, field: pa.Field, piece: Piece) -> pa.ChunkedArray:
    try:
        return column.cast(field.type)  # a moment as INT96 has no zone: it is UTC's
    except pa.ArrowException as error:
        raise DataError(f"{piece.path}: column '{field.name}' is {column.type}, not {field.type}") from error


def _repeated(piece: Piece, field: pa.Field, count: int) -> pa.Array:
    """A value that the log says of all rows; '' is NULL, as the protocol has it."""
    text = piece.values[field.name]
    if not text:
        return pa.nulls(count, field.type)
    try:
        return pa.repeat(pc.cast(pa.scalar(text), field.type), count)
    except pa.ArrowException as error:
        what = f"not supported yet: a partition's value '{text}' of column '{field.name}', as {field.type}"
        raise DataError(f"{piece.path}: {what}") from error
