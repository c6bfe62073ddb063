"""The k-th least value of any stretch of a sequence: a wavelet matrix.

    level b, from the highest bit: the sequence, stably parted by bit b of its values, 0 before 1
    of the k-th of s…e, bit b is 0  ⇔  k < (weight of the values with bit b = 0 within s…e)

and the stretch goes on within its part of the next level. All sorted_runs are asked at once, a bit at a time.
Source: Claude, Navarro, Ordóñez: The wavelet matrix, Information Systems 47, 2015.
Cost: O(n log r) to build for values below r, O(log r) a stretch.
"""

from __future__ import annotations

import numpy as np


class Quantiles:
    """ranks: int64[n], not negative. often: int64[n], how many times each counts, not negative."""

    def __init__(self, ranks: np.ndarray, often: np.ndarray) -> None:
        self._levels: list[tuple[int, np.ndarray, np.ndarray]] = []
        for bit in reversed(range(int(ranks.max(initial=0)).bit_length())):
            low = (ranks >> bit) & 1 == 0
            self._levels.append((bit, _prefix(low), _prefix(np.where(low, often, 0))))
            parted = np.concatenate([np.flatnonzero(low), np.flatnonzero(~low)])
            ranks, often = ranks[parted], often[parted]

    def find(self, start: np.ndarray, stop: np.ndarray, place: np.ndarray) -> np.ndarray:
        """int64[f]: the rank at place[i], from 0, of the values start[i]…stop[i] in order, each as often as
        it counts; anything where there are not so many.
        """
        rank = np.zeros(len(place), dtype=np.int64)
        for bit, lows, weight in self._levels:
            below = weight[stop] - weight[start]
            high = place >= below
            rank |= high.astype(np.int64) << bit
            place = np.where(high, place - below, place)
            start, stop = (np.where(high, lows[-1] + at - lows[at], lows[at]) for at in (start, stop))
        return rank


def _prefix(values: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
