"""Arrays and maps as one run of elements, those of the first row first, and their number in each row.

Functions over arrays are functions over the elements of all rows at once: `owner` says whose an element is,
`within` which of its row's it is. So their cost is that of as many kernels over as many values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import child_arrays, int64_array, retyped, validity
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows, list_ranges
from dbsp.circuits.columns.ranges import expand_lengths, expand_ranges
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers
from dbsp.circuits.functions.logic.comparison import normalized


@dataclass(frozen=True, slots=True)
class Lists:
    """elements: of maps (key, value) structs. lengths: int64[n], 0 for NULL. valid: bool[n]."""

    elements: pa.Array
    lengths: Numbers
    valid: Mask

    @property
    def owner(self) -> Numbers:
        """int64[m]: the row of each element."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def starts(self) -> Numbers:
        """int64[n]: the place of each row's first element."""
        return np.asarray(np.cumsum(self.lengths) - self.lengths)

    @property
    def within(self) -> Numbers:
        """int64[m]: the place of each element in its row, from 0."""
        return expand_lengths(self.lengths)[1]

    def chosen(self, kept: Mask) -> Lists:
        """The elements where kept (bool[m])."""
        counts = np.bincount(self.owner[kept], minlength=len(self.lengths))
        return Lists(self.elements.filter(pa.array(kept)), counts, self.valid)


def lists_of(array: pa.Array) -> Lists:
    """Of a list or map column. What lies beneath NULLs and outside the slice is left out."""
    starts, lengths, elements = list_ranges(array)
    valid = validity(array)
    total = int(lengths.sum())
    first = int(starts[0]) if len(starts) else 0
    if total and not np.array_equal(starts, first + np.cumsum(lengths) - lengths):
        _, positions = expand_ranges(starts, starts + lengths)
        return Lists(elements.take(int64_array(positions)), lengths, valid)
    return Lists(elements.slice(first, total), lengths, valid)


def list_array(data_type: pa.DataType, lists: Lists) -> pa.Array:
    """The column of a list or map type; elements are cast to its element type."""
    offsets = np.zeros(len(lists.lengths) + 1, np.int32)
    np.cumsum(lists.lengths, out=offsets[1:])
    mask = None if lists.valid.all() else pa.array(~lists.valid)
    if pa.types.is_map(data_type):
        keys, items = child_arrays(lists.elements)
        keys, items = retyped(keys, data_type.key_type), retyped(items, data_type.item_type)
        return pa.MapArray.from_arrays(pa.array(offsets), keys, items, data_type, mask=mask)
    elements = retyped(lists.elements, data_type.value_type)
    return pa.ListArray.from_arrays(pa.array(offsets), elements, type=data_type, mask=mask)


def joined(several: list[Lists]) -> tuple[Lists, Numbers]:
    """(each row's elements of the first, then of the second ..., int64[m]: which one each element is of).

    NULL where one is.
    """
    lengths = np.stack([each.lengths for each in several])
    valid = all_of([each.valid for each in several])
    begins = np.cumsum(lengths).reshape(lengths.shape) - lengths  # in the elements one after another
    runs = np.where(valid, lengths, 0).T.ravel()
    starts = begins.T.ravel()
    run, order = expand_ranges(starts, starts + runs)
    elements = pa.concat_arrays([each.elements for each in several]).take(int64_array(order))
    source = run % len(several)
    return Lists(elements, np.where(valid, lengths.sum(axis=0), 0), valid), source


def all_of(masks: list[Mask]) -> Mask:
    """bool[n]: where all are True."""
    return np.asarray(np.stack(masks).all(axis=0))


def first_equals(owner: Numbers, elements: pa.Array) -> Numbers:
    """int64[m]: for each element the place of the first of its row's that it equals; NULL equals NULL."""
    if not len(elements):
        return np.zeros(0, np.int64)
    columns = [int64_array(np.ascontiguousarray(owner, dtype=np.int64)), normalized(elements)]
    order, starts = group_rows(columns, hash_rows(columns, len(owner)))
    first = np.minimum.reduceat(order, starts)
    places = np.empty(len(order), np.int64)
    places[order] = np.repeat(first, np.diff(np.append(starts, len(order))))
    return places
