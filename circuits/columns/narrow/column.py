"""Columns in as few bytes as their values need, each value still found by its place.

    whole numbers, decimals, dates, times    v = base + unit · code      codes of 0, 1, 2 or 4 bytes, or of 8
    text, bytes                              v = dictionary[code]        where few values differ

So a narrow column is mapped and looked up where it lies, as a plain one is: nothing is inflated to read a
row. What base and unit are is written beside the codes, as metadata of their field; a column of one number
has no codes.
Source: Abadi, Madden, Ferreira, "Integrating compression and execution in column-oriented database systems",
SIGMOD 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import fixed_values, positions_of, retyped, take_values, validity

_BASE, _UNIT = b"base", b"unit"
DECIMAL = pa.decimal128(1).id


@dataclass(frozen=True, eq=False)
class Narrow:
    """type: of the values. codes: of what is NULL they are NULL; of the null type, if all values are `base`.
    base: None, if all are NULL. dictionary: of text, in place of base and unit.
    """

    type: pa.DataType
    codes: pa.Array
    base: int | None = 0
    unit: int = 1
    dictionary: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def is_coded(self) -> bool:
        """Whether there is a code a row."""
        return not pt.is_null(self.codes.type)

    def slice(self, start: int, count: int) -> Narrow:
        """As views."""
        return self.with_codes(self.codes.slice(start, count))

    def at(self, positions: np.ndarray) -> pa.Array:
        """The values at int64 positions."""
        if not self.is_coded:
            return self.with_codes(pa.nulls(len(positions))).values()
        if self.dictionary is None and not self.codes.null_count:
            return self._decoded(fixed_values(self.codes)[positions])
        return self.with_codes(take_values(self.codes, positions_of(positions))).values()

    def values(self) -> pa.Array:
        """All of them, as a plain column."""
        codes = self.codes
        if self.dictionary is not None:
            return take_values(self.dictionary, codes)
        if self.base is None:
            return pa.nulls(len(codes), self.type)
        if not self.is_coded:
            return self._decoded(np.zeros(len(codes), np.uint8))
        return self._decoded(fixed_values(codes), validity(codes) if codes.null_count else None)

    def text_bytes(self) -> np.ndarray:
        """int64[n]: of text, how many bytes each value has."""
        assert self.dictionary is not None
        of_each = pc.fill_null(take_values(pc.binary_length(self.dictionary), self.codes), 0)
        return fixed_values(of_each).astype(np.int64)

    def stored(self, name: str) -> tuple[pa.Field, pa.Array]:
        """As they are written, and read by `narrow`."""
        if self.dictionary is not None:
            column = pa.DictionaryArray.from_arrays(self.codes, self.dictionary)
            return pa.field(name, column.type), column
        base = b"" if self.base is None else str(self.base).encode()
        metadata = {_BASE: base, _UNIT: str(self.unit).encode()}
        return pa.field(name, self.codes.type, metadata=metadata), self.codes

    def with_codes(self, codes: pa.Array) -> Narrow:
        return Narrow(self.type, codes, self.base, self.unit, self.dictionary)

    def _decoded(self, codes: np.ndarray, valid: np.ndarray | None = None) -> pa.Array:
        assert self.base is not None
        numbers = codes.astype(np.int64)
        if self.unit != 1:
            numbers *= self.unit
        if self.base:
            numbers += self.base
        if self.type.id == DECIMAL:
            words = np.empty((len(numbers), 2), np.int64)
            words[:, 0], words[:, 1] = numbers, numbers >> 63
            numbers = words
        elif self.type.bit_width < 64:
            numbers = numbers.astype(f"int{self.type.bit_width}")
        bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
        return pa.Array.from_buffers(self.type, len(codes), [bits, pa.py_buffer(numbers)])

    @property
    def greatest(self) -> int:
        """Of the values; where all are NULL, as in a part of another column, its base."""
        assert self.base is not None
        return self.base + self.unit * (pc.max(self.codes).as_py() or 0) if self.is_coded else self.base

    def rebased(self, base: int, unit: int) -> pa.Array:
        """Its codes, as uint32, of another base and unit."""
        if self.base is None:
            return pa.nulls(len(self.codes), pa.uint32())
        offset = (self.base - base) // unit
        if not self.is_coded:
            return pa.array(np.full(len(self.codes), offset, np.uint32))
        codes = fixed_values(self.codes).astype(np.uint32)
        if self.unit != unit:  # by a factor of 32 bits, or codes that are all 0: in a part of another column
            codes *= np.uint32(self.unit // unit % (1 << 32))
        if offset:
            codes += np.uint32(offset)
        return pa.array(codes, mask=~validity(self.codes) if self.codes.null_count else None)


def narrow(field: pa.Field, column: pa.Array, data_type: pa.DataType) -> pa.Array | Narrow:
    """A column of that type, as it was written: the inverse of `narrowed(...).stored`."""
    if pt.is_dictionary(column.type) and not pt.is_dictionary(data_type):
        return Narrow(data_type, column.indices, dictionary=column.dictionary)
    if field.metadata is None or _BASE not in field.metadata:
        return retyped(column, data_type)  # fields of structs may have other names by now
    base = field.metadata[_BASE]
    return Narrow(data_type, column, int(base) if base else None, int(field.metadata[_UNIT]))
