"""Arrays cut, filled and put together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import int64_array, retyped, validity
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, require, vector
from dbsp.circuits.expressions.vectors.spread import columnar
from dbsp.circuits.functions.collections.lists import Lists, all_of, list_array, lists_of

_MOST = 2**31 - 15  # elements of one array, in Spark


def _numbers(column: pa.Array) -> tuple[Numbers, Mask]:
    """(int64[n], 0 where NULL; bool[n])."""
    numbers = vector(column)
    return numbers.values.astype(np.int64), validity(column)


def _filled(
    data_type: pa.DataType, elements: pa.Array, at: Numbers, lengths: Numbers, valid: Mask
) -> pa.Array:
    """Lists of elements[at], NULL where at < 0."""
    taken = elements.take(pa.array(np.maximum(at, 0), mask=at < 0))
    return list_array(data_type, Lists(taken, lengths, valid))


def _check_size(lengths: Numbers) -> None:
    if len(lengths) and (longest := int(lengths.max())) > _MOST:
        row = int(np.argmax(lengths))
        raise EvaluationError(
            "COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER", f"an array can't have {longest} elements", row
        )


@columnar("array_insert", strict=False)
def array_insert(call: Call, array: pa.Array, position: pa.Array, item: pa.Array) -> Value:
    """The item becomes element `position`, counted from 1, or from the end for negative ones; NULLs fill up
    what lies between it and the array.
    """
    lists = lists_of(array)
    at, at_valid = _numbers(position)
    valid = lists.valid & at_valid
    require(~valid | (at != 0), "INVALID_INDEX_OF_ZERO", lambda row: "array_insert counts from 1")
    legacy = 1 if call.option("legacyNegativeIndex") else 0
    length = lists.lengths
    beyond_left = (at < 0) & (-at > length)
    place = np.where(at > 0, at - 1, at + length + 1 - legacy)
    place = np.where(beyond_left, 0, place)
    total = np.where(beyond_left, -at + legacy, np.maximum(length + 1, place + 1))
    shift = np.where(beyond_left, total - length, 0)  # how far the array moves to the right
    total = np.where(valid, total, 0)
    _check_size(total)
    new = Lists(pa.nulls(int(total.sum())), total, valid)
    owner, within = new.owner, new.within
    old = within - np.where(within > place[owner], 1, 0)
    old = np.where(beyond_left[owner], within - shift[owner], old)
    inside = (old >= 0) & (old < length[owner])
    source = np.where(inside, lists.starts[owner] + old, -1)
    source = np.where(within == place[owner], len(lists.elements) + owner, source)
    data_type = call.type.value_type
    both = pa.concat_arrays([retyped(lists.elements, data_type), retyped(item, data_type)])
    return _filled(call.type, both, source, total, valid)


@columnar("array_repeat", strict=False)
def array_repeat(call: Call, item: pa.Array, times: pa.Array) -> Value:
    """NULL for a NULL number of times; none for negative ones."""
    count, valid = _numbers(times)
    count = np.maximum(count, 0)
    _check_size(count)
    return _filled(call.type, item, np.repeat(np.arange(len(item)), count), count, valid)


@columnar("slice")
def array_slice(call: Call, array: pa.Array, start: pa.Array, length: pa.Array) -> Value:
    """`length` elements from `start`, counted from 1, or from the end for negative ones."""
    lists = lists_of(array)
    first, first_valid = _numbers(start)
    wanted, wanted_valid = _numbers(length)
    valid = lists.valid & first_valid & wanted_valid
    require(~valid | (first != 0), "INVALID_PARAMETER_VALUE.START", lambda row: "slice counts from 1")
    require(
        ~valid | (wanted >= 0),
        "INVALID_PARAMETER_VALUE.LENGTH",
        lambda row: f"length {wanted[row]} of a slice",
    )
    begin = np.where(first > 0, first - 1, first + lists.lengths)
    inside = valid & (begin >= 0) & (begin < lists.lengths)
    counts = np.where(inside, np.minimum(wanted, lists.lengths - begin), 0)
    cut = Lists(pa.nulls(int(counts.sum())), counts, valid)
    at = (lists.starts + begin)[cut.owner] + cut.within
    return _filled(call.type, lists.elements, at, counts, valid)


@columnar("flatten")
def flatten(call: Call, array: pa.Array) -> Value:
    """The elements of the elements; NULL if one of these is."""
    outer = lists_of(array)
    inner = lists_of(outer.elements)
    owner = outer.owner
    nulls = np.bincount(owner[~inner.valid], minlength=len(array)) > 0
    lengths = np.bincount(owner, weights=inner.lengths, minlength=len(array)).astype(np.int64)
    whole = Lists(inner.elements, lengths, outer.valid)
    if nulls.any():
        whole = whole.chosen(~nulls[whole.owner])
    return list_array(call.type, Lists(whole.elements, whole.lengths, outer.valid & ~nulls))


@columnar("arrays_zip")
def arrays_zip(call: Call, *values: pa.Array) -> Value:
    """Structs of what stands at the same place of each array, NULL behind its end.

    The last arguments are the names of the fields, which the type has too.
    """
    arrays = [value for value in values if pa.types.is_list(value.type)]
    several = [lists_of(array) for array in arrays]
    valid = all_of([each.valid for each in several])
    longest = np.stack([each.lengths for each in several]).max(axis=0)
    zipped = Lists(pa.nulls(int(longest[valid].sum())), np.where(valid, longest, 0), valid)
    owner, within = zipped.owner, zipped.within
    fields = []
    for each, field in zip(several, call.type.value_type, strict=True):
        inside = within < each.lengths[owner]
        at = pa.array(np.where(inside, each.starts[owner] + within, 0), mask=~inside)
        fields.append(retyped(each.elements.take(at), field.type))
    structs = pa.StructArray.from_arrays(fields, fields=list(call.type.value_type))
    return list_array(call.type, Lists(structs, zipped.lengths, valid))


@columnar("array_join")
def array_join(call: Call, array: pa.Array, delimiter: pa.Array, instead: pa.Array | None = None) -> Value:
    """The strings with the delimiter between them, NULLs left out or replaced."""
    lists = lists_of(array)
    missing = ~validity(lists.elements)
    if instead is None:
        lists = lists.chosen(~missing)
    elif missing.any():
        filled = pc.coalesce(lists.elements, instead.take(int64_array(lists.owner)))
        lists = Lists(filled, lists.lengths, lists.valid & validity(instead))
        lists = lists.chosen(lists.valid[lists.owner])
    elif instead.null_count:
        lists = Lists(lists.elements, lists.lengths, lists.valid & validity(instead))
        lists = lists.chosen(lists.valid[lists.owner])
    return pc.binary_join(list_array(pa.list_(pa.string()), lists), delimiter)
