"""Messages that aren't whole are refused, whatever their lengths say."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.serving.postgres.wire import FIRST, LARGEST, BadMessage, Reader, error, read_first, read_message


def _read(data: bytes, how: object) -> object:
    async def read() -> object:
        stream = asyncio.StreamReader()
        stream.feed_data(data)
        stream.feed_eof()
        return await how(stream)  # type: ignore[operator]

    return asyncio.run(read())


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for how in (read_first, read_message):
        with suppress(BadMessage, asyncio.IncompleteReadError):
            _read(data, how)
    fields = Reader(data)
    try:
        fields.string(), fields.int16s(), fields.value()
    except BadMessage:
        pass
    else:
        assert len(data) >= 7


def test_lengths_have_bounds() -> None:
    for size in (-1, 3, LARGEST + 1):
        with pytest.raises(BadMessage, match="has 4 to 67,108,864 bytes, not"):
            _read(b"Q" + size.to_bytes(4, "big", signed=True), read_message)
    with pytest.raises(BadMessage, match="has 4 to 10,000 bytes, not 10,001"):
        _read(b"p" + (FIRST + 1).to_bytes(4, "big"), lambda stream: read_message(stream, FIRST))
    with pytest.raises(BadMessage, match="no message of PostgreSQL"):
        _read(b"GET / HTTP/1.1\r\n", read_first)


def test_a_text_has_no_null_byte() -> None:
    assert error("22000", "a\0b").count(b"\0") == error("22000", "ab").count(b"\0")
