"""Parts of strings by position: SUBSTRING, the pads, OVERLAY, SUBSTRING_INDEX."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import are_constant, both, per_distinct, strict, vector
from dbsp.circuits.expressions.vectors.utf8 import slice_characters, text_of

_MOST = 2**31 - 1


def _masked(array: pa.Array, *others: Value) -> pa.Array:
    """NULL where one of the others is."""
    mask = both(*(vector(other).valid for other in others))
    return array if mask is None else pc.if_else(pa.array(mask), array, pa.scalar(None, array.type))


@strict("substring")
def substring(call: Call, text: pa.Array, position: Value, length: Value) -> Value:
    """From a 1-based position; 0 is 1, negative ones count from the end and may lie before the beginning."""
    if are_constant(position, length) and pa.types.is_string(text.type):
        begin, count = position.as_py(), length.as_py()
        if count <= 0:
            return pc.utf8_slice_codeunits(text, 0, 0)
        start = begin - 1 if begin > 0 else begin
        stop = None if start + count >= _MOST or start < 0 <= start + count else start + count
        return pc.utf8_slice_codeunits(text, start, stop)
    at, count = vector(position), vector(length)
    size = text_of(text).lengths
    start = np.where(
        at.values > 0, at.values.astype(np.int64) - 1, np.where(at.values < 0, size + at.values, 0)
    )
    return _masked(slice_characters(text, start, start + count.values.astype(np.int64)), position, length)


def _pad(call: Call, text: pa.Array, length: Value, pad: Value, on_left: bool) -> Value:
    """To `length` characters by repeating `pad`; longer texts are cut."""
    if not are_constant(length, pad):
        return per_distinct(lambda a, b, c: _padded(a, b, c, on_left), call.type, text, length, pad)
    want, filler = max(length.as_py(), 0), pad.as_py()
    is_text = pa.types.is_string(text.type)
    cut = pc.utf8_slice_codeunits(text, 0, want) if is_text else pc.binary_slice(text, 0, want)
    size = vector(pc.utf8_length(text) if is_text else pc.binary_length(text)).values
    missing = np.maximum(want - size, 0) if filler else np.zeros(len(text), np.int64)
    lengths, inverse = np.unique(missing, return_inverse=True)
    fillers = pa.array(
        [(filler * (n // len(filler) + 1))[:n] if n else filler[:0] for n in lengths.tolist()], text.type
    )
    padding = fillers.take(pa.array(inverse))
    empty = pa.scalar(filler[:0], text.type)
    return pc.binary_join_element_wise(*((padding, cut) if on_left else (cut, padding)), empty)


def _padded(text: str, length: int, pad: str, on_left: bool) -> str:
    missing = length - len(text)
    if missing <= 0 or not pad:
        return text[: max(length, 0)]
    filler = (pad * (missing // len(pad) + 1))[:missing]
    return filler + text if on_left else text + filler


@strict("string_l_pad")
def pad_left(call: Call, text: pa.Array, length: Value, pad: Value) -> Value:
    return _pad(call, text, length, pad, on_left=True)


@strict("string_r_pad")
def pad_right(call: Call, text: pa.Array, length: Value, pad: Value) -> Value:
    return _pad(call, text, length, pad, on_left=False)


strict("static_invoke.ByteArray.lpad")(pad_left)
strict("static_invoke.ByteArray.rpad")(pad_right)


@strict("overlay")
def overlay(call: Call, text: pa.Array, replacement: Value, position: Value, length: Value) -> Value:
    """The replacement in place of `length` characters (its own length if negative) from `position`."""
    rows = len(text)
    middle = pa.repeat(replacement, rows) if isinstance(replacement, pa.Scalar) else replacement
    at, count = vector(position), vector(length)
    replaced = np.where(count.values < 0, text_of(middle).lengths, count.values)
    size, begin = text_of(text).lengths, at.values.astype(np.int64)
    zero = np.zeros(rows, np.int64)
    head = slice_characters(text, zero, zero + begin - 1)
    after = begin + replaced
    start = np.where(after > 0, after - 1, np.where(after < 0, size + after, 0))
    tail = slice_characters(text, start, np.full(rows, _MOST))
    joined = pc.binary_join_element_wise(
        head, middle, tail, pa.scalar(b"" if text.type == pa.binary() else "", text.type)
    )
    return _masked(joined, position, length)


@strict("substring_index")
def substring_index(call: Call, text: pa.Array, delimiter: Value, count: Value) -> Value:
    """What precedes the count-th delimiter; for a negative count what follows it counted from the end."""
    if are_constant(delimiter, count) and len(delimiter.as_py()) == 1 and count.as_py() > 0:
        parts = pc.split_pattern(text, delimiter.as_py(), max_splits=count.as_py())
        return pc.binary_join(pc.list_slice(parts, 0, count.as_py()), delimiter)
    # Occurrences of longer delimiters may overlap, and from the right Arrow can't drop leading parts.
    return per_distinct(_substring_index, call.type, text, delimiter, count)


def _substring_index(text: str, delimiter: str, count: int) -> str:
    if not delimiter or not count:
        return ""
    if count > 0:
        at = -1
        for _ in range(count):
            at = text.find(delimiter, at + 1)
            if at < 0:
                return text
        return text[:at]
    at = len(text) - len(delimiter) + 1
    for _ in range(-count):
        at = text.rfind(delimiter, 0, at - 1 + len(delimiter)) if at > 0 else -1
        if at < 0:
            return text
    return text[at + len(delimiter) :]
