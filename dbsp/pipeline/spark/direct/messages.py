"""Messages of one partition, in order, as columns: their bytes are copied once, all of them by one call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import int64_array

MESSAGES = pa.schema(
    [
        *(("key", pa.binary()), ("value", pa.binary()), ("topic", pa.string()), ("partition", pa.int32())),
        *(("offset", pa.int64()), ("timestamp", pa.timestamp("us", tz="UTC"))),
    ]
)
# Bytes between two values that are neighbours. Arrow makes room by the mean length of what a run has, which
# includes what lies between.
_NEAR = 1 << 13


@dataclass(frozen=True)
class Messages:
    """values, keys: large_binary[n]. offsets: int64[n]. times: milliseconds as int64[n]; None: nobody reads
    them.
    """

    topic: str
    partition: int
    values: pa.LargeBinaryArray
    keys: pa.LargeBinaryArray
    offsets: np.ndarray
    times: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes)

    def part(self, first: int, end: int) -> Messages:
        values, keys = (each.slice(first, end - first) for each in (self.values, self.keys))
        times = None if self.times is None else self.times[first:end]
        return Messages(self.topic, self.partition, values, keys, self.offsets[first:end], times)

    def before(self, end: int) -> Messages:
        """Those whose offsets are less."""
        count = int(np.searchsorted(self.offsets, end))
        return self if count == len(self) else self.part(0, count)

    def with_values(self) -> Messages:
        """Those that have one."""
        if not self.values.null_count:
            return self
        there = self.values.is_valid()
        at = there.to_numpy(zero_copy_only=False)
        times = None if self.times is None else self.times[at]
        values, keys = self.values.filter(there), self.keys.filter(there)
        return Messages(self.topic, self.partition, values, keys, self.offsets[at], times)

    @property
    def timestamps(self) -> pa.Array:
        """NULL where nobody reads them."""
        if self.times is None:
            return pa.nulls(len(self), pa.timestamp("us", "UTC"))
        return int64_array(self.times * 1000).cast(pa.timestamp("us", "UTC"))

    def to_arrow(self) -> pa.RecordBatch:
        """As Spark's connector gives them, of MESSAGES. Raises ArrowInvalid for more than 2 GB."""
        count = len(self)
        place = [pa.repeat(self.topic, count), pa.repeat(pa.scalar(self.partition, pa.int32()), count)]
        columns = [self.keys.cast(pa.binary()), self.values.cast(pa.binary()), *place]
        return pa.RecordBatch.from_arrays(
            [*columns, int64_array(self.offsets), self.timestamps], schema=MESSAGES
        )


def copied(addresses: np.ndarray, lengths: np.ndarray) -> pa.LargeBinaryArray:
    """The bytes that lie there; NULL at address 0. addresses: uint64[n]. lengths: int64[n].

    Values of one answer of a broker's lie in one piece of memory, in order, a few bytes between two. So a run
    of them is an array of twice as many, every other one of which is a value.
    """
    count = len(addresses)
    is_null = addresses == 0
    starts, sizes = addresses.astype(np.int64), lengths
    if not lengths.all():
        # what is empty lies behind the one before
        at = np.flatnonzero(lengths)
        if not len(at):
            return _with_nulls(pa.array([b""] * count, pa.large_binary()), is_null)
        before = at[np.maximum(np.searchsorted(at, np.arange(count), "right") - 1, 0)]
        starts = np.where(lengths > 0, starts, starts[before] + lengths[before])
        starts[: at[0]] = starts[at[0]]
    gaps = starts[1:] - starts[:-1] - sizes[:-1]
    cuts = np.flatnonzero((gaps < 0) | (gaps > _NEAR)) + 1
    runs = [
        _run(starts[first:end], sizes[first:end])
        for first, end in zip([0, *cuts.tolist()], [*cuts.tolist(), count], strict=True)
    ]
    return _with_nulls(runs[0] if len(runs) == 1 else pa.concat_arrays(runs), is_null)


def _run(starts: np.ndarray, lengths: np.ndarray) -> pa.LargeBinaryArray:
    first, end = int(starts[0]), int(starts[-1] + lengths[-1])
    edges = np.empty(2 * len(starts), np.int64)
    edges[::2] = starts - first
    edges[1::2] = edges[::2] + lengths
    memory = pa.foreign_buffer(first, end - first)
    whole = pa.Array.from_buffers(pa.large_binary(), len(edges) - 1, [None, pa.py_buffer(edges), memory])
    return whole.take(pa.array(np.arange(0, len(edges), 2)))


def _with_nulls(values: pa.LargeBinaryArray, is_null: np.ndarray) -> pa.LargeBinaryArray:
    if not is_null.any():
        return values
    return pc.if_else(pa.array(is_null), pa.scalar(None, pa.large_binary()), values)
