"""The values of parameters, as a client binds them: of a type that it names or of none, in text or binary."""

from __future__ import annotations

import re
import struct
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from dbsp.circuits.errors import DataError
from dbsp.serving.postgres.language.literals import constants, intervals
from dbsp.serving.postgres.language.spelling import literal
from dbsp.serving.postgres.language.types import (
    BOOL,
    BPCHAR,
    BYTEA,
    DATE,
    DAY,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    INTERVAL,
    JSON,
    JSONB,
    NAME,
    NUMERIC,
    OID,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TIMETZ,
    TYPES,
    UUID,
    VARCHAR,
)

# what a client that names no type means: what stands there
UNKNOWN = 0
UNKNOWN_TEXT = 705
# arrays that tools give to the catalogue
_ARRAYS = {1009: TEXT, 1015: VARCHAR, 1016: INT8, 1007: INT4, 1005: INT2, 1028: OID, 1003: NAME}
_TEXTS = frozenset({UNKNOWN, TEXT, NAME, VARCHAR, BPCHAR, UNKNOWN_TEXT, JSON, JSONB, UUID})
_SUFFIXES = {INT2: "S", INT4: "", OID: "L", INT8: "L"}
_UNPACKED = {INT2: "!h", INT4: "!i", INT8: "!q", OID: "!I", FLOAT4: "!f", FLOAT8: "!d"}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NULLS = {INTERVAL: "INTERVAL DAY TO SECOND", TIMETZ: "TIME", OID: "BIGINT", UUID: "STRING", JSONB: "STRING"}
_MIDNIGHT = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Value:
    """oid: of its type. text: as PostgreSQL writes it; None: NULL."""

    oid: int
    text: str | None

    @property
    def is_text(self) -> bool:
        return self.oid in _TEXTS

    @property
    def spark(self) -> str:
        """As a literal of Spark SQL. Raises DataError."""
        text = self.text
        if text is None:
            return self._null()
        if self.is_text:
            return literal(text)
        if self.oid in _SUFFIXES:
            return f"({self._integer(text)}{_SUFFIXES[self.oid]})"
        if self.oid == NUMERIC:
            return constants.numeric(text)
        if self.oid == BOOL:
            return "TRUE" if text.lower() in ("t", "true", "1", "on", "yes") else "FALSE"
        if self.oid == BYTEA:
            return constants.bytea(text)
        if self.oid in (TIME, TIMETZ):
            return constants.time(text)
        if self.oid == INTERVAL:
            return intervals.interval(text)
        if self.oid in (FLOAT4, FLOAT8, DATE, TIMESTAMP, TIMESTAMPTZ):
            return f"CAST({literal(text)} AS {TYPES[self.oid].spark})"
        raise DataError(f"a parameter of type number {self.oid} can't be used in a query; cast it to text")

    def _null(self) -> str:
        name = _NULLS.get(self.oid) or (TYPES[self.oid].spark if self.oid in TYPES else None)
        return "NULL" if name is None else f"CAST(NULL AS {name})"

    def _integer(self, text: str) -> str:
        if not _INTEGER.fullmatch(text):
            raise DataError(f"'{text[:40]}' is no number")
        return text

    @property
    def plain(self) -> str:
        """As a literal of standard SQL, for the catalogue."""
        if self.text is None:
            return "NULL"
        if self.oid in _ARRAYS:
            inner = self.text.strip("{}")
            return f"ARRAY[{', '.join(_quoted(one.strip(chr(34))) for one in inner.split(',') if one)}]"
        return _quoted(self.text)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def values_of(oids: Sequence[int], formats: Sequence[int], given: Sequence[bytes | None]) -> list[Value]:
    """Of what was bound: formats for each, one for all, or none for text. Raises DataError."""
    if len(formats) not in (0, 1, len(given)):
        raise DataError(f"{len(formats)} formats for {len(given)} parameters")
    found = []
    for i, value in enumerate(given):
        oid = oids[i] if i < len(oids) else UNKNOWN
        form = 0 if not formats else formats[0] if len(formats) == 1 else formats[i]
        try:
            text = None if value is None else _from_binary(oid, value) if form else _from_text(oid, value)
        except (UnicodeDecodeError, struct.error, OverflowError):
            raise DataError(f"parameter ${i + 1} is no value of type number {oid}") from None
        found.append(Value(oid, text))
    return found


def _from_text(oid: int, value: bytes) -> str:
    text = value.decode()
    return constants.uuid_said(text) if oid == UUID else text


def _from_binary(oid: int, value: bytes) -> str:
    if oid in _READ:
        return _READ[oid](value)
    if oid in _TEXTS:
        return value.decode()
    if oid in _UNPACKED:
        (number,) = struct.unpack(_UNPACKED[oid], value)
        return repr(number)
    if oid == DATE:
        (days,) = struct.unpack("!i", value)
        return str(date(2000, 1, 1) + timedelta(days))
    if oid in (TIME, TIMETZ):
        (microseconds,) = struct.unpack("!q", value if oid == TIME else value[:8])  # then the offset
        if not 0 <= microseconds < DAY:  # PostgreSQL has 24:00, too
            raise OverflowError
        return str((_MIDNIGHT + timedelta(microseconds=microseconds)).time())
    if oid in (TIMESTAMP, TIMESTAMPTZ):
        (microseconds,) = struct.unpack("!q", value)
        moment = (_MIDNIGHT + timedelta(microseconds=microseconds)).isoformat(" ")
        return moment if oid == TIMESTAMPTZ else moment.removesuffix("+00:00")
    if oid in _ARRAYS:
        return _array(oid, value)
    raise DataError(f"a parameter of type number {oid} can't be read in binary; send it as text")


def _numeric(value: bytes) -> str:
    count, place, sign, scale = struct.unpack("!hhHh", value[:8])
    groups = struct.unpack(f"!{count}h", value[8 : 8 + 2 * count])
    if sign not in (0, 0x4000):
        raise DataError("NaN and infinity are no DECIMAL")
    whole = 0
    for group in groups:
        whole = whole * 10_000 + group
    exponent = 4 * (place + 1 - count)
    digits = str(
        whole * 10 ** (exponent + scale) if exponent + scale >= 0 else whole // 10 ** -(exponent + scale)
    )
    digits = digits.rjust(scale + 1, "0")
    shown = f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits
    return f"-{shown}" if sign else shown


def _uuid(value: bytes) -> str:
    if len(value) != 16:
        raise OverflowError
    return str(uuid.UUID(bytes=value))


_READ: dict[int, Callable[[bytes], str]] = {
    BOOL: lambda value: "t" if value != b"\0" else "f",
    BYTEA: lambda value: "\\x" + value.hex(),
    INTERVAL: intervals.from_binary,
    JSONB: lambda value: value[1:].decode(),  # after the version of its format
    NUMERIC: _numeric,
    UUID: _uuid,
}


def _array(oid: int, value: bytes) -> str:
    dimensions, _, _ = struct.unpack("!iii", value[:12])
    if dimensions > 1:
        raise DataError("an array of arrays can't be read; send it as text")
    at, found = 12 + 8 * dimensions, []
    while at < len(value):
        (size,) = struct.unpack("!i", value[at : at + 4])
        at += 4
        found.append("NULL" if size < 0 else _from_binary(_ARRAYS[oid], value[at : at + size]))
        at += max(size, 0)
    return "{" + ",".join(f'"{one}"' for one in found) + "}"
