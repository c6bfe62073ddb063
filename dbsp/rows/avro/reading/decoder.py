"""Avro messages of one schema as Arrow columns: the schema that wrote them, resolved against the columns.

What a message can't be is said of it alone, with its reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import Error
from dbsp.rows.avro.reading.messages import Messages
from dbsp.rows.avro.reading.readers import Fields
from dbsp.rows.avro.reading.resolution import Resolution
from dbsp.rows.avro.schema import parsed


@dataclass(frozen=True)
class Avro:
    """schema: of the records, as JSON; before: schemas whose types it names. columns: of fields, by name.

    reader: what the program says of the columns, as JSON: their defaults and other names. Unless `is_foreign`
    the schema is the program's own: Error where it has no such column, or is of no record.
    """

    schema: str
    columns: pa.StructType
    before: tuple[str, ...] = ()
    reader: str | None = None
    is_foreign: bool = False
    _read: Fields = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = None if self.reader is None else parsed(self.reader)
        resolution = Resolution(parsed(self.schema, self.before), given)
        read = resolution.record(self.columns)
        if resolution.problems and not self.is_foreign:
            raise Error(resolution.problems[0])
        object.__setattr__(self, "_read", read)

    def decode(self, values: pa.Array, head: int = 0) -> tuple[pa.StructArray, pa.Array]:
        """(rows, of each why it is none). values: BINARY, none NULL. A row that is none is NULL.

        head: how many bytes stand before each record.
        """
        messages = Messages(values, head)
        rows = self._read.read(messages, messages.rows)
        messages.finish()
        bad = messages.is_refused
        if bad.any():
            rows = rows.take(pa.array(np.arange(len(values)), mask=bad))
        return rows, messages.why()
