"""The ends of groups: the least and the greatest value of each key, before a step and after it.

    least(i)[k] = min { v : i[k, v] > 0 }        greatest(i)[k] = max { v : i[k, v] > 0 }

The trace keeps (key, value) in the order of the value, so that the ends of a key are among the ends of its
runs: a few rows are fetched at both of them, and all that the step changes. Values beyond the *horizon*, the
nearest code of which some run may hold more, are complete. Where those don't decide, more is fetched.
Cost: O(log n) a key and run, as long as few of a key's outermost values have been retracted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import every, int64_array, validity
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.columns.sorting import comparable, pack, sort_words
from dbsp.circuits.traces.layout import LOW, of_placement
from dbsp.circuits.traces.sorted_run import Found, Shares
from dbsp.circuits.traces.trace import Integral, as_runs

_FIRST_FETCH = 4
_NONE = -1
_BEYOND = 1 << 32  # greater than any code

BEFORE, AFTER = 0, 1


@dataclass(frozen=True, eq=False)
class Ends:
    """values: what was found. least, greatest: int64[2, keys]: positions in `values`, of each key BEFORE the
    step and AFTER it; -1 where it has no value, and everywhere of an end that isn't asked for. Of one key
    equal values have one position.
    """

    values: pa.Array
    least: np.ndarray
    greatest: np.ndarray


@dataclass(frozen=True, eq=False)
class _Fetched:
    """Rows: whose they are, their values, codes and weights, and whether they are of the step itself.

    above, below: int64 per key; codes below `above`, and above `below`, are complete.
    """

    owner: np.ndarray
    values: pa.Array
    codes: np.ndarray
    weights: np.ndarray
    new: np.ndarray
    above: np.ndarray
    below: np.ndarray


def ends_of(
    integral: Integral, keys: list[pa.Array], hashes: np.ndarray, least: bool, greatest: bool
) -> Ends:
    """Of each key the ends that are asked for.

    integral: rows (keys…, value), placed by the keys, ordered by the value; NULL is none.
    hashes: uint64[keys], ascending, of which the high half counts.
    """
    found = np.full((2, 2, len(hashes)), _NONE, dtype=np.int64)  # by end, by side
    asked = np.array([least, greatest])
    values = [integral.delta.rows.column(len(keys)).slice(0, 0)]
    left, fetch, held = np.arange(len(hashes)), _FIRST_FETCH, 0
    while len(left):
        fetched = _fetch(integral, keys, left, hashes[left], asked, fetch)
        at, won = _decided(fetched, len(left), asked)
        found[:, :, left] = np.where(at < 0, at, at + held)
        values.append(won)
        held += len(won)
        cut = (fetched.above < _BEYOND) | (fetched.below >= 0)
        left, fetch = left[cut & (at[asked] < 0).any(axis=(0, 1))], fetch * 8
    return Ends(pa.concat_arrays(values), *found)


def _fetch(
    integral: Integral,
    keys: list[pa.Array],
    wanted: np.ndarray,
    hashes: np.ndarray,
    asked: np.ndarray,
    count: int,
) -> _Fetched:
    """The outermost `count` rows of each run at the ends that are asked for, and the step's rows.

    wanted: positions in `keys`, whose hashes these are.
    """
    low, high = of_placement(hashes)
    above = np.full(len(hashes), _BEYOND, dtype=np.int64)
    below = np.full(len(hashes), -1, dtype=np.int64)
    at_least, at_greatest = count * asked
    owners: list[np.ndarray] = []
    shares: Shares = []
    for run in integral.before:
        asking, start, stop = run.met(low, high)
        if not len(asking):
            continue
        first, last = start + at_least, stop - at_greatest
        (cut,) = (first < last).nonzero()  # what lies between them isn't fetched
        if len(cut):
            of = asking[cut]
            if at_least:
                edge = (run.keys(first[cut] - 1) & LOW).astype(np.int64)
                above[of] = np.minimum(above[of], edge)
            if at_greatest:
                edge = (run.keys(last[cut]) & LOW).astype(np.int64)
                below[of] = np.maximum(below[of], edge)
        whole = first >= last
        first, last = np.where(whole, stop, first), np.where(whole, stop, last)
        begin, end = np.column_stack((start, last)).ravel(), np.column_stack((first, stop)).ravel()
        end_of, there = expand_ranges(begin, end)
        order, parts = run.shares(there)
        owner = asking[end_of >> 1]
        owners.append(owner if order is None else owner[order])
        shares += parts
    held = sum(map(len, owners))
    for run in as_runs(integral.delta):
        asking, start, stop = run.met(low, high)
        i, there = expand_ranges(start, stop)
        owners.append(asking[i])
        shares.append((integral.delta, there))
    owner = np.concatenate([np.zeros(0, np.int64), *owners])
    new = np.arange(len(owner)) >= held
    if not len(owner):
        shares = [(integral.delta, owner)]
    rows, width = Found(shares), len(keys)
    same = equal_rows(keys, wanted[owner], [rows.column(i) for i in range(width)], np.arange(len(owner)))
    values, codes, weights = rows.column(width), (rows.keys & LOW).astype(np.int64), rows.weights
    if values.null_count:
        same = same & validity(values)
    if not every(same):
        owner, codes, weights, new = owner[same], codes[same], weights[same], new[same]
        values = values.take(int64_array(same.nonzero()[0]))
    return _Fetched(owner, values, codes, weights, new, above, below)


def _decided(fetched: _Fetched, count: int, asked: np.ndarray) -> tuple[np.ndarray, pa.Array]:
    """(int64[end, side, count]: positions of what is decided, -1 of the others; the values)."""
    found = np.full((2, 2, count), _NONE, dtype=np.int64)
    if not len(fetched.owner):
        return found, fetched.values
    rank = comparable(fetched.values)
    by, opens = sort_words(pack([fetched.owner, rank]), len(rank))
    (starts,) = opens.nonzero()
    weight, first = fetched.weights[by], by[starts]
    owner = fetched.owner[first]
    totals = (
        np.add.reduceat(np.where(fetched.new[by], 0, weight), starts),
        np.add.reduceat(weight, starts),
    )
    codes = fetched.codes[first]
    complete = codes < fetched.above[owner], codes > fetched.below[owner]
    for end in asked.nonzero()[0]:
        for side in (BEFORE, AFTER):
            (there,) = (complete[end] & (totals[side] > 0)).nonzero()
            # the last to be written stays
            there = there if end else there[::-1]
            found[end, side, owner[there]] = there
    return found, fetched.values.take(int64_array(first))
