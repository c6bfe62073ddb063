"""The rows that a client copies into a table, from the bytes that it sends piece by piece."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from dbsp.rows.incoming import BadRow
from dbsp.serving.postgres.copying.columns import Column
from dbsp.serving.postgres.copying.fields import fields_of
from dbsp.serving.postgres.copying.received import Received
from dbsp.serving.postgres.copying.statement import Copy
from dbsp.serving.postgres.copying.tuples import head_of, tuples_of
from dbsp.serving.postgres.language.wrong import BadCopy, Wrong
from dbsp.sql.plans.program import Table

# bytes that are read at once, and of all that one COPY may send
_AT_ONCE, LARGEST = 8 << 20, 256 << 20


@dataclass
class CopiedRows:
    """names: of the columns that come. zone: of times."""

    copy: Copy
    table: Table
    names: list[str]
    zone: str
    _bytes: bytearray = field(default_factory=bytearray)
    _read: int = 0
    _rest: int = 0
    _parts: list[pa.Table] = field(default_factory=list)
    _rows: int = 0
    _is_over: bool = False
    _begun: bool = False

    @property
    def is_much(self) -> bool:
        """Whether what has come is to be read before more comes.

        What a read left is read again only beside as much that is new: n bytes cost O(n), also where a
        stray quote makes one value of all of them.
        """
        return len(self._bytes) >= max(_AT_ONCE, 2 * self._rest)

    def add(self, piece: bytes) -> None:
        """Raises BadCopy."""
        self._bytes += piece
        if self._read + len(self._bytes) > LARGEST:
            raise BadCopy(f"COPY: one step takes at most {LARGEST >> 20} MB; send the rows in several")

    def read(self, is_last: bool = False) -> None:
        """The whole rows of what has come. Raises BadCopy."""
        data = bytes(self._bytes)
        used, columns = (self._tuples if self.copy.form == "binary" else self._lines)(data, is_last)
        del self._bytes[:used]
        self._read += used
        self._rest = len(self._bytes)
        self._parts.append(pa.Table.from_arrays(columns, names=self.names))

    def _lines(self, data: bytes, is_last: bool) -> tuple[int, list[pa.Array]]:
        """(how many bytes were read, the columns)"""
        if self._is_over:
            texts, used = [pa.array([], pa.string()) for _ in self.names], len(data)
        else:
            texts, used, self._is_over = fields_of(data, self.copy, self.names, self._rows, is_last)
        head = int(self.copy.header and not self._rows and len(texts[0]) > 0)
        if head and self.copy.matches:
            self._check([column[0].as_py() for column in texts])
        before = self._rows + head
        self._rows += len(texts[0])
        pairs = zip(self._columns, texts, strict=True)
        return used, [column.of_texts(some.slice(head), before) for column, some in pairs]

    def _tuples(self, data: bytes, is_last: bool) -> tuple[int, list[pa.Array]]:
        """The same of the binary format."""
        if self._is_over and data:
            raise BadCopy("COPY: bytes follow the end of the binary format")
        head = 0 if self._begun else head_of(data, is_last)
        self._begun = head is not None
        rest = b"" if head is None else data[head:]
        found, used, is_over = tuples_of(rest, len(self.names), self._rows, is_last)
        self._is_over = self._is_over or is_over
        before = self._rows
        self._rows += found.rows
        read = [one.of_binary(Received.of(found, i), before) for i, one in enumerate(self._columns)]
        return used + (head or 0), read

    @property
    def _columns(self) -> list[Column]:
        types = {one.name: one.type for one in self.table.schema}
        return [Column(self.table.name, name, types[name], self.zone) for name in self.names]

    @property
    def rows(self) -> pa.Table:
        """All of them, with NULL in the columns that don't come."""
        rows = pa.concat_tables(self._parts)
        for one in self.table.schema:
            if one.name not in self.names:
                rows = rows.append_column(one.name, pa.nulls(len(rows)))
        return rows

    def wrong(self, error: BadRow) -> Wrong:
        """The same of a row as it was sent, from 1."""
        at = None if error.row is None else error.row + 1 + self.copy.header
        return Wrong(
            "22000" if error.column is None else "23502", str(BadRow(error.table, error.problem, at))
        )

    def _check(self, names: list[str | None]) -> None:
        if [str(name).lower() for name in names] != [name.lower() for name in self.names]:
            given = ", ".join(map(str, names))
            raise BadCopy(f"COPY: the header has {given}; the columns are {', '.join(self.names)}")
