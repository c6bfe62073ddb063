"""Parts of messages as columns of bytes, and how they are joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.expressions.vectors.numbers import Numbers

# LARGE BINARY: of each row, or the same for all
Piece: TypeAlias = pa.Array | pa.Scalar
_WIDE = pa.large_binary()


def joined(pieces: Sequence[Piece], count: int) -> pa.Array:
    """LARGE BINARY[count]: of each row its parts, one behind the other."""
    if not any(isinstance(piece, pa.Array) for piece in pieces):
        return pa.repeat(pa.scalar(b"".join(piece.as_py() for piece in pieces), _WIDE), count)
    return pc.binary_join_element_wise(*pieces, pa.scalar(b"", _WIDE)) if len(pieces) > 1 else pieces[0]


def varints(values: Numbers) -> pa.Array:
    """LARGE BINARY: int64[n], their signs last, seven bits a byte."""
    left = ((values << 1) ^ (values >> 63)).view(np.uint64)
    lengths = np.ones(len(left), np.int64)
    for k in range(1, 10):
        lengths += left >= np.uint64(1 << (7 * k))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    data = np.empty(offsets[-1], np.uint8)
    for k in range(int(lengths.max(initial=0))):
        own = np.flatnonzero(lengths > k)
        low = ((left[own] >> np.uint64(7 * k)) & np.uint64(0x7F)).astype(np.uint8)
        data[offsets[own] + k] = low | np.where(lengths[own] > k + 1, 0x80, 0).astype(np.uint8)
    return of_offsets(offsets, data)


def fixed(matrix: Numbers) -> pa.Array:
    """LARGE BINARY: the rows of uint8[n, width]."""
    count, width = matrix.shape
    return of_offsets(np.arange(count + 1) * width, np.ascontiguousarray(matrix).reshape(-1))


def of_offsets(offsets: Numbers, data: Numbers | pa.Buffer) -> pa.Array:
    """LARGE BINARY: data[offsets[i]:offsets[i + 1]]"""
    buffers = [None, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(data)]
    return pa.Array.from_buffers(_WIDE, len(offsets) - 1, buffers)


def counted(values: pa.Array) -> list[Piece]:
    """Bytes and before them how many."""
    return [varints(np.asarray(pc.binary_length(values), dtype=np.int64)), values.cast(_WIDE)]


def grouped(items: pa.Array, counts: Numbers) -> list[Piece]:
    """Blocks of items: how many, these, and a 0 behind them; nothing but the 0 of none.

    items: LARGE BINARY[sum of counts]. The bytes of a row's items follow each other already.
    """
    _, offsets, data = items.buffers()
    each = (
        np.frombuffer(offsets, np.int64, len(items) + 1, items.offset * 8)
        if offsets
        else np.zeros(1, np.int64)
    )
    ends = each[np.concatenate([[0], np.cumsum(counts)])]
    blocks = of_offsets(ends, data if data is not None else np.zeros(0, np.uint8))
    last = pa.array(np.where(counts > 0, 1, 0))
    zero = pc.if_else(pc.equal(last, 1), pa.scalar(b"\0", _WIDE), pa.scalar(b"", _WIDE))
    return [varints(counts), blocks, zero]
