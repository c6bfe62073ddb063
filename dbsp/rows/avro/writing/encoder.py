"""Rows of Arrow as Avro messages of a schema: column by column, then joined row by row.

    r = ⟨f₁, f₂, …⟩        message(r) = bytes(f₁) · bytes(f₂) · …

A value is written unchanged or not at all. Cost: O(bytes), some kernels for each field.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dbsp.rows.avro.schema import parsed
from dbsp.rows.avro.writing.bytes import Piece, joined
from dbsp.rows.avro.writing.writers import Row, writer_of


@dataclass(frozen=True)
class Written:
    """schema: as JSON. columns: of the rows; which can be NULL, they say. head: before each message.

    Raises Error where a column is no field, or can be NULL and its field can't; or a field lacks a column.
    """

    schema: str
    columns: pa.StructType
    head: bytes = b""
    _row: Row = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        schema = parsed(self.schema)
        object.__setattr__(self, "_row", writer_of(schema, schema.record(), self.columns, ""))

    def encode(self, rows: pa.StructArray) -> pa.Array:
        """BINARY, NULL for NULL. Raises DataError for a value that the schema can't hold."""
        there = rows.drop_null()
        pieces: list[Piece] = [pa.scalar(self.head, pa.large_binary())] if self.head else []
        messages = joined([*pieces, *self._row.pieces(there)], len(there)).cast(pa.binary())
        if len(there) == len(rows):
            return messages
        is_valid = np.asarray(rows.is_valid())
        return messages.take(pa.array(np.cumsum(is_valid) - 1, mask=~is_valid))
