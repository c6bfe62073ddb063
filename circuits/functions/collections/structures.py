"""Structs, arrays and maps: building them and reaching into them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays, int64_array, is_true, retyped, validity
from dbsp.circuits.columns.hashing import list_ranges
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.modes import ANSI, mode
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, require, vector
from dbsp.circuits.functions.logic.comparison import equal, no_maps


def _rows(*values: Value) -> int | None:
    """The number of rows; None if all values are constants."""
    return next((len(value) for value in values if not isinstance(value, pa.Scalar)), None)


def _array(value: Value, rows: int | None) -> pa.Array:
    return pa.repeat(value, rows if rows is not None else 1) if isinstance(value, pa.Scalar) else value


def _same_shape(array: pa.Array, rows: int | None) -> Value:
    return array[0] if rows is None else array


# --- structs


@kernel("create_named_struct")
def create_named_struct(call: Call, *values: Value) -> Value:
    """arguments: name, value, name, value, ..."""
    rows = _rows(*values[1::2])
    fields = [
        retyped(_array(value, rows), field.type) for value, field in zip(values[1::2], call.type, strict=True)
    ]
    return _same_shape(pa.StructArray.from_arrays(fields, fields=list(call.type)), rows)


@kernel("get_struct_field")
def get_struct_field(call: Call, value: Value) -> Value:
    """option ordinal: the field's position. NULL of a NULL struct."""
    rows = _rows(value)
    array = _array(value, rows)
    ordinal = call.option("ordinal")
    assert isinstance(ordinal, int), call
    field = array.field(ordinal)
    if array.null_count:
        field = pc.if_else(pc.is_valid(array), field, pa.scalar(None, field.type))
    return _same_shape(field, rows)


@kernel("fields_renamed")
def fields_renamed(call: Call, value: Value) -> Value:
    """The value under other names of its structs' fields, which are those of the same places."""
    return retyped(value, call.type)


# --- arrays


@kernel("create_array")
def create_array(call: Call, *values: Value) -> Value:
    rows = _rows(*values)
    data_type = call.type.value_type
    arrays = [retyped(_array(value, rows), data_type) for value in values]
    count, width = (rows if rows is not None else 1), len(arrays)
    if not width:
        return pa.scalar([], call.type)
    # column by column, then transposed into rows
    order = np.arange(count * width).reshape(width, count).T.reshape(-1)
    elements = pa.concat_arrays(arrays).take(int64_array(np.ascontiguousarray(order)))
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * width)
    return _same_shape(pa.ListArray.from_arrays(offsets, elements, type=call.type), rows)


@kernel("size")
def size(call: Call, value: Value) -> Value:
    """The number of elements; of NULL it is NULL, or −1 where option legacySizeOfNull says so."""
    rows = _rows(value)
    array = _array(value, rows)
    _, lengths, _ = list_ranges(array)
    missing = None if not array.null_count else ~validity(array)
    if missing is not None and call.option("legacySizeOfNull"):
        lengths, missing = np.where(missing, -1, lengths), None
    return _same_shape(pa.array(lengths.astype(np.int32), mask=missing), rows)


@kernel("array_size")
def array_size(call: Call, value: Value) -> Value:
    return size(call, value)


@kernel("get_array_item")
def get_array_item(call: Call, value: Value, index: Value) -> Value:
    """array[index], from 0; beyond the ends an error, or NULL without option failOnError."""
    return _element(call, value, index, lambda index, lengths: index, "INVALID_ARRAY_INDEX")


def _not_a_map_of_maps(call: Call) -> str | None:
    if pt.is_map(call.arguments[0].type):
        return no_maps(Call("", (Literal(None, call.arguments[0].type.key_type),), call.type))
    return None


@kernel("element_at", refuse=_not_a_map_of_maps)
def element_at(call: Call, value: Value, index: Value) -> Value:
    """Of an array: from 1, or from the end for negative indices. Of a map: the value of a key, or NULL.

    Beyond the end of an array: the option defaultValueOutOfBound, with which Spark writes split_part.
    """
    if pt.is_map(value.type):
        return get_map_value(call, value, index)
    numbers = vector(index)
    if (zero := (numbers.values == 0) & (True if numbers.valid is None else numbers.valid)).any():
        row = int(np.argmax(zero))
        raise EvaluationError(
            "INVALID_INDEX_OF_ZERO", "element_at counts from 1; there is no element 0.", row
        )

    def position(index: Numbers, lengths: Numbers) -> Numbers:
        return np.where(index > 0, index - 1, index + lengths)

    return _element(call, value, index, position, "INVALID_ARRAY_INDEX_IN_ELEMENT_AT")


def _element(
    call: Call,
    value: Value,
    index: Value,
    position: Callable[[Numbers, Numbers], Numbers],
    condition: str,
) -> Value:
    """position(index, length): where the element is, counted from 0."""
    rows = _rows(value, index)
    array = _array(value, rows)
    indices = vector(index)
    starts, lengths, elements = list_ranges(array)
    places = position(indices.values.astype(np.int64), lengths)
    default = call.option("defaultValueOutOfBound")
    there: Mask = validity(array) & (True if indices.valid is None else indices.valid)
    inside = (places >= 0) & (places < lengths)
    if mode(call) == ANSI and (outside := there & ~inside).any():
        row = int(np.argmax(outside))
        shown = int(indices.values[0 if indices.is_constant else row])
        raise EvaluationError(
            condition, f"no element {shown} in an array of {lengths[row]}. Use get() or try_element_at.", row
        )
    found = pa.array(np.where(there & inside, starts + places, 0), mask=~(there & inside))
    taken = elements.take(found)
    if default is not None:
        taken = pc.if_else(pa.array(there & ~inside), pa.scalar(default, taken.type), taken)
    return _same_shape(taken, rows)


@kernel("array_contains", refuse=no_maps)
def array_contains(call: Call, value: Value, wanted: Value) -> Value:
    """Whether an element equals; NULL if none does and one is NULL."""
    rows = _rows(value, wanted)
    array = _array(value, rows)
    starts, lengths, elements = list_ranges(array)
    owner, element = expand_ranges(starts, starts + lengths)
    needle = _array(wanted, rows)
    same = equal(elements.take(int64_array(element)), needle.take(int64_array(owner)))
    found = np.zeros(len(array), dtype=np.bool_)
    unknown = np.zeros(len(array), dtype=np.bool_)
    found[owner[is_true(same)]] = True
    unknown[owner[~validity(same)]] = True
    null = (unknown & ~found) | ~validity(array) | ~validity(needle)
    return _same_shape(pa.array(found, mask=null), rows)


@kernel("elt")
def elt(call: Call, index: Value, *values: Value) -> Value:
    """The value of that number, from 1; beyond the last an error, or NULL without option failOnError."""
    rows = _rows(index, *values)
    columns = [retyped(_array(value, rows), call.type) for value in values]
    wanted = vector(_array(index, rows))
    inside = (wanted.values >= 1) & (wanted.values <= len(columns))
    if call.option("failOnError"):
        require(
            inside, "INVALID_ARRAY_INDEX", lambda row: f"elt has no argument {wanted.values[row]}", wanted
        )
    count = len(wanted.values)
    place = np.where(inside, (wanted.values.astype(np.int64) - 1) * count + np.arange(count), 0)
    missing = ~inside if wanted.valid is None else ~(inside & wanted.valid)
    return _same_shape(pa.concat_arrays(columns).take(pa.array(place, mask=missing)), rows)


# --- maps


@kernel("get_map_value", refuse=_not_a_map_of_maps)
def get_map_value(call: Call, value: Value, key: Value) -> Value:
    """The value of the key, NULL if there is none."""
    rows = _rows(value, key)
    array = _array(value, rows)
    starts, lengths, entries = list_ranges(array)
    keys, values = child_arrays(entries)
    owner, element = expand_ranges(starts, starts + lengths)
    same = equal(keys.take(int64_array(element)), _array(key, rows).take(int64_array(owner)))
    hits = np.flatnonzero(is_true(same))[::-1]  # of several the first
    place = np.full(len(array), -1, dtype=np.int64)
    place[owner[hits]] = element[hits]
    return _same_shape(values.take(pa.array(np.maximum(place, 0), mask=place < 0)), rows)
