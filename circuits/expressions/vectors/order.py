"""The order of structs and arrays: lexicographic, NULL the least and equal to itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays, int64_array, validity
from dbsp.circuits.columns.hashing import list_ranges

Order = np.ndarray  # int8[n]: -1 less, 0 equal, 1 greater


def is_nested(data_type: pa.DataType) -> bool:
    """True for structs and arrays."""
    return bool(pt.is_struct(data_type) or pt.is_list(data_type) or pt.is_large_list(data_type))


def order_nested(a: pa.Array, a_at: np.ndarray, b: pa.Array, b_at: np.ndarray) -> Order:
    """int8[n]: how a[a_at[i]] compares with b[b_at[i]]."""
    if pt.is_struct(a.type):
        order = _order_fields(a, a_at, b, b_at)
    elif is_nested(a.type):
        order = _order_elements(a, a_at, b, b_at)
    else:
        order = _order_flat(a.take(int64_array(a_at)), b.take(int64_array(b_at)))
    a_valid, b_valid = validity(a)[a_at], validity(b)[b_at]
    return np.where(a_valid & b_valid, order, a_valid.astype(np.int8) - b_valid.astype(np.int8))


def _order_flat(a: pa.Array, b: pa.Array) -> Order:
    below, above = pc.less(a, b), pc.greater(a, b)
    order: Order = _mask(above).astype(np.int8) - _mask(below).astype(np.int8)
    if pt.is_floating(a.type):
        a_nan, b_nan = _mask(pc.is_nan(a)), _mask(pc.is_nan(b))
        order = np.where(a_nan | b_nan, a_nan.astype(np.int8) - b_nan.astype(np.int8), order)
    return order


def _mask(answer: pa.Array) -> np.ndarray:
    return np.asarray(pc.fill_null(answer, False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _order_fields(a: pa.Array, a_at: np.ndarray, b: pa.Array, b_at: np.ndarray) -> Order:
    order = np.zeros(len(a_at), dtype=np.int8)
    for left, right in zip(child_arrays(a), child_arrays(b), strict=True):
        order = np.where(order == 0, order_nested(left, a_at, right, b_at), order)
    return order


def _order_elements(a: pa.Array, a_at: np.ndarray, b: pa.Array, b_at: np.ndarray) -> Order:
    """By the first element that differs; without one, by length."""
    a_start, a_length, a_elements = list_ranges(a)
    b_start, b_length, b_elements = list_ranges(b)
    shared = np.minimum(a_length[a_at], b_length[b_at])
    owner = np.repeat(np.arange(len(shared)), shared)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(shared) - shared, shared)
    each = order_nested(a_elements, a_start[a_at][owner] + within, b_elements, b_start[b_at][owner] + within)
    order = np.sign(a_length[a_at] - b_length[b_at]).astype(np.int8)
    # written from the last to the first, so that the first difference of each owner stays
    differing = np.flatnonzero(each)[::-1]
    order[owner[differing]] = each[differing]
    return np.asarray(order)
