"""Rows taken out of a file, each as often as it is retracted.

    kept = rows ⊖ retracted        what is left to retract = retracted ⊖ rows        (bags)

Only rows whose hash is that of a retracted one are compared by their values; the others pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.traces.zset import ZSet


def hashes_of(rows: pa.RecordBatch) -> np.ndarray:
    """uint64[n], one a row."""
    return hash_rows(rows.columns, rows.num_rows)


def may_hold(sorted_hashes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """bool[n]: which of the wanted hashes are among those."""
    if not len(sorted_hashes):
        return np.zeros(len(wanted), bool)
    places = np.searchsorted(sorted_hashes, wanted)
    found: np.ndarray = sorted_hashes[np.minimum(places, len(sorted_hashes) - 1)] == wanted
    return found


def take_out(rows: pa.RecordBatch, retracted: ZSet) -> tuple[pa.RecordBatch, ZSet]:
    """retracted: with weights above 0, consolidated. What stays of the rows, and of the retractions."""
    candidates = may_hold(np.sort(hashes_of(retracted.rows)), hashes_of(rows))
    asked = rows.filter(pa.array(candidates))
    here = ZSet(asked, np.ones(asked.num_rows, np.int64))
    balance = ZSet.sum(rows.schema, [here, -retracted]).consolidate()
    passed = rows.filter(pa.array(~candidates))
    stays = repeated(balance.take(np.flatnonzero(balance.weights > 0)))
    left = balance.take(np.flatnonzero(balance.weights < 0))
    kept = pa.Table.from_batches([passed, stays], schema=rows.schema).combine_chunks().to_batches()
    return kept[0] if kept else rows.slice(0, 0), -left


def repeated(rows: ZSet) -> pa.RecordBatch:
    """Each row as often as its weight says, which is above 0."""
    if not len(rows) or int(rows.weights.max()) == 1:
        return rows.rows
    return rows.rows.take(pa.array(np.repeat(np.arange(len(rows)), rows.weights)))


def pieces(schema: pa.Schema, parts: Sequence[ZSet], size: int) -> Iterator[ZSet]:
    """The sum of the parts, consolidated, about `size` rows at a time: memory is a piece's, not the sum's."""
    count = max(1, math.ceil(sum(map(len, parts)) / size))
    if count == 1:
        yield ZSet.sum(schema, list(parts)).consolidate()
        return
    placed = [hashes_of(part.rows) % np.uint64(count) for part in parts]
    for number in range(count):
        mine = [part.take(np.flatnonzero(at == number)) for part, at in zip(parts, placed, strict=True)]
        yield ZSet.sum(schema, mine).consolidate()
