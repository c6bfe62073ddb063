"""What reads the next value of each message: of a record, a union, an array, a map, or of a simple type.

A reader is given messages and which of them it reads; it returns an array of these. Items of arrays are read
in rounds, the n-th item of all messages at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.expressions.vectors.numbers import Numbers
from dbsp.rows.avro.reading.messages import Messages
from dbsp.rows.avro.reading.simple import read_simple
from dbsp.rows.avro.schema import Enum, Simple

# Items that take no bytes, as records without fields: how many an array may have.
_FREE = 64


class Reader(Protocol):
    """Of a column's type."""

    def read(self, messages: Messages, rows: Numbers) -> pa.Array:
        """The next value of each of the rows, which is passed."""


@dataclass(frozen=True)
class Leaf:
    """where: how a person finds the field."""

    node: Simple | Enum
    wanted: pa.DataType
    where: str

    def read(self, messages: Messages, rows: Numbers) -> pa.Array:
        return read_simple(messages, rows, self.node, self.wanted, self.where)


@dataclass(frozen=True)
class Refusing:
    """Values that the column can't be, whatever they are."""

    wanted: pa.DataType
    reason: str

    def read(self, messages: Messages, rows: Numbers) -> pa.Array:
        messages.refuse(rows, self.reason)
        return pa.nulls(len(rows), self.wanted)


@dataclass(frozen=True)
class Constant:
    """A column that no field is of. value: of length one."""

    value: pa.Array

    def read(self, messages: Messages, rows: Numbers) -> pa.Array:
        return self.value.take(pa.array(np.zeros(len(rows), np.int64)))


class Passing(Protocol):
    """A field without a column."""

    def skip(self, messages: Messages, rows: Numbers) -> None:
        """The next value of each is passed."""


@dataclass(frozen=True)
class Fields:
    """A record. parts: of its fields in order, some of them with a column. missing: of other columns."""

    wanted: pa.StructType
    parts: Sequence[tuple[int, Reader] | Passing]
    missing: Sequence[tuple[int, Reader]]

    def read(self, messages: Messages, rows: Numbers) -> pa.StructArray:
        found: dict[int, pa.Array] = {}
        for part in self.parts:
            if isinstance(part, tuple):
                found[part[0]] = part[1].read(messages, rows)
            else:
                part.skip(messages, rows)
        for column, reader in self.missing:
            found[column] = reader.read(messages, rows)
        columns = [found[i] for i in range(self.wanted.num_fields)]
        return pa.StructArray.from_arrays(columns, fields=list(self.wanted)) if columns else _empty(len(rows))


@dataclass(frozen=True)
class OneOf:
    """A union."""

    wanted: pa.DataType
    branches: Sequence[Reader]

    def read(self, messages: Messages, rows: Numbers) -> pa.Array:
        which = messages.longs(rows)
        bad = (which < 0) | (which >= len(self.branches))
        messages.refuse(rows[bad], "a union has no such branch")
        parts, places = [], np.zeros(len(rows), np.int64)
        count = 0
        for i, branch in enumerate(self.branches):
            own = np.flatnonzero(which == i)
            if not len(own):
                continue
            part = branch.read(messages, rows[own])
            if len(own) == len(rows):
                return part
            places[own] = np.arange(count, count + len(own))
            parts.append(part)
            count += len(own)
        if not parts:
            return pa.nulls(len(rows), self.wanted)
        return pa.concat_arrays(parts).take(pa.array(places, mask=bad))


@dataclass(frozen=True)
class Items:
    """An array."""

    wanted: pa.ListType
    item: Reader

    def read(self, messages: Messages, rows: Numbers) -> pa.Array:
        offsets, (items,) = _rounds(messages, rows, [self.item], [self.wanted.value_type])
        return pa.ListArray.from_arrays(offsets, items, type=self.wanted)


@dataclass(frozen=True)
class Entries:
    """A map. One that has a key twice is none."""

    wanted: pa.MapType
    key: Reader
    value: Reader

    def read(self, messages: Messages, rows: Numbers) -> pa.Array:
        types = [self.wanted.key_type, self.wanted.item_type]
        offsets, (keys, values) = _rounds(messages, rows, [self.key, self.value], types)
        keys = keys.fill_null("")  # of messages that are refused
        counts = np.diff(np.asarray(offsets))
        entries = pa.table([pa.array(np.repeat(rows, counts)), keys], names=["row", "key"])
        times = entries.group_by(["row", "key"], use_threads=False).aggregate([([], "count_all")])
        twice = np.asarray(times.column("row").filter(pc.greater(times.column("count_all"), 1)))
        messages.refuse(twice, "a map has a key twice")
        return pa.MapArray.from_arrays(offsets, keys, values).cast(self.wanted)


def _rounds(
    messages: Messages, rows: Numbers, readers: Sequence[Reader], types: Sequence[pa.DataType]
) -> tuple[pa.Array, list[pa.Array]]:
    """(offsets, of each reader the items), by the rows."""
    going, left = np.arange(len(rows)), np.zeros(len(rows), np.int64)
    allowed = most_items(messages, rows)
    owners: list[Numbers] = []
    parts: list[list[pa.Array]] = [[pa.nulls(0, type_)] for type_ in types]
    while len(going):
        between = going[left[going] == 0]
        if len(between):
            left[between], _ = block_counts(messages, rows[between], allowed[between])
            allowed[between] -= left[between]
            going = going[left[going] > 0]
        for part, reader in zip(parts, readers, strict=True):
            part.append(reader.read(messages, rows[going]))
        owners.append(going)
        left[going] -= 1
        going = going[~messages.are_refused(rows[going])]
    owner = np.concatenate([np.zeros(0, np.int64), *owners])
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=len(rows))
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
    return offsets, [pc.take(pa.concat_arrays(part), pa.array(order)) for part in parts]


def most_items(messages: Messages, rows: Numbers) -> Numbers:
    """int64[rows]: what is next has about as many items as bytes are left, so that none takes for ever."""
    return np.asarray(messages.end[rows] - messages.at[rows] + _FREE)


def block_counts(messages: Messages, rows: Numbers, allowed: Numbers) -> tuple[Numbers, Numbers]:
    """(how many items are next, in how many bytes or −1), int64[rows]. No items end an array."""
    counts = messages.longs(rows)
    sizes = np.full(len(rows), -1, np.int64)
    sized = np.flatnonzero(counts < 0)
    sizes[sized] = messages.longs(rows[sized])
    counts[sized] = -counts[sized]
    wrong = (counts < 0) | (counts > allowed)
    wrong |= (sizes < -1) | (sizes > messages.end[rows] - messages.at[rows])
    messages.refuse(rows[wrong], "an array has more items than bytes")
    counts[messages.are_refused(rows)] = 0
    return counts, sizes


def _empty(count: int) -> pa.StructArray:
    return pa.Array.from_buffers(pa.struct([]), count, [None], children=[])
