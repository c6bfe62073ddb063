"""What writes a column as a type of Avro that holds it whole: the inverse of `readers` and `simple`.

Which type of a union a column is written as is its first that fits. A field without a column is its default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.hashing import list_ranges
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.errors import DataError, Error
from dbsp.rows.avro.defaults import long, spelled_default
from dbsp.rows.avro.schema import Array, Enum, Map, Node, Record, Schema, Simple, Union
from dbsp.rows.avro.writing.bytes import Piece, grouped, joined
from dbsp.rows.avro.writing.simple import pieces_of, why_not

_WIDE = pa.large_binary()
_TEXT = Simple("string")


class Writer(Protocol):
    """Of a column."""

    def pieces(self, values: pa.Array) -> list[Piece]:
        """What each value is, in parts. Raises DataError for one that the type can't hold."""


@dataclass(frozen=True)
class Leaf:
    node: Simple | Enum
    where: str

    def pieces(self, values: pa.Array) -> list[Piece]:
        if values.null_count:
            raise DataError(f"column '{self.where}' is NULL, and its field in the Avro schema can't be")
        return pieces_of(self.node, values, self.where)


@dataclass(frozen=True)
class Constant:
    """A field that no column is of."""

    data: bytes

    def pieces(self, values: pa.Array) -> list[Piece]:
        return [pa.scalar(self.data, _WIDE)]


@dataclass(frozen=True)
class Row:
    """A record. columns: of each field which; −1 of a constant."""

    columns: Sequence[int]
    writers: Sequence[Writer]
    where: str

    def pieces(self, values: pa.Array) -> list[Piece]:
        if values.null_count:
            raise DataError(f"column '{self.where}' is NULL, and its field in the Avro schema can't be")
        parts = [[], *values.flatten()]
        of_fields = zip(self.columns, self.writers, strict=True)
        return [piece for column, writer in of_fields for piece in writer.pieces(parts[column + 1])]


@dataclass(frozen=True)
class Maybe:
    """Of a union one type, and null where that is one of it."""

    null: bytes | None
    branch: bytes
    writer: Writer
    where: str

    def pieces(self, values: pa.Array) -> list[Piece]:
        branch = pa.scalar(self.branch, _WIDE)
        if not values.null_count:
            return [branch, *self.writer.pieces(values)]
        if self.null is None:
            raise DataError(f"column '{self.where}' is NULL, and its field in the Avro schema can't be")
        there = values.drop_null()
        given = joined([branch, *self.writer.pieces(there)], len(there))
        is_valid = np.asarray(values.is_valid())
        spread = given.take(pa.array(np.cumsum(is_valid) - 1, mask=~is_valid))
        return [pc.fill_null(spread, pa.scalar(self.null, _WIDE))]


@dataclass(frozen=True)
class Items:
    """An array; with a key a map."""

    item: Writer
    key: Writer | None
    where: str

    def pieces(self, values: pa.Array) -> list[Piece]:
        if values.null_count:
            raise DataError(f"column '{self.where}' is NULL, and its field in the Avro schema can't be")
        starts, lengths, inside = list_ranges(values)
        _, places = expand_ranges(starts, starts + lengths)
        inside = inside.take(pa.array(places))
        if self.key is None:
            parts = self.item.pieces(inside)
        else:
            keys, items = inside.flatten()
            parts = [*self.key.pieces(keys), *self.item.pieces(items)]
        return grouped(joined(parts, len(inside)), lengths)


def writer_of(schema: Schema, node: Record, columns: pa.StructType, where: str) -> Row:
    """Of rows. Raises Error where a column is no field, or a field no column and has no default."""
    before = f"{where}." if where else ""
    there = {part.name for part in node.fields}
    for column in columns:
        if column.name not in there:
            fields = ", ".join(part.name for part in node.fields)
            raise Error(f"the Avro schema has no field '{before}{column.name}'; fields: {fields}")
    places: list[int] = []
    writers: list[Writer] = []
    for part in node.fields:
        place = columns.get_field_index(part.name)
        places.append(place)
        if place < 0:
            writers.append(
                _left_out(schema, part.type, part.has_default, part.default, f"{before}{part.name}")
            )
        else:
            column = columns.field(place)
            # nested fields are NULL whatever their type says: of these the value tells
            nullable = column.nullable and not where
            writers.append(_writer(schema, part.type, column.type, nullable, f"{before}{part.name}"))
    return Row(places, writers, where)


def _writer(schema: Schema, node: Node, type_: pa.DataType, nullable: bool, where: str) -> Writer:
    node = schema.of(node)
    if isinstance(node, Union):
        return _of_union(schema, node, type_, nullable, where)
    if nullable:
        cure = "declare it NOT NULL, or make the field a union with null"
        raise Error(f"column '{where}' can be NULL, and its field in the Avro schema can't; {cure}")
    if isinstance(node, Record) and pt.is_struct(type_):
        return writer_of(schema, node, type_, where)
    if isinstance(node, Array) and pt.is_list(type_):
        return Items(_writer(schema, node.items, type_.value_type, False, where), None, where)
    if isinstance(node, Map) and pt.is_map(type_) and pt.is_string(type_.key_type):
        item = _writer(schema, node.values, type_.item_type, False, where)
        return Items(item, Leaf(_TEXT, where), where)
    if isinstance(node, Simple | Enum):
        why = why_not(node, type_)
        if why is None:
            return Leaf(node, where)
        raise Error(f"column '{where}' {why}")
    raise Error(
        f"column '{where}' is {type_}, and its field in the Avro schema a {type(node).__name__.lower()}"
    )


def _of_union(schema: Schema, node: Union, type_: pa.DataType, nullable: bool, where: str) -> Writer:
    null = next((i for i, each in enumerate(node.branches) if each == Simple("null")), None)
    first: Error | None = None
    for i, branch in enumerate(node.branches):
        if i == null:
            continue
        try:
            writer = _writer(schema, branch, type_, nullable and null is None, where)
        except Error as error:
            first = first or error
        else:
            return Maybe(None if null is None else long(null), long(i), writer, where)
    raise first or Error(f"column '{where}' is {type_}, and its field in the Avro schema only null")


def _left_out(schema: Schema, node: Node, has_default: bool, default: object, where: str) -> Writer:
    if not has_default:
        raise Error(f"the Avro schema's field '{where}' has no default, and is no column; declare it")
    return Constant(spelled_default(schema, node, default))
