"""NumPy views of Arrow arrays, without copying."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.variants.type import VARIANT

# by type id: asking a type what it is, one question after the other, costs more than a small delta's work
_DTYPES = {
    pa.bool_().id: np.dtype(np.bool_),
    pa.float32().id: np.dtype(np.float32),
    pa.float64().id: np.dtype(np.float64),
    pa.decimal128(1).id: np.dtype("V16"),
    **{
        getattr(pa, f"{name}{bits}")().id: np.dtype(f"{name}{bits}")
        for name in ("int", "uint")
        for bits in (8, 16, 32, 64)
    },
    **{kind.id: np.dtype(np.int32) for kind in (pa.date32(), pa.time32("s"))},
    **{
        kind.id: np.dtype(np.int64)
        for kind in (pa.date64(), pa.time64("us"), pa.timestamp("us"), pa.duration("us"))
    },
}
_BOOLEAN = pa.bool_().id
# `array.take` looks the function up and makes options, each time: of few rows that is most of what it takes
_TAKE, _TAKE_OPTIONS = pc.get_function("take"), pc.TakeOptions()
_NAMES = {
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.date32(): "DATE",
    pa.timestamp("us", "UTC"): "TIMESTAMP",
    pa.timestamp("us"): "TIMESTAMP_NTZ",
    pa.time64("ns"): "TIME",
    pa.duration("us"): "INTERVAL DAY TO SECOND",
    pa.duration("s"): "INTERVAL YEAR TO MONTH",
}


def type_name(type: pa.DataType) -> str:
    """A type of numbers or times as people spell it, for messages."""
    if pt.is_decimal128(type):
        return f"DECIMAL({type.precision},{type.scale})"
    return _NAMES.get(type, "VARIANT" if type == VARIANT else str(type))


def validity(array: pa.Array) -> np.ndarray:
    """bool[n]: True where the value isn't NULL."""
    return np.asarray(pc.is_valid(array).to_numpy(zero_copy_only=False), dtype=np.bool_)


def is_true(array: pa.Array) -> np.ndarray:
    """bool[n]: True where a boolean is, False where it is NULL."""
    filled = pc.fill_null(array, False) if array.null_count else array
    return np.asarray(filled.to_numpy(zero_copy_only=False), dtype=np.bool_)


def every(mask: np.ndarray) -> bool:
    """Whether all of bool[n] are true. Of few, `mask.all()` takes ten times as long."""
    return bool(np.count_nonzero(mask) == len(mask))


def fixed_values(array: pa.Array) -> np.ndarray:
    """The values of a fixed-width array; anything where NULL, but of booleans False.

    Dates, timestamps, durations: integers. decimal128: bytes, as `V16[n]`.
    """
    data_type = array.type.id
    if data_type == _BOOLEAN:
        return is_true(array)
    dtype, count, buffer = _DTYPES[data_type], len(array), array.buffers()[1]
    if buffer is None or not count:
        return np.zeros(count, dtype)
    return np.frombuffer(buffer, dtype, count, array.offset * dtype.itemsize)


def from_fixed_values(values: np.ndarray, data_type: pa.DataType, null: np.ndarray | None = None) -> pa.Array:
    """The inverse of `fixed_values`, over the same memory, NULL where `null` says so. Not for booleans."""
    bits = None
    if null is not None and np.count_nonzero(null):
        bits = pa.py_buffer(np.packbits(~null, bitorder="little"))
    return pa.Array.from_buffers(data_type, len(values), [bits, pa.py_buffer(np.ascontiguousarray(values))])


def decimal_words(array: pa.Array) -> np.ndarray:
    """int64[n, 2]: the low and the high half of a decimal128's unscaled value; anything where NULL."""
    return fixed_values(array).view(np.int64).reshape(-1, 2)


def from_unscaled(values: np.ndarray, data_type: pa.DataType, null: np.ndarray | None = None) -> pa.Array:
    """A decimal128 array from its unscaled values of 64 bits, NULL where `null` says so."""
    words = np.empty((len(values), 2), np.int64)
    words[:, 0] = values
    words[:, 1] = words[:, 0] >> 63
    return from_fixed_values(words, data_type, null)


def is_fixed(data_type: pa.DataType) -> bool:
    """True for the types of `fixed_values`."""
    return data_type.id in _DTYPES


def child_arrays(array: pa.Array) -> list[pa.Array]:
    """The fields of a struct (offset applied), or the elements of a list or map (offset not applied)."""
    if pt.is_struct(array.type):
        return [array.field(i) for i in range(array.type.num_fields)]
    if pt.is_map(array.type):
        return [pa.StructArray.from_arrays([array.keys, array.items], names=["key", "value"])]
    return [array.values]


def retyped(value: pa.Array | pa.Scalar, data_type: pa.DataType) -> pa.Array | pa.Scalar:
    """The value as one of `data_type`. Fields of structs are those of the same place, by whatever name."""
    if value.type == data_type:
        return value
    if isinstance(value, pa.Scalar):
        return (
            retyped(pa.repeat(value, 1), data_type)[0] if pt.is_nested(data_type) else value.cast(data_type)
        )
    if not pt.is_nested(data_type) or pt.is_null(value.type):
        return value.cast(data_type)
    if value.offset:  # Arrow takes a mask, and child arrays, only where they start at 0
        value = pa.concat_arrays([value.slice(0, 0), value]) if len(value) else pa.array([], value.type)
    mask = pc.is_null(value) if value.null_count else None
    if pt.is_struct(data_type):
        fields = [
            retyped(child, field.type) for child, field in zip(child_arrays(value), data_type, strict=True)
        ]
        return pa.StructArray.from_arrays(fields, fields=list(data_type), mask=mask)
    if pt.is_map(data_type):
        keys, items = retyped(value.keys, data_type.key_type), retyped(value.items, data_type.item_type)
        return pa.MapArray.from_arrays(value.offsets, keys, items, data_type, mask=mask)
    return pa.ListArray.from_arrays(
        value.offsets, retyped(value.values, data_type.value_type), data_type, mask=mask
    )


def int64_array(values: np.ndarray) -> pa.Array:
    """int64[n] as an Arrow array over the same memory."""
    assert values.dtype == np.int64, values.dtype
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])


def take(rows: pa.RecordBatch, indices: np.ndarray) -> pa.RecordBatch:
    """The rows at int64 positions; keeps the schema."""
    return _TAKE.call([rows, positions_of(indices)], _TAKE_OPTIONS)


def take_values(column: pa.Array, positions: pa.Array) -> pa.Array:
    """The values at `positions_of` some indices."""
    return _TAKE.call([column, positions], _TAKE_OPTIONS)


def positions_of(indices: np.ndarray) -> pa.Array:
    """int64 positions for `take_values`, of several columns."""
    return int64_array(np.ascontiguousarray(indices, dtype=np.int64))


def spread(values: pa.Array, at: np.ndarray, count: int) -> pa.Array:
    """Of `count` values those at ascending positions at[n] are these, and the others NULL."""
    if len(at) == count:
        return values
    place = np.full(count, -1, dtype=np.int64)
    place[at] = np.arange(len(at))
    return values.take(pa.array(place, mask=place < 0))


def concat(schema: pa.Schema, batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """All rows of batches of one schema (field names may differ), as one batch of `schema`."""
    if not batches:
        return empty(schema)
    if all(batch.schema.equals(schema) for batch in batches):
        return pa.concat_batches(batches) if len(batches) > 1 else batches[0]
    columns = [
        pa.concat_arrays([batch.column(i) for batch in batches]) if len(batches) > 1 else batches[0].column(i)
        for i in range(len(schema))
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@lru_cache(maxsize=4096)
def empty(schema: pa.Schema) -> pa.RecordBatch:
    """No rows of that schema. To make them of five columns takes 30 times as long as to hash it."""
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
