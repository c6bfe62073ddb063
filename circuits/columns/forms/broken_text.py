"""Strings whose bytes are no UTF-8. Spark's casts from BINARY check nothing, so there are such strings.

Spark does with them what UTF8String does: some functions count and cut characters by their first bytes, the
others see a Java string, in which U+FFFD stands for what can't be decoded. Here kernels of Arrow refuse such
bytes, or Python does: then they run over text in their place.

    by characters    f(x) = unwrapped(f(wrapped(x)))     wrapped: a private character for each broken one
    as Java strings  f(x) = f(decoded(x))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays

Value: TypeAlias = pa.Array | pa.Scalar
_PRIVATE = 0xF0000


def is_broken(value: Value) -> bool:
    """Whether a string of the column isn't UTF-8."""
    array = pa.repeat(value, 1) if isinstance(value, pa.Scalar) else value
    if not pt.is_string(array.type) and not pt.is_nested(array.type):
        return False
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return True
    return False


def decoded(value: Value) -> Value:
    """The column with U+FFFD for what can't be decoded, as in Java; also inside of others."""
    return _changed(value, lambda data: data.decode(errors="replace"))


def listed(values: pa.Array | pa.RecordBatch) -> list[Any]:
    """As Python's values, which text has to be UTF-8 for."""
    try:
        found: list[Any] = values.to_pylist()
    except UnicodeDecodeError:
        if isinstance(values, pa.Array):
            found = decoded(values).to_pylist()
        else:
            columns = [decoded(column) for column in values.columns]
            found = pa.RecordBatch.from_arrays(columns, schema=values.schema).to_pylist()
    return found


class Wrapping:
    """Broken characters and the private ones that stand for them, in one call. by_byte: each byte is one."""

    def __init__(self, by_byte: bool = False) -> None:
        self._by_byte = by_byte
        self._of: dict[bytes, str] = {}

    def wrapped(self, value: Value) -> Value:
        return _changed(value, self._wrap)

    def unwrapped(self, value: Value) -> Value:
        """The inverse, of what a function made of the wrapped text."""
        if not self._of:
            return value
        bytes_of = {ord(character): data for data, character in self._of.items()}

        def unwrap(data: bytes) -> bytes:
            return b"".join(bytes_of.get(ord(each), each.encode()) for each in data.decode())

        return _changed(value, unwrap)

    def _wrap(self, data: bytes) -> str:
        made, at = [], 0
        while at < len(data):
            character = data[at : at + _width(data[at])]
            try:
                made.append(character.decode())
            except UnicodeDecodeError:
                character = character[:1] if self._by_byte else character
                made.append(self._of.setdefault(character, chr(_PRIVATE + len(self._of))))
            at += len(character)
        return "".join(made)


def _width(first: int) -> int:
    """How many bytes a character has by its first, as UTF8String counts."""
    if first < 0xC2 or first > 0xF4:
        return 1
    return 2 if first < 0xE0 else 3 if first < 0xF0 else 4


def _changed(value: Value, change: Callable[[bytes], str | bytes]) -> Value:
    """The strings changed, each distinct one once."""
    if isinstance(value, pa.Scalar):
        return _changed(pa.repeat(value, 1), change)[0]
    data_type = value.type
    if pt.is_string(data_type):
        encoded = value.view(pa.binary()).dictionary_encode()
        made = [change(data) for data in encoded.dictionary.to_pylist()]
        texts = pa.array([m.encode() if isinstance(m, str) else m for m in made], pa.binary())
        return texts.take(encoded.indices).view(data_type)
    if not pt.is_nested(data_type):
        return value
    if value.offset:
        value = pa.concat_arrays([value.slice(0, 0), value])
    mask = pa.array(~np.asarray(value.is_valid())) if value.null_count else None
    if pt.is_struct(data_type):
        fields = [_changed(child, change) for child in child_arrays(value)]
        return pa.StructArray.from_arrays(fields, fields=list(data_type), mask=mask)
    if pt.is_map(data_type):
        keys, items = _changed(value.keys, change), _changed(value.items, change)
        return pa.MapArray.from_arrays(value.offsets, keys, items, data_type, mask=mask)
    return pa.ListArray.from_arrays(value.offsets, _changed(value.values, change), data_type, mask=mask)
