"""Arrays as sets: elements that are equal count as one, NULL equals NULL, the first one stands for all.

union(a, b) = distinct(a ‖ b)        except, intersect: the distinct elements of a that b hasn't, has
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array, is_true, retyped, validity
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers
from dbsp.circuits.expressions.vectors.spread import columnar
from dbsp.circuits.functions.collections.lists import Lists, first_equals, joined, list_array, lists_of
from dbsp.circuits.functions.logic.comparison import equal, no_maps, normalized


def _set(array: pa.Array) -> Lists:
    """The array's elements; of equal numbers one: 0.0 for −0.0."""
    lists = lists_of(array)
    if not pa.types.is_floating(lists.elements.type):
        return lists
    return Lists(normalized(lists.elements), lists.lengths, lists.valid)


def _firsts(owner: Numbers, elements: pa.Array) -> tuple[Numbers, Mask]:
    """(int64[m], bool[m]): the place of each one's first equal, and whether that is itself."""
    first = first_equals(owner, elements)
    return first, first == np.arange(len(first))


@columnar("array_distinct", refuse=no_maps)
def array_distinct(call: Call, array: pa.Array) -> Value:
    lists = _set(array)
    return list_array(call.type, lists.chosen(_firsts(lists.owner, lists.elements)[1]))


@columnar("array_union", refuse=no_maps)
def array_union(call: Call, left: pa.Array, right: pa.Array) -> Value:
    both, _ = joined([_set(left), _set(retyped(right, left.type))])
    return list_array(call.type, both.chosen(_firsts(both.owner, both.elements)[1]))


def _against(left: pa.Array, right: pa.Array) -> tuple[Lists, Numbers, Mask, Mask]:
    """(both's elements, int64[m]: 0 for left's, bool[m]: the first of equals, bool[m]: right has it)."""
    both, source = joined([_set(left), _set(retyped(right, left.type))])
    first, is_first = _firsts(both.owner, both.elements)
    has = np.zeros(len(first), np.bool_)
    has[first[source == 1]] = True
    return both, source, is_first, has[first]


@columnar("array_except", refuse=no_maps)
def array_except(call: Call, left: pa.Array, right: pa.Array) -> Value:
    both, source, is_first, in_right = _against(left, right)
    return list_array(call.type, both.chosen(is_first & (source == 0) & ~in_right))


@columnar("array_intersect", refuse=no_maps)
def array_intersect(call: Call, left: pa.Array, right: pa.Array) -> Value:
    both, source, is_first, in_right = _against(left, right)
    return list_array(call.type, both.chosen(is_first & (source == 0) & in_right))


@columnar("arrays_overlap", refuse=no_maps)
def arrays_overlap(call: Call, left: pa.Array, right: pa.Array) -> Value:
    """Whether an element that isn't NULL is in both; NULL if not and one holds a NULL, none being empty."""
    both, source, _, in_right = _against(left, right)
    present = validity(both.elements)
    rows = len(both.lengths)
    common = np.bincount(both.owner[present & in_right & (source == 0)], minlength=rows) > 0
    nulls = np.bincount(both.owner[~present], minlength=rows) > 0
    from_left = np.bincount(both.owner[source == 0], minlength=rows)
    unknown = ~common & nulls & (from_left > 0) & (from_left < both.lengths)
    return pa.array(common, mask=unknown | ~both.valid)


def _same(lists: Lists, wanted: pa.Array) -> Mask:
    """bool[m]: whether the element equals its row's `wanted`."""
    return is_true(equal(lists.elements, wanted.take(int64_array(lists.owner))))


@columnar("array_position", refuse=no_maps)
def array_position(call: Call, array: pa.Array, wanted: pa.Array) -> Value:
    """The place, from 1, of the first that equals; 0 if none does."""
    lists = lists_of(array)
    hits = np.flatnonzero(_same(lists, wanted))[::-1]  # written from the last, so that the first stays
    places = np.zeros(len(array), np.int64)
    places[lists.owner[hits]] = lists.within[hits] + 1
    return pa.array(places, mask=~(lists.valid & validity(wanted)))


@columnar("array_remove", refuse=no_maps)
def array_remove(call: Call, array: pa.Array, unwanted: pa.Array) -> Value:
    """Without the elements that equal; NULLs stay."""
    lists = lists_of(array)
    kept = lists.chosen(~_same(lists, unwanted))
    valid = lists.valid & validity(unwanted)
    if not valid.all():
        kept = kept.chosen(valid[kept.owner])
    return list_array(call.type, Lists(kept.elements, kept.lengths, valid))
