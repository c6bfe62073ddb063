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
    """The sum of the parts, about `size` rows at a time: memory is a piece's, and 8 bytes a row.

    Where no row goes, they come as they lie; else consolidated, equal rows in one piece, by their hashes.
    schema: of the pieces; the names of the parts' columns may be others.
    """
    parts = [part for part in parts if len(part)]
    if all(int(part.weights.min()) > 0 for part in parts):
        yield from _as_they_lie(schema, parts, size)
        return
    count = math.ceil(sum(map(len, parts)) / size)
    placed = [_placed(schema, part, count, size) for part in parts]
    for number in range(count):
        mine = [
            _taken(schema, part, order[starts[number] : starts[number + 1]])
            for part, (order, starts) in zip(parts, placed, strict=True)
        ]
        yield ZSet.sum(schema, mine).consolidate()


def _as_they_lie(schema: pa.Schema, parts: Sequence[ZSet], size: int) -> Iterator[ZSet]:
    gathered, missing = [], size
    for part in parts:
        start = 0
        while start < len(part):
            taken = _taken(schema, part, np.arange(start, min(start + missing, len(part))))
            gathered.append(taken)
            start, missing = start + len(taken), missing - len(taken)
            if not missing:
                yield ZSet.sum(schema, gathered)
                gathered, missing = [], size
    if gathered:
        yield ZSet.sum(schema, gathered)


def _placed(schema: pa.Schema, part: ZSet, count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The part's positions, piece by piece, and where each piece begins among them."""
    if count == 1:
        return np.arange(len(part)), np.array([0, len(part)])
    found = np.empty(len(part), np.min_scalar_type(count))
    for start in range(0, len(part), size):
        stop = min(start + size, len(part))
        rows = _taken(schema, part, np.arange(start, stop)).rows
        found[start:stop] = hashes_of(rows) % np.uint64(count)
    order = np.argsort(found, kind="stable")
    return order, np.searchsorted(found, np.arange(count + 1), sorter=order)


def _taken(schema: pa.Schema, part: ZSet, positions: np.ndarray) -> ZSet:
    """What is stored is decoded at these positions, and nowhere else."""
    return part.take(positions).under(schema)
