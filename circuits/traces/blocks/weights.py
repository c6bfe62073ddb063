"""What the rows of a run weigh together, from the first row of a range to any other of its rows.

    Σ { w(i) : start <= i < p } = P(p) − P(start)        P(p) = S[⌊p / B⌋] + what its block has before p

S: what a batch's rows weigh before each block of B, made when it is first asked for and kept with the batch;
of a batch whose weights are all 1, P(p) = p. Weights are signed.
State: 8 / B bytes a row, of batches with other weights than 1.  Cost: O(B) a place, and once O(n) a batch.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from dbsp.circuits.columns.arrow import every
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.sorted_run import SortedRun

_BLOCK = 16
_WITHIN = np.arange(_BLOCK)
_KEPT = "weights before blocks"


class PrefixWeights:
    """Of a run, within some ranges: start[i] <= position < stop[i]. Batches outside are never read."""

    def __init__(self, run: SortedRun, start: np.ndarray, stop: np.ndarray) -> None:
        self._run = run
        # by batch: what those before it weigh
        self._before = {id(batch): 0 for batch in run.batches[:1]}
        if len(run.batches) > 1:
            total = 0
            for batch, *_ in run.cut(start, stop):
                self._before[id(batch)] = total
                total += int(_up_to(batch, np.array([len(batch) - 1]), 1)[0])

    def between(self, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """int64[n]: of start <= position < stop, each within one of the ranges, or empty."""
        weights = np.zeros(len(start), np.int64)
        (some,) = (start < stop).nonzero()
        if len(some):
            weights[some] = self._at(stop[some] - 1, 1) - self._at(start[some], 0)
        return weights

    def _at(self, positions: np.ndarray, own: int) -> np.ndarray:
        """P at each position; own: 1: with the row there."""
        order, shares = self._run.shares(positions)
        found = np.concatenate([self._before[id(batch)] + _up_to(batch, at, own) for batch, at in shares])
        if order is None:
            return found
        back = np.empty_like(found)
        back[order] = found
        return back


def _up_to(batch: Batch, at: np.ndarray, own: int) -> np.ndarray:
    """int64[n]: what the rows of a batch before each position weigh; own: 1: with the row there."""
    before = batch.summary(_KEPT, partial(_before_blocks, batch))
    if before is None:
        return at + own
    block = at // _BLOCK
    first = block * _BLOCK
    there = np.minimum(first[:, None] + _WITHIN, len(batch) - 1)
    weights = batch.weights_at(there.ravel()).reshape(there.shape)
    counted = (at - first + own)[:, None] > _WITHIN
    return np.asarray(before[block] + np.where(counted, weights, 0).sum(axis=1))


def _before_blocks(batch: Batch) -> np.ndarray | None:
    """int64[blocks]: S; None: each row weighs 1."""
    weights = batch.weights
    if every(weights == 1):
        return None
    blocks = np.add.reduceat(weights, np.arange(0, len(weights), _BLOCK))
    return np.cumsum(blocks) - blocks
