"""A default, which a schema has as JSON, as the message would have it: then it is read as any value is."""

from __future__ import annotations

import struct
from typing import Any

from dbsp.circuits.errors import Error
from dbsp.rows.avro.schema import Array, Enum, Map, Node, Record, Schema, Simple, Union


def spelled_default(schema: Schema, node: Node, value: Any) -> bytes:
    """Raises Error where the value isn't of the type."""
    try:
        return _spelled(schema, schema.of(node), value)
    except (TypeError, ValueError, KeyError, AttributeError, struct.error, OverflowError):
        raise Error(
            f"the Avro schema can't be read: a default {value!r} is not of its field's type"
        ) from None


def _spelled(schema: Schema, node: Node, value: Any) -> bytes:
    if isinstance(node, Union):
        for i, branch in enumerate(node.branches):
            try:
                return long(i) + _spelled(schema, schema.of(branch), value)
            except (TypeError, ValueError, KeyError, AttributeError, struct.error, OverflowError):
                continue
        raise ValueError
    if isinstance(node, Record):
        return b"".join(
            _spelled(schema, schema.of(part.type), value.get(part.name, part.default)) for part in node.fields
        )
    if isinstance(node, Enum):
        return long(node.symbols.index(value))
    if isinstance(node, Array):
        items = b"".join(_spelled(schema, schema.of(node.items), each) for each in value)
        return long(len(value)) + items + (b"\0" if value else b"")
    if isinstance(node, Map):
        text = Simple("string")
        parts = ((text, node.values)[i] for _ in value for i in (0, 1))
        flat = (each for pair in value.items() for each in pair)
        items = b"".join(_spelled(schema, schema.of(of), each) for of, each in zip(parts, flat, strict=True))
        return long(len(value)) + items + (b"\0" if value else b"")
    assert isinstance(node, Simple)
    return _simple(node, value)


def _simple(node: Simple, value: Any) -> bytes:
    kind = node.kind
    if kind == "null":
        if value is not None:
            raise ValueError
        return b""
    if kind == "boolean":
        return b"\1" if {True: True, False: False}[value] else b"\0"
    if kind in ("int", "long"):
        most = 1 << (31 if kind == "int" else 63)
        if not isinstance(value, int) or isinstance(value, bool) or not -most <= value < most:
            raise TypeError
        return long(value)
    if kind in ("float", "double"):
        return struct.pack("<f" if kind == "float" else "<d", value)
    if not isinstance(value, str):
        raise TypeError
    data = value.encode() if kind == "string" else value.encode("latin-1")
    return data if kind == "fixed" else long(len(data)) + data


def long(number: int) -> bytes:
    """A number as Avro writes it: its sign last, seven bits a byte."""
    left = (number << 1) ^ (number >> 63)
    parts = bytearray()
    while left > 0x7F:
        parts.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*parts, left])
