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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import (
    fixed_values,
    from_unscaled,
    int64_array,
    positions_of,
    retyped,
    take_values,
    validity,
)

_BASE, _UNIT = b"base", b"unit"
DECIMAL = pa.decimal128(1).id
# bytes of a dictionary that are copied as fast as a call is made
_A_CALL = 1 << 14


@dataclass(frozen=True, eq=False, slots=True)
class Codes:
    """Whole numbers base + unit · code. codes: None, where all are `base`; of int64 they are the numbers."""

    codes: np.ndarray | None
    base: int = 0
    unit: int = 1

    def at(self, positions: np.ndarray) -> np.ndarray:
        """int64[n]: the numbers at these positions."""
        return self.numbers(None if self.codes is None else self.codes[positions], len(positions))

    def numbers(self, codes: np.ndarray | None, count: int) -> np.ndarray:
        """int64[count]: of these codes, or without one."""
        if codes is None:
            numbers = np.empty(count, np.int64)
            numbers.fill(self.base)
            return numbers
        numbers = codes.astype(np.int64, copy=False)  # a copy but where there is neither unit nor base
        if self.unit != 1:
            numbers *= self.unit
        if self.base:
            numbers += self.base
        return numbers


def numbers_at(parts: Sequence[tuple[Codes, np.ndarray]]) -> np.ndarray:
    """int64[n]: the numbers at positions of some parts of a column, one part after the other."""
    if len(parts) == 1:
        return parts[0][0].at(parts[0][1])
    counts = np.array([len(at) for _, at in parts])
    numbers = np.zeros(counts.sum(), np.int64)
    begin = 0
    for codes, at in parts:
        end = begin + len(at)
        if codes.codes is not None:
            numbers[begin:end] = codes.codes[at]
        begin = end
    # all parts at once: most are of a few numbers
    units = np.array([codes.unit for codes, _ in parts], np.int64)
    if (units != 1).any():
        numbers *= units.repeat(counts)
    bases = np.array([codes.base for codes, _ in parts], np.int64)
    if bases.any():
        numbers += bases.repeat(counts)
    return numbers


@dataclass(frozen=True, eq=False, slots=True)
class Words:
    """Text dictionary[code], of which none is NULL, and whose words are few."""

    codes: np.ndarray
    dictionary: pa.Array


def text_at(parts: Sequence[tuple[Words, np.ndarray]]) -> pa.Array:
    """The text at positions of some parts of a column, one part after the other. Cost: of the positions, and
    of all dictionaries.
    """
    bases = accumulate((len(words.dictionary) for words, _ in parts), initial=0)
    codes = [(Codes(words.codes, base), at) for (words, at), base in zip(parts, bases, strict=False)]
    return take_values(
        pa.concat_arrays([words.dictionary for words, _ in parts]), int64_array(numbers_at(codes))
    )


def of_numbers(numbers: np.ndarray, data_type: pa.DataType) -> pa.Array:
    """int64[n] as values of a type: of an integer, a decimal or a time."""
    if data_type.id == DECIMAL:
        return from_unscaled(numbers, data_type)
    if data_type.bit_width < 64:
        numbers = numbers.astype(f"int{data_type.bit_width}")
    return pa.Array.from_buffers(data_type, len(numbers), [None, pa.py_buffer(numbers)])


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
        if self.coded is not None:
            return of_numbers(self.coded.at(positions), self.type)
        if not self.is_coded:
            return pa.nulls(len(positions), self.type)
        return self.with_codes(take_values(self.codes, positions_of(positions))).values()

    @cached_property
    def coded(self) -> Codes | None:
        """Of numbers of which none is NULL."""
        if self.dictionary is not None or self.base is None or (self.is_coded and self.codes.null_count):
            return None
        return Codes(fixed_values(self.codes) if self.is_coded else None, self.base, self.unit)

    @cached_property
    def words(self) -> Words | None:
        """Of text of which none is NULL, and whose dictionary is copied as fast as a call is made."""
        if self.dictionary is None or self.codes.null_count or self.dictionary.nbytes > _A_CALL:
            return None
        return Words(fixed_values(self.codes), self.dictionary)

    def values(self) -> pa.Array:
        """All of them, as a plain column."""
        codes = self.codes
        if self.dictionary is not None:
            return take_values(self.dictionary, codes)
        if self.base is None:
            return pa.nulls(len(codes), self.type)
        stored = fixed_values(codes) if self.is_coded else None
        numbers = Codes(stored, self.base, self.unit).numbers(stored, len(codes))
        if not self.is_coded or not codes.null_count:
            return of_numbers(numbers, self.type)
        bits = pa.py_buffer(np.packbits(validity(codes), bitorder="little"))
        return pa.Array.from_buffers(
            self.type, len(codes), [bits, of_numbers(numbers, self.type).buffers()[1]]
        )

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
