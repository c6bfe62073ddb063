"""Arrays in order, and the ends of it: SORT_ARRAY, ARRAY_MIN, ARRAY_MAX; maps in the order of their keys.

One sort of (row, rank of the element) for the elements of all rows.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import child_arrays, int64_array, is_true, validity
from dbsp.circuits.columns.sorting import ranks
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import Numbers
from dbsp.circuits.expressions.vectors.spread import columnar
from dbsp.circuits.functions.collections.lists import Lists, list_array, lists_of
from dbsp.circuits.functions.logic.comparison import no_maps


def in_order(lists: Lists, places: Numbers) -> Lists:
    """Each row's elements by ascending place (int64[m]); equal ones stay in their order."""
    order = np.lexsort((places, lists.owner))
    return Lists(lists.elements.take(int64_array(order)), lists.lengths, lists.valid)


@columnar("sort_array", refuse=no_maps)
def sort_array(call: Call, array: pa.Array, ascending: pa.Array) -> Value:
    """NULLs come first ascending, and last descending."""
    lists = lists_of(array)
    places = ranks(lists.elements)
    falling = is_true(pc.invert(ascending))
    return list_array(call.type, in_order(lists, np.where(falling[lists.owner], -places, places)))


@columnar("map_sort")
def map_sort(call: Call, maps: pa.Array) -> Value:
    """By key: equal maps are grouped whatever the order of their entries."""
    lists = lists_of(maps)
    keys, _ = child_arrays(lists.elements)
    return list_array(call.type, in_order(lists, ranks(keys)))


def _register_end(name: str, last: bool) -> None:
    @columnar(name, refuse=no_maps)
    def run(call: Call, array: pa.Array) -> Value:
        """Of the elements that aren't NULL; NULL where there is none."""
        lists = lists_of(array)
        lists = lists.chosen(validity(lists.elements))
        places = ranks(lists.elements)
        ordered = in_order(lists, -places if last else places)  # the first of equal ones
        found = lists.lengths > 0
        return ordered.elements.take(pa.array(np.where(found, lists.starts, 0), mask=~found))


_register_end("array_min", last=False)
_register_end("array_max", last=True)
