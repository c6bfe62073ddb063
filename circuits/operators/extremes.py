"""The least or greatest value of a group, from a trace ordered by value.

    max(i)[g] = max { v : i[g, v] > 0 }

The trace keeps (key, value) sorted by (hash of key, order code of value), so the candidates of a group
are at the end of its range in each batch. They are fetched a few at a time: values beyond the *horizon*
(the nearest code of which some batch may hold more) are complete; if one of them has a positive weight
the group is decided, else more is fetched.
Cost: O(log n) a group and batch, as long as few of a group's outermost values have been retracted.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from circuits.arrow import int64_array
from circuits.batch import HIGH, LOW, Batch
from circuits.equality import equal_rows
from circuits.grouping import group_rows
from circuits.hashing import hash_rows
from circuits.ordering import has_order_bits, order_bits
from circuits.stretch import stretches
from circuits.trace import Integral, expand_ranges

_FIRST_FETCH = 4


def extremes(integral: Integral, keys: list[pa.Array], highs: np.ndarray, greatest: bool) -> pa.Array:
    """For each group its extreme value in `integral.before`, or NULL.

    integral: rows (keys…, value), value not NULL, placed by the keys, ordered by the value.
    highs: uint64 per group, the hash of its keys.
    """
    value_type = integral.layout.schema.field(len(keys)).type
    found: list[pa.Array] = []
    owners: list[np.ndarray] = []
    groups, fetch = np.arange(len(highs)), _FIRST_FETCH
    while len(groups):
        owner, values, weights, horizon = _fetch(
            integral.before, keys, groups, highs[groups], greatest, fetch
        )
        winner_of, winners, undecided = _decide(owner, values, weights, horizon, greatest, value_type)
        owners.append(groups[winner_of])
        found.append(winners)
        groups, fetch = groups[undecided], fetch * 8
    values = _scatter(found, owners, len(highs), value_type)
    # 0.0 and -0.0 tie: as one value, or which of them was found first would show
    return pc.add(values, pa.scalar(0, value_type)) if pa.types.is_floating(value_type) else values


def _fetch(
    batches: tuple[Batch, ...],
    keys: list[pa.Array],
    groups: np.ndarray,
    highs: np.ndarray,
    greatest: bool,
    fetch: int,
) -> tuple[np.ndarray, list[pa.Array], list[np.ndarray], np.ndarray]:
    """The outermost `fetch` rows of each group in each batch, and each group's horizon.

    horizon: int64 per group; codes strictly beyond it are complete. -1 or 2³²: everything is.
    """
    horizon = np.full(len(groups), -1 if greatest else 1 << 32, dtype=np.int64)
    owners, values, weights = [], [], []
    for stretch in stretches(batches):
        start, stop = stretch.ranges(highs & HIGH, highs | LOW)
        cut = np.maximum(start, stop - fetch) if greatest else np.minimum(stop, start + fetch)
        partial = np.flatnonzero(cut > start if greatest else cut < stop)
        edge = stretch.keys(cut[partial] if greatest else cut[partial] - 1) & LOW
        nearer = np.maximum if greatest else np.minimum
        horizon[partial] = nearer(horizon[partial], edge.astype(np.int64))
        owner, there = expand_ranges(cut, stop) if greatest else expand_ranges(start, cut)
        batch = stretch.take(there)
        columns, everywhere = batch.rows.columns, np.arange(len(batch))
        same = np.flatnonzero(equal_rows(keys, groups[owner], columns[: len(keys)], everywhere))
        owners.append(owner[same])
        values.append(columns[len(keys)].take(int64_array(same)))
        codes = (batch.keys[same] & LOW).astype(np.int64)
        weights.append(np.stack([batch.weights[same], codes]))
    return (np.concatenate(owners) if owners else np.zeros(0, np.int64)), values, weights, horizon


def _decide(
    owner: np.ndarray,
    values: list[pa.Array],
    weights: list[np.ndarray],
    horizon: np.ndarray,
    greatest: bool,
    value_type: pa.DataType,
) -> tuple[np.ndarray, pa.Array, np.ndarray]:
    """(groups decided with a value, their values, groups that need more rows)."""
    everything = (horizon == -1) | (horizon == 1 << 32)
    if not len(owner):
        return np.zeros(0, np.int64), pa.array([], value_type), np.flatnonzero(~everything)
    value = pa.concat_arrays(values)
    weight, code = np.concatenate(weights, axis=1)
    pairs = [int64_array(np.ascontiguousarray(owner)), value]
    order, starts = group_rows(pairs, hash_rows(pairs, len(owner)))
    total = np.add.reduceat(weight[order], starts)
    first = order[starts]
    beyond = code[first] > horizon[owner[first]] if greatest else code[first] < horizon[owner[first]]
    first = first[(total > 0) & beyond]
    rank = _rank(value.take(int64_array(np.ascontiguousarray(first))))
    by = np.lexsort((rank if greatest else ~rank, owner[first]))
    last = np.ones(len(by), dtype=np.bool_)
    last[:-1] = owner[first][by[1:]] != owner[first][by[:-1]]
    winner = first[by[last]]
    undecided = ~everything
    undecided[owner[winner]] = False
    return owner[winner], value.take(int64_array(np.ascontiguousarray(winner))), np.flatnonzero(undecided)


def _rank(values: pa.Array) -> np.ndarray:
    """int64[n] that compare as the values do."""
    if has_order_bits(values.type):
        return order_bits(values)
    ranks = pc.rank(values, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks).astype(np.int64)


def _scatter(found: list[pa.Array], owners: list[np.ndarray], count: int, kind: pa.DataType) -> pa.Array:
    """The found values at their groups' positions, NULL elsewhere."""
    position = np.full(count, -1, dtype=np.int64)
    owner = np.concatenate(owners) if owners else np.zeros(0, np.int64)
    position[owner] = np.arange(len(owner))
    values = pa.concat_arrays(found) if found else pa.array([], kind)
    return values.take(pa.array(position, mask=position < 0))
