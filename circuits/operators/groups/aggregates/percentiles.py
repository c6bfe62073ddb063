"""Percentiles: a value of the group, or one between two neighbours, by its place in the group's order.

    percentile p of n sorted values: at place (n − 1) p, between floor and ceiling by distance
    percentile_disc, approx_percentile: the ⌈n p⌉-th value

State: the values.  Cost: O(r log r) for the r rows of the touched groups.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import fixed_values, int64_array
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.groups.state.members import Finalizer, Members


class Places(ABC):
    """Groups of values, each in order. sizes: int64[groups]."""

    sizes: np.ndarray

    @abstractmethod
    def values(self, places: np.ndarray) -> pa.Array:
        """The values at places[k, groups] of each group, one k after the other; NULL where it is empty."""


@dataclass(frozen=True)
class Percentile(Finalizer):
    """kind: 'continuous', 'discrete', or 'approximate': exact here, as Spark is while groups are small.

    Columns: the value, and how often it counts if `frequencies`. many: the result is an array, as long as
    `percentages`. accuracy: what 'approximate' was asked for.
    """

    kind: str
    percentages: tuple[float, ...]
    many: bool = False
    descending: bool = False
    frequencies: bool = False
    accuracy: int = 10000

    def finalize(self, members: Members, data_type: pa.DataType) -> pa.Array:
        listed = members.listed((SortKey(0, self.descending),))
        weights = listed.weights
        if self.frequencies:
            weights = weights * copies(listed.columns[1])
        return self.of(InGroups(listed.columns[0], weights, listed.owner, listed.count), data_type)

    def of(self, places: Places, data_type: pa.DataType) -> pa.Array:
        """One result a group of `places`."""
        out = data_type.value_type if self.many else data_type
        count, width = len(places.sizes), len(self.percentages)
        results = self._results(places, out)
        if not self.many:
            return results
        values = results.take(int64_array(np.arange(width * count).reshape(width, -1).T.ravel().copy()))
        offsets = pa.array(np.arange(count + 1) * width, pa.int32())
        return pa.ListArray.from_arrays(offsets, values, mask=pa.array(places.sizes == 0)).cast(data_type)

    def _results(self, places: Places, data_type: pa.DataType) -> pa.Array:
        """One percentage after the other, of each group."""
        sizes, percentages = places.sizes, np.array(self.percentages).reshape(-1, 1)
        if self.kind == "continuous":
            return _between(places, np.maximum((sizes - 1) * percentages, 0.0), data_type)
        rank = np.ceil(sizes * percentages).astype(np.int64) - 1
        if self.kind == "approximate":
            edge = 1.0 / self.accuracy
            rank = np.where(percentages <= edge, 0, rank)
            rank = np.where(percentages >= 1 - edge, sizes - 1, rank)
        found = places.values(np.clip(rank, 0, np.maximum(sizes - 1, 0)))
        return (
            found if found.type == data_type else _doubles_as(_as_doubles(found), found.is_null(), data_type)
        )


def _between(places: Places, position: np.ndarray, data_type: pa.DataType) -> pa.Array:
    lower, higher = np.floor(position), np.ceil(position)
    both = places.values(np.concatenate([lower, higher]).astype(np.int64))
    below, above = both.slice(0, position.size), both.slice(position.size)
    a, b = _as_doubles(below), _as_doubles(above)
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is a result
        between = a + (b - a) * (position - lower).ravel()
    return _doubles_as(np.where((lower == higher).ravel() | (a == b), a, between), below.is_null(), data_type)


class InGroups(Places):
    """Values by group and order, each so often."""

    def __init__(self, values: pa.Array, often: np.ndarray, owner: np.ndarray, count: int) -> None:
        self._values, self._ends = values, np.cumsum(often)
        self.sizes = np.zeros(count, dtype=np.int64)
        np.add.at(self.sizes, owner, often)
        self._starts = np.cumsum(self.sizes) - self.sizes

    def values(self, places: np.ndarray) -> pa.Array:
        row = np.searchsorted(self._ends, self._starts + places, "right")
        nothing = np.broadcast_to(self.sizes == 0, row.shape)
        return self._values.take(pa.array(row.ravel(), mask=nothing.ravel()))


def copies(frequencies: pa.Array) -> np.ndarray:
    """int64[n]. Raises EvaluationError where one is negative."""
    often = fixed_values(frequencies).astype(np.int64)
    if (often < 0).any():
        bad = int(often[often < 0][0])
        raise EvaluationError(
            "NEGATIVE_VALUES_IN_FREQUENCY_EXPRESSION", f"percentile: the negative frequency {bad}"
        )
    return often


def _as_doubles(values: pa.Array) -> np.ndarray:
    if pa.types.is_decimal(values.type):
        # by its digits: Arrow's own conversion is off by an ulp
        values = pc.cast(pc.cast(values, pa.string()), pa.float64())
    return fixed_values(values).astype(np.float64)


def _doubles_as(values: np.ndarray, nothing: pa.Array, data_type: pa.DataType) -> pa.Array:
    mask = np.asarray(nothing.to_numpy(zero_copy_only=False), dtype=np.bool_)
    if pa.types.is_floating(data_type):
        return pa.array(values, data_type, mask=mask)
    return pa.array(np.where(mask, 0.0, values).astype(np.int64), mask=mask).cast(data_type)
