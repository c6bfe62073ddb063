"""Order-preserving codes: integers that compare as the values do.

    a <= b  ⇒  order_code(a) <= order_code(b)             32 bits, many values share a code
    a <= b  ⇔  order_bits(a) <= order_bits(b)             64 bits, exact, for types of at most 64 bits
    a <= b  ⇒  order_steps(a) <= order_steps(b)           56 bits, exact for times within 1,100 years of 1970

NaN is the greatest of all numbers, as in Spark. A decimal's order bits are its unscaled value.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import decimal_words, fixed_values, from_unscaled
from dbsp.circuits.columns.hashing import byte_ranges

_HALF = np.int64(1 << 55)
_LONG = 18  # digits of a decimal that 64 bits hold


def order_code(array: pa.Array) -> np.ndarray:
    """uint32[n] for an array without NULLs of any ordered type.

    Numbers go through float32 (24 bits of mantissa, so small numbers are exact), timestamps by seconds of
    2²⁰ µs from 1901 to 2038, strings and bytes by their first four bytes. Types without `has_order_code`
    share one.
    """
    data_type = array.type
    if pt.is_string(data_type) or pt.is_binary(data_type):
        return _prefix_code(array)
    if pt.is_boolean(data_type):
        return fixed_values(array).astype(np.uint32)
    if pt.is_timestamp(data_type) or pt.is_duration(data_type):
        seconds = np.clip(fixed_values(array) >> np.int64(20), -(1 << 31), (1 << 31) - 1)
        return np.asarray((seconds + (1 << 31)).astype(np.uint32))
    if pt.is_decimal(data_type):
        values = np.asarray(pc.cast(array, pa.float64()).to_numpy(zero_copy_only=False))
    elif pt.is_floating(data_type) or pt.is_integer(data_type) or pt.is_temporal(data_type):
        values = fixed_values(array).astype(np.float64)
    else:
        return np.zeros(len(array), dtype=np.uint32)
    with np.errstate(over="ignore"):
        singles = values.astype(np.float32) + np.float32(0)  # -0.0 + 0.0 = 0.0
    bits = singles.view(np.uint32)
    code = np.where(bits >> np.uint32(31), ~bits, bits | np.uint32(1 << 31))
    return np.where(np.isnan(singles), np.uint32(0xFFFFFFFF), code)


def has_order_code(data_type: pa.DataType) -> bool:
    """Whether `order_code` tells values of the type apart."""
    return bool(
        has_order_bits(data_type)
        or pt.is_decimal(data_type)
        or pt.is_string(data_type)
        or pt.is_binary(data_type)
    )


def _prefix_code(array: pa.Array) -> np.ndarray:
    """The first four bytes, big-endian, padded with zeros."""
    starts, lengths, data = byte_ranges(array)
    code = np.zeros(len(array), dtype=np.uint32)
    for i in range(4):
        there = lengths > i
        code[there] |= data[starts[there] + i].astype(np.uint32) << np.uint32(24 - 8 * i)
    return code


def has_order_bits(data_type: pa.DataType) -> bool:
    """Whether `order_bits` covers the type."""
    return bool(
        pt.is_signed_integer(data_type)
        or pt.is_float32(data_type)
        or pt.is_float64(data_type)
        or pt.is_boolean(data_type)
        or pt.is_temporal(data_type)
        or (pt.is_decimal128(data_type) and data_type.precision <= _LONG)
    )


def order_bits(array: pa.Array) -> np.ndarray:
    """int64[n], for a type of `has_order_bits`; anything where NULL. -0.0 codes as 0.0."""
    if pt.is_decimal(array.type):
        return np.ascontiguousarray(decimal_words(array)[:, 0])
    values = fixed_values(array)
    if values.dtype.kind != "f":
        return values.astype(np.int64)
    wide = values.astype(np.float64) + 0.0
    bits = wide.view(np.int64)
    code = np.where(bits < 0, bits ^ np.int64(0x7FFFFFFFFFFFFFFF), bits)
    return np.where(np.isnan(wide), np.int64(0x7FFFFFFFFFFFFFFF), code)


def order_steps(array: pa.Array) -> np.ndarray:
    """uint64[n] below 2⁵⁶, for numbers and times; anything where NULL.

    Integers beyond 55 bits share the code of the greatest or the least; floating point loses its last bits.
    """
    if pt.is_decimal(array.type):
        array = array.cast(pa.float64())
    bits = order_bits(array)
    if pt.is_floating(array.type):
        return (bits.view(np.uint64) ^ np.uint64(1 << 63)) >> np.uint64(8)
    return np.asarray(np.clip(bits, -_HALF, _HALF - 1) + _HALF).view(np.uint64)


def from_order_bits(code: np.ndarray, valid: np.ndarray, data_type: pa.DataType) -> pa.Array:
    """The values of `order_bits`, NULL where not valid."""
    nulls = None if valid.all() else ~valid
    if pt.is_floating(data_type):
        bits = np.where(code < 0, code ^ np.int64(0x7FFFFFFFFFFFFFFF), code)
        values = np.where(code == 0x7FFFFFFFFFFFFFFF, np.nan, bits.view(np.float64))
        return pa.array(values, mask=nulls).cast(data_type, safe=False)
    if pt.is_boolean(data_type):
        return pa.array(code != 0, mask=nulls)
    if pt.is_decimal(data_type):
        return from_unscaled(code, data_type, nulls)
    width = data_type.bit_width
    narrow = pa.array(code.astype(f"int{width}"), mask=nulls)
    return narrow if pt.is_integer(data_type) else narrow.view(data_type)
