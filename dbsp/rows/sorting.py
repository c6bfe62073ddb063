"""One order of rows for everybody who looks: column by column, NULL first, NaN last of the numbers.

Numbers by value, strings and binaries by bytes, arrays and structs element by element.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import fixed_values, validity
from dbsp.circuits.traces.zset import ZSet


def sort_rows(delta: ZSet) -> ZSet:
    """The same Z-set, listed in order of rows, then weights."""
    if len(delta) < 2:
        return delta
    keys: list[np.ndarray] = [delta.weights]
    for column in reversed(delta.rows.columns):
        keys.append(_codes(column))
        if column.null_count:
            keys.append(validity(column))
    return delta.take(np.lexsort(keys))


def _codes(column: pa.Array) -> np.ndarray:
    """Integers that are ordered as the values are; anything where NULL."""
    type_ = column.type
    if pt.is_floating(type_):
        values = fixed_values(column).astype(np.float64)
        return np.where(validity(column), values, 0.0) + 0.0  # lexsort puts NaN last, as Spark does
    if pt.is_boolean(type_) or pt.is_integer(type_) or pt.is_temporal(type_):
        values = fixed_values(column)
        return np.where(validity(column), values, 0) if column.null_count else values
    if pt.is_nested(type_):
        return _ranks(column.to_pylist())
    encoded = column.dictionary_encode()
    rank = np.empty(len(encoded.dictionary), np.int64)
    rank[pc.array_sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(rank))
    codes = pc.fill_null(encoded.indices, 0).to_numpy()
    ranked: np.ndarray = rank[codes] if len(rank) else codes
    return ranked


def _ranks(values: list[Any]) -> np.ndarray:
    keys = [_key(value) for value in values]
    rank: dict[Any, int] = {}
    for key in sorted(keys):
        rank.setdefault(key, len(rank))
    return np.array([rank[key] for key in keys], np.int64)


def _key(value: Any) -> tuple[Any, ...]:
    """A tuple that compares with that of any value of the same type."""
    if value is None:
        return (0,)
    if isinstance(value, float):
        return (1, math.isnan(value), 0.0 if math.isnan(value) else value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return (1, tuple(_key(item) for item in value))
    return (1, value)
