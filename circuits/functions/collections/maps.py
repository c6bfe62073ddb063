"""Maps put together and taken apart. A key is there once and isn't NULL, or the step fails as Spark does."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import child_arrays, int64_array, retyped, validity
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import Numbers
from dbsp.circuits.expressions.vectors.spread import columnar
from dbsp.circuits.functions.collections.lists import Lists, first_equals, joined, list_array, lists_of
from dbsp.circuits.functions.logic.comparison import normalized


def map_of(data_type: pa.DataType, keys: pa.Array, items: pa.Array, lists: Lists) -> pa.Array:
    """Maps of (key, item) pairs: lists says whose they are. −0.0 as a key is 0.0.

    Raises EvaluationError for a NULL key or one that is there twice.
    """
    keys = normalized(keys)
    missing = ~validity(keys)
    again = first_equals(lists.owner, keys) != np.arange(len(keys))
    if (bad := missing | again).any():
        at = int(np.argmax(bad))
        row = int(lists.owner[at])
        if missing[at]:
            raise EvaluationError("NULL_MAP_KEY", "a map's key can't be NULL", row)
        raise EvaluationError("DUPLICATED_MAP_KEY", f"key {keys[at].as_py()!r} is there twice", row)
    return list_array(data_type, Lists(_pairs(data_type, keys, items), lists.lengths, lists.valid))


def _pairs(data_type: pa.DataType, keys: pa.Array, items: pa.Array) -> pa.Array:
    fields = [pa.field("key", data_type.key_type, nullable=False), pa.field("value", data_type.item_type)]
    return pa.StructArray.from_arrays(
        [retyped(keys, data_type.key_type), retyped(items, data_type.item_type)], fields=fields
    )


def transposed(columns: list[pa.Array], data_type: pa.DataType) -> pa.Array:
    """The first row's value of each column, then the second row's ..."""
    width, count = len(columns), len(columns[0])
    order: Numbers = np.arange(count * width).reshape(width, count).T.reshape(-1)
    flat = pa.concat_arrays([retyped(column, data_type) for column in columns])
    return flat.take(int64_array(np.ascontiguousarray(order)))


@columnar("create_map", strict=False)
def create_map(call: Call, *arguments: pa.Array) -> Value:
    """arguments: key, value, key, value, ..."""
    if not arguments:
        return pa.scalar([], call.type)
    rows = len(arguments[0])
    lists = Lists(pa.nulls(0), np.full(rows, len(arguments) // 2), np.ones(rows, np.bool_))
    keys = transposed(list(arguments[0::2]), call.type.key_type)
    return map_of(call.type, keys, transposed(list(arguments[1::2]), call.type.item_type), lists)


@columnar("map_from_arrays")
def map_from_arrays(call: Call, keys: pa.Array, items: pa.Array) -> Value:
    left, right = lists_of(keys), lists_of(items)
    valid = left.valid & right.valid
    uneven = valid & (left.lengths != right.lengths)
    if uneven.any():
        raise EvaluationError(
            "_LEGACY_ERROR_TEMP_2128",
            "the arrays of a map's keys and values differ in length",
            int(np.argmax(uneven)),
        )
    left, right = left.chosen(valid[left.owner]), right.chosen(valid[right.owner])
    return map_of(call.type, left.elements, right.elements, Lists(left.elements, left.lengths, valid))


@columnar("map_from_entries")
def map_from_entries(call: Call, entries: pa.Array) -> Value:
    """Of structs (key, value); NULL if one of these is."""
    lists = lists_of(entries)
    missing = ~validity(lists.elements)
    nulls = np.bincount(lists.owner[missing], minlength=len(entries)) > 0
    lists = lists.chosen(~nulls[lists.owner])
    keys, items = child_arrays(lists.elements)
    return map_of(call.type, keys, items, Lists(lists.elements, lists.lengths, lists.valid & ~nulls))


@columnar("map_keys")
def map_keys(call: Call, value: pa.Array) -> Value:
    lists = lists_of(value)
    return list_array(call.type, Lists(child_arrays(lists.elements)[0], lists.lengths, lists.valid))


@columnar("map_values")
def map_values(call: Call, value: pa.Array) -> Value:
    lists = lists_of(value)
    return list_array(call.type, Lists(child_arrays(lists.elements)[1], lists.lengths, lists.valid))


@columnar("map_entries")
def map_entries(call: Call, value: pa.Array) -> Value:
    lists = lists_of(value)
    fields = list(call.type.value_type)
    structs = pa.StructArray.from_arrays(child_arrays(lists.elements), fields=fields)
    return list_array(call.type, Lists(structs, lists.lengths, lists.valid))


@columnar("map_concat")
def map_concat(call: Call, *maps: pa.Array) -> Value:
    """NULL if one of them is."""
    if not maps:
        return pa.scalar([], call.type)
    both, _ = joined([lists_of(retyped(each, call.type)) for each in maps])
    keys, items = child_arrays(both.elements)
    return map_of(call.type, keys, items, both)


_PATTERN = frozenset("\\^$.|?*+()[]{}")


def _not_plain(call: Call) -> str | None:
    for delimiter in call.arguments[1:]:
        if not (isinstance(delimiter, Literal) and isinstance(delimiter.value, str)):
            return "delimiters that are not constant"
        if _PATTERN & set(delimiter.value) or not delimiter.value:
            return f"the delimiter '{delimiter.value}', which is a pattern"
    return None


@columnar("string_to_map", refuse=_not_plain)
def string_to_map(call: Call, text: pa.Array, between_pairs: pa.Array, within_pairs: pa.Array) -> Value:
    """`a:1,b:2`; the value of a pair without a delimiter is NULL."""
    lists = lists_of(pc.split_pattern(text, between_pairs[0].as_py()))
    parts = pc.split_pattern(lists.elements, within_pairs[0].as_py(), max_splits=1)
    pair = lists_of(parts)
    items = pair.elements.take(
        pa.array(np.where(pair.lengths > 1, pair.starts + 1, 0), mask=pair.lengths < 2)
    )
    return map_of(call.type, pair.elements.take(int64_array(pair.starts)), items, lists)
