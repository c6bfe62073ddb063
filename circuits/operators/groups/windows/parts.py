"""The parts of exact sums: what values add to sums of integers, decimals and doubles, and to their count.

Σ v = Σ_j part_j · 2^(32 j)        count = part_COUNT        a NULL adds nothing
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import fixed_values, validity
from dbsp.circuits.columns.exact_sums import split_decimal, split_doubles, split_int64
from dbsp.circuits.traces.blocks.sums import Addends, Summand

COUNT = -4  # the parts of doubles have numbers from -3 on


@dataclass(frozen=True)
class Parts(Summand):
    """columns: the one whose values are counted, and added up if `summed`."""

    columns: tuple[int, ...]
    summed: bool

    def of(self, columns: list[pa.Array], count: int) -> Addends:
        (array,) = columns
        (known,) = validity(array).nonzero()
        found = [(known, np.full(len(known), COUNT), np.ones(len(known), np.int64))]
        if self.summed and pt.is_floating(array.type):
            found.append(split_doubles(doubles(array)))
        elif self.summed:
            found += [
                (np.arange(count), np.full(count, number), digit)
                for number, digit in enumerate(digits(array))
            ]
        row, number, amount = (np.concatenate([part[i] for part in found]) for i in range(3))
        return row, number, amount


@dataclass(frozen=True, eq=False)
class Ahead:
    """What partitions have in front of their rows. partition: int64[n], each row's. sums: of partitions."""

    partition: np.ndarray
    sums: Mapping[int, np.ndarray]

    def of(self, number: int) -> np.ndarray | int:
        """int64[n]: what frames from their partition's start have in front of its rows."""
        return self.sums[number][self.partition] if number in self.sums else 0

    @property
    def limbs(self) -> dict[int, np.ndarray]:
        """Of doubles, by index: int64[n]."""
        return {number: sums[self.partition] for number, sums in self.sums.items() if number != COUNT}


def digits(array: pa.Array) -> list[np.ndarray]:
    """int64[n] each: of integers or decimals; of NULL they are 0."""
    known = validity(array)
    values = (
        split_decimal(array)
        if pt.is_decimal(array.type)
        else split_int64(fixed_values(array).astype(np.int64))
    )
    return values if known.all() else [np.where(known, part, 0) for part in values]


def doubles(array: pa.Array) -> np.ndarray:
    """float64[n], of NULL 0."""
    return np.where(validity(array), fixed_values(array), 0).astype(np.float64)
