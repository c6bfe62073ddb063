"""JSON as variants: the bytes that Spark's `parse_json` writes.

A value is what Python's `json` makes of a text, but Decimal for a number of a fraction without an exponent.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from dbsp.circuits.columns.variants.binary import (
    ARRAY,
    DECIMALS,
    DIGITS,
    DOUBLE,
    FALSE,
    FLOATS,
    INTEGERS,
    LARGE,
    LONGEST_SHORT,
    NULL,
    OBJECT,
    PRIMITIVE,
    SHORT,
    TEXT,
    TRUE,
    VERSION,
    width,
)
from dbsp.circuits.columns.variants.type import Variant


def parsed(text: str) -> Variant:
    """Raises ValueError for what is no JSON, or has a key twice."""
    return variant_of(json.loads(text, parse_float=_number, object_pairs_hook=_unique, parse_constant=_none))


def variant_of(value: Any) -> Variant:
    """Of a value of JSON. Raises ValueError."""
    ids: dict[str, int] = {}
    written = _written(value, ids)
    keys = [key.encode() for key in ids]
    size = width(max(sum(map(len, keys)), len(keys)))
    return Variant(
        written,
        b"".join(
            [
                bytes([VERSION | size - 1 << 6]),
                len(keys).to_bytes(size, "little"),
                _offsets([len(key) for key in keys], size),
                *keys,
            ]
        ),
    )


def _number(text: str) -> Decimal | float:
    return float(text) if "e" in text or "E" in text else Decimal(text)


def _none(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object has a key twice")
    return made


def _written(value: Any, ids: dict[str, int]) -> bytes:
    """ids: of the keys so far, in the order in which they were met."""
    if value is None or isinstance(value, bool):
        return _headed(NULL if value is None else TRUE if value else FALSE, b"")
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _headed(DOUBLE, FLOATS[DOUBLE].pack(value))
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, str):
        data = value.encode()
        if len(data) <= LONGEST_SHORT:
            return bytes([len(data) << 2 | SHORT]) + data
        return _headed(TEXT, len(data).to_bytes(4, "little") + data)
    if isinstance(value, dict):
        return _object(value, ids)
    if isinstance(value, list | tuple):
        items = [_written(item, ids) for item in value]
        size = width(sum(map(len, items)))
        count_size = 4 if len(items) > LARGE else 1
        head = bytes([(int(count_size > 1) << 2 | size - 1) << 2 | ARRAY])
        offsets = _offsets([len(item) for item in items], size)
        return b"".join([head, len(items).to_bytes(count_size, "little"), offsets, *items])
    raise ValueError(f"{type(value).__name__} is no value of JSON")


def _object(value: dict[str, Any], ids: dict[str, int]) -> bytes:
    """Values in the order given, and fields in that of their keys' UTF-16."""
    numbers, starts, items, end = [], [], [], 0
    for key, item in value.items():
        numbers.append(ids.setdefault(key, len(ids)))
        items.append(_written(item, ids))
        starts.append(end)
        end += len(items[-1])
    order = sorted(range(len(items)), key=lambda i, keys=list(value): keys[i].encode("utf-16-be"))  # type: ignore[misc]
    id_size, size = width(max(numbers, default=0)), width(end)
    count_size = 4 if len(items) > LARGE else 1
    return b"".join(
        [
            bytes([(int(count_size > 1) << 4 | id_size - 1 << 2 | size - 1) << 2 | OBJECT]),
            len(items).to_bytes(count_size, "little"),
            *(numbers[i].to_bytes(id_size, "little") for i in order),
            *(starts[i].to_bytes(size, "little") for i in order),
            end.to_bytes(size, "little"),
            *items,
        ]
    )


def _offsets(lengths: list[int], size: int) -> bytes:
    """Where each begins, and where the last one ends."""
    ends = [0]
    for length in lengths:
        ends.append(ends[-1] + length)
    return b"".join(end.to_bytes(size, "little") for end in ends)


def _headed(kind: int, content: bytes) -> bytes:
    return bytes([kind << 2 | PRIMITIVE]) + content


def _integer(value: int) -> bytes:
    for kind, size in INTEGERS.items():
        if -(1 << size * 8 - 1) <= value < 1 << size * 8 - 1:
            return _headed(kind, value.to_bytes(size, "little", signed=True))
    return _decimal(Decimal(value))


def _decimal(value: Decimal) -> bytes:
    """Of at most 38 digits; else the nearest double."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent > 0:
        return _headed(DOUBLE, FLOATS[DOUBLE].pack(float(value)))
    unscaled, scale = int("".join(map(str, digits))), -exponent
    for kind, most in DIGITS.items():
        if len(str(unscaled)) <= most and scale <= most:
            size = DECIMALS[kind]
            number = (-unscaled if sign else unscaled).to_bytes(size, "little", signed=True)
            return _headed(kind, bytes([scale]) + number)
    return _headed(DOUBLE, FLOATS[DOUBLE].pack(float(value)))
