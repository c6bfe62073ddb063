"""Places in Spark's order: NULL first, NaN the greatest number, −0.0 = 0.0, structs and arrays lexicographic.

    a < b  ⇔  rank(a) < rank(b)          a = b  ⇔  rank(a) = rank(b)         rank(NULL) = 0

Cost: a sort; of structs one a field, of arrays one an element of the longest array.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays, validity
from dbsp.circuits.columns.hashing import list_ranges
from dbsp.circuits.columns.order_codes import has_order_bits, order_bits
from dbsp.circuits.expressions.vectors.numbers import Numbers


def ranks(array: pa.Array) -> Numbers:
    """int64[n]: 0 for NULL, else 1 and more, equal for equal values, in their order."""
    valid = validity(array)
    if not valid.any():
        return np.zeros(len(array), np.int64)
    return np.where(valid, _dense(_order(array)) + 1, 0)


def _order(array: pa.Array) -> Numbers:
    """Numbers that compare as the values do; anything where NULL."""
    if has_order_bits(array.type):
        return order_bits(array)
    if pt.is_struct(array.type):
        return _of_structs(array)
    if pt.is_list(array.type):
        return _of_lists(array)
    return np.asarray(pc.rank(array, tiebreaker="dense").to_numpy(), dtype=np.int64)


def _dense(order: Numbers) -> Numbers:
    return np.unique(order, return_inverse=True)[1].astype(np.int64)


def _paired(major: Numbers, minor: Numbers) -> Numbers:
    """Ranks of pairs; both are small non-negative numbers: ranks, whose product fits."""
    return _dense(major * (int(minor.max(initial=0)) + 1) + minor)


def _of_structs(array: pa.Array) -> Numbers:
    order = np.zeros(len(array), np.int64)
    for field in child_arrays(array):
        order = _paired(order, ranks(field))
    return order


def _of_lists(array: pa.Array) -> Numbers:
    """Element by element; the end of an array comes before any element, NULL too."""
    starts, lengths, elements = list_ranges(array)
    inner = np.append(ranks(elements) + 1, 0)
    order = np.zeros(len(array), np.int64)
    for place in range(int(lengths.max(initial=0))):
        at = np.where(lengths > place, starts + place, len(inner) - 1)
        order = _paired(order, inner[at])
    return order
