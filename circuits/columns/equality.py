"""Exact equality of rows: what a Z-set means by 'the same row'.

Values are the same when their bits are (so 0.0 and -0.0 differ; the front end normalises keys), except
that every NaN is the same NaN and NULL is the same as NULL.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import (
    child_arrays,
    fixed_values,
    is_fixed,
    is_true,
    positions_of,
    take_values,
    validity,
)
from dbsp.circuits.columns.hashing import list_ranges
from dbsp.circuits.columns.ranges import expand_lengths


def equal_columns(left: Sequence[pa.Array], right: Sequence[pa.Array], count: int) -> np.ndarray:
    """bool[count]: whether row i of the left columns is row i of the right columns."""
    places = np.arange(count)
    return equal_rows(left, places, right, places)


def equal_rows(
    left: Sequence[pa.Array], left_at: np.ndarray, right: Sequence[pa.Array], right_at: np.ndarray
) -> np.ndarray:
    """bool[n]: whether row left_at[i] of the left columns is row right_at[i] of the right columns."""
    equal: np.ndarray | None = None
    for a, b in zip(left, right, strict=True):
        same = _equal_at(a, left_at, b, right_at)
        equal = same if equal is None else equal & same
    return np.ones(len(left_at), dtype=np.bool_) if equal is None else equal


def _equal_at(a: pa.Array, a_at: np.ndarray, b: pa.Array, b_at: np.ndarray) -> np.ndarray:
    if is_fixed(a.type):
        values = fixed_values(a)
        equal = _equal_fixed(values[a_at], (values if b is a else fixed_values(b))[b_at])
    elif pt.is_null(a.type):
        return np.ones(len(a_at), dtype=np.bool_)
    elif pt.is_struct(a.type):
        equal = equal_rows(child_arrays(a), a_at, child_arrays(b), b_at)
    elif pt.is_list(a.type) or pt.is_large_list(a.type) or pt.is_map(a.type):
        equal = _equal_lists(a, a_at, b, b_at)
    else:
        same = pc.equal(take_values(a, positions_of(a_at)), take_values(b, positions_of(b_at)))
        equal = is_true(same)
    if not a.null_count and not b.null_count:
        return equal
    a_valid, b_valid = validity(a)[a_at], validity(b)[b_at]
    return np.asarray(np.where(a_valid & b_valid, equal, a_valid == b_valid))


def _equal_fixed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "f":
        bits = np.int32 if a.dtype.itemsize == 4 else np.int64
        return np.asarray((a.view(bits) == b.view(bits)) | (np.isnan(a) & np.isnan(b)))
    if a.dtype.kind == "V":
        return np.asarray((a.view(np.int64).reshape(-1, 2) == b.view(np.int64).reshape(-1, 2)).all(axis=1))
    return np.asarray(a == b)


def _equal_lists(a: pa.Array, a_at: np.ndarray, b: pa.Array, b_at: np.ndarray) -> np.ndarray:
    a_start, a_length, a_elements = list_ranges(a)
    b_start, b_length, b_elements = list_ranges(b)
    lengths = a_length[a_at]
    equal = lengths == b_length[b_at]
    lengths = np.where(equal, lengths, 0)
    owner, within = expand_lengths(lengths)
    same = equal_rows(
        [a_elements], a_start[a_at][owner] + within, [b_elements], b_start[b_at][owner] + within
    )
    np.logical_and.at(equal, owner, same)
    return np.asarray(equal)
