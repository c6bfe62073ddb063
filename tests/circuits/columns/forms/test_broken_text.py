"""Text that is no UTF-8: in place of each broken character another, and back, or U+FFFD as in Java."""

from __future__ import annotations

import codecs

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.broken_text import Wrapping, decoded, is_broken, listed

ENDED = [
    b"\xde\xad\xbe\xef", b"abc", b"", b"\xc3b", b"a\xc3\xa9\xff", b"\xe6\x97b\xa5", None,
    b"\xc3", b"\xf0\x9f\x98",
]  # fmt: skip
FRAGMENTS = [
    b"a",
    b"\xc3\xa9",
    b"\xc3",
    b"\xa9",
    b"\xf0\x9f\x98\x80",
    b"\xf0\x9f",
    b"\xff",
    b"\x00",
    b"\xed\xa0\x80",
]
pieces = st.lists(st.sampled_from(FRAGMENTS), max_size=6).map(b"".join)
columns = st.lists(st.one_of(st.none(), pieces), max_size=6)


def text(values: list[bytes | None]) -> pa.Array:
    return pa.array(values, pa.binary()).view(pa.string())


def is_utf8(data: bytes) -> bool:
    try:
        codecs.utf_8_decode(data, "strict", True)
    except UnicodeDecodeError:
        return False
    return True


@given(columns)
def test_broken_is_what_python_cannot_decode(values: list[bytes | None]) -> None:
    broken = not all(is_utf8(value) for value in values if value is not None)
    column = text(values)
    assert is_broken(column) == broken
    assert is_broken(pa.StructArray.from_arrays([column], names=["x"])) == broken
    for value, raw in zip(column, values, strict=True):
        assert is_broken(value) == (raw is not None and not is_utf8(raw))
    assert not is_broken(pa.array(values, pa.binary()))


@given(columns, st.booleans())
def test_each_broken_character_is_one_that_comes_back(values: list[bytes | None], by_byte: bool) -> None:
    wrapping, column = Wrapping(by_byte), text(values)
    wrapped = wrapping.wrapped(column)
    wrapped.validate(full=True)
    assert wrapping.unwrapped(wrapped).equals(column)
    for raw, shown in zip(values, wrapped.to_pylist(), strict=True):
        if raw is not None and is_utf8(raw):
            assert shown == raw.decode()
        elif raw is not None and by_byte:
            assert sum(ord(c) >= 0xF0000 or len(c.encode()) for c in shown) <= len(raw)


@given(columns)
def test_decoded_as_python_does_with_replacement(values: list[bytes | None]) -> None:
    expected = [None if value is None else value.decode(errors="replace") for value in values]
    assert decoded(text(values)).to_pylist() == expected
    assert listed(text(values)) == expected


@pytest.mark.parametrize(
    ("data", "count"),
    [(b"\xe6\x97b", 1), (b"\xffab", 3), (b"\xc3", 1), (b"\xf0\x9f\x98a", 1), (b"\xa9\xa9", 2)],
)
def test_characters_are_counted_by_their_first_bytes(data: bytes, count: int) -> None:
    assert len(Wrapping().wrapped(text([data]))[0].as_py()) == count


def test_wrapping_is_undone() -> None:
    """Also inside of lists and structs, of a slice, and where nothing is broken."""
    broken = pa.array(ENDED, pa.binary()).view(pa.string())
    lists = pa.ListArray.from_arrays(pa.array([0, 2, None, 5, 8], pa.int32()), broken)
    for column in (
        broken,
        broken.slice(3),
        lists,
        lists.slice(1),
        pa.StructArray.from_arrays([broken], names=["x"]),
    ):
        wrapping = Wrapping()
        wrapped = wrapping.wrapped(column)
        wrapped.validate(full=True)
        assert wrapping.unwrapped(wrapped).equals(column)


def test_what_cannot_be_decoded_is_shown() -> None:
    broken = pa.array(ENDED, pa.binary()).view(pa.string())
    assert listed(broken)[:3] == ["ޭ\ufffd\ufffd", "abc", ""]
    assert decoded(broken)[4].as_py() == "aé\ufffd"
    (first, *_) = listed(pa.RecordBatch.from_arrays([broken], names=["x"]))
    assert first == {"x": "ޭ\ufffd\ufffd"}
