"""The messages of PostgreSQL's protocol 3.0, as bytes: those of a client are read, a server's are made.

Source: PostgreSQL 17 documentation, chapter 53, "Frontend/Backend Protocol".
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from dbsp.circuits.errors import Error

# bytes of a message of a client that has begun, as of a request over HTTP; of one that hasn't
LARGEST, FIRST = 64 << 20, 10_000
# what a connection may begin with
PROTOCOL, CANCEL, TLS, GSS = 196608, 80877102, 80877103, 80877104


class BadMessage(Error):
    """What no client of the protocol sends: the connection ends."""


class Reader:
    """The fields of a message, one after the other. Raises BadMessage where one isn't there."""

    def __init__(self, payload: bytes) -> None:
        self._payload, self._at = payload, 0

    def taken(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._payload):
            raise BadMessage("a message ends within a field")
        self._at += count
        return self._payload[self._at - count : self._at]

    def int16(self) -> int:
        return int.from_bytes(self.taken(2), "big", signed=True)

    def int32(self) -> int:
        return int.from_bytes(self.taken(4), "big", signed=True)

    def int16s(self) -> list[int]:
        """A list, after how many there are."""
        return [self.int16() for _ in range(self.int16())]

    def string(self) -> str:
        end = self._payload.find(b"\0", self._at)
        if end < 0:
            raise BadMessage("a text has no end")
        found = self.taken(end - self._at)
        self._at += 1
        try:
            return found.decode()
        except UnicodeDecodeError:
            raise BadMessage("a text is no UTF-8") from None

    def value(self) -> bytes | None:
        """With its length before it; None: NULL."""
        count = self.int32()
        return None if count == -1 else self.taken(count)

    @property
    def size(self) -> int:
        """Of all of it, in bytes."""
        return len(self._payload)

    @property
    def rest(self) -> bytes:
        return self.taken(len(self._payload) - self._at)

    @property
    def is_over(self) -> bool:
        return self._at >= len(self._payload)


async def read_first(reader: asyncio.StreamReader) -> tuple[int, Reader]:
    """What a connection begins with: its code, and what follows."""
    size, code = struct.unpack("!ii", await reader.readexactly(8))
    if not 8 <= size <= FIRST:
        raise BadMessage("no message of PostgreSQL's protocol")
    return code, Reader(await reader.readexactly(size - 8))


async def read_message(reader: asyncio.StreamReader, largest: int = LARGEST) -> tuple[bytes, Reader]:
    """A message: its kind, and its fields. largest: bytes that it may have."""
    kind = await reader.readexactly(1)
    size = int.from_bytes(await reader.readexactly(4), "big", signed=True)
    if not 4 <= size <= largest:
        raise BadMessage(
            f"a message has 4 to {largest:,} bytes, not {size:,}; send what is larger in several"
        )
    return kind, Reader(await reader.readexactly(size - 4))


@dataclass(frozen=True)
class Field:
    """A column of an answer. oid, size, modifier: of its type; -1: the size varies, there is no modifier."""

    name: str
    oid: int
    size: int = -1
    modifier: int = -1


def message(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return kind + (len(body) + 4).to_bytes(4, "big") + body


def text(value: str) -> bytes:
    return value.replace("\0", "").encode() + b"\0"


def row_description(fields: Iterable[Field], formats: list[int]) -> bytes:
    """formats: 0 text, 1 binary; of each column."""
    parts = [
        text(field.name) + struct.pack("!ihihih", 0, 0, field.oid, field.size, field.modifier, form)
        for field, form in zip(fields, formats, strict=True)
    ]
    return message(b"T", len(parts).to_bytes(2, "big"), *parts)


def parameter_description(oids: list[int]) -> bytes:
    return message(b"t", struct.pack(f"!h{len(oids)}i", len(oids), *oids))


def copy_out(columns: int, form: int) -> bytes:
    """form: 0 text or CSV, 1 binary."""
    return message(b"H", struct.pack(f"!bh{columns}h", form, columns, *[form] * columns))


def copy_in(columns: int, form: int) -> bytes:
    return message(b"G", struct.pack(f"!bh{columns}h", form, columns, *[form] * columns))


def error(code: str, said: str, position: int = 0) -> bytes:
    """code: SQLSTATE. position: in the client's text, from 1; 0: nowhere."""
    return _said(b"E", "ERROR", code, said, position)


def fatal(code: str, said: str) -> bytes:
    return _said(b"E", "FATAL", code, said)


def warning(code: str, said: str) -> bytes:
    return _said(b"N", "WARNING", code, said)


def notice(said: str) -> bytes:
    return _said(b"N", "NOTICE", "00000", said)


def _said(kind: bytes, severity: str, code: str, said: str, position: int = 0) -> bytes:
    parts = (b"S", text(severity), b"V", text(severity), b"C", text(code), b"M", text(said))
    where = (b"P", text(str(position))) if position else ()
    return message(kind, *parts, *where, b"\0")


def complete(tag: str) -> bytes:
    return message(b"C", text(tag))


def authentication(code: int, said: bytes = b"") -> bytes:
    """code: 10 the mechanisms that there are, 11 and 12 what one of them says."""
    return message(b"R", code.to_bytes(4, "big"), said)


def status(name: str, value: str) -> bytes:
    return message(b"S", text(name), text(value))


def key_data(process: int, secret: int) -> bytes:
    return message(b"K", struct.pack("!II", process, secret))


def ready(transaction: str) -> bytes:
    """transaction: I none, T within one, E within one that failed."""
    return message(b"Z", transaction.encode())


AUTHENTICATED = message(b"R", b"\0\0\0\0")
PARSED, BOUND, CLOSED = message(b"1"), message(b"2"), message(b"3")
NO_DATA, EMPTY, SUSPENDED, COPIED = message(b"n"), message(b"I"), message(b"s"), message(b"c")
