"""JSON as Jackson writes it: Python reads it again, and numbers are Java's."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.functions.json.reader import Malformed, Reader
from dbsp.circuits.functions.json.writer import Writer, java_double, quoted
from tests.circuits.functions.json.test_reader import CHARACTERS, documents


@given(st.text(st.sampled_from(CHARACTERS), max_size=8), st.booleans())
def test_quoted(text: str, escape_pairs: bool) -> None:
    found = quoted(text, escape_pairs=escape_pairs)
    assert json.loads(found) == text
    assert not escape_pairs or all(ord(character) < 0x10000 for character in found)


@pytest.mark.parametrize(
    ("text", "pairs", "found"),
    [
        ('a"\\/b', False, '"a\\"\\\\/b"'),
        ("\b\f\n\r\t", False, '"\\b\\f\\n\\r\\t"'),
        ("\x00\x1f", False, '"\\u0000\\u001F"'),
        ("é😀", False, '"é😀"'),
        ("é😀", True, '"é\\uD83D\\uDE00"'),
    ],
)
def test_spelling(text: str, pairs: bool, found: str) -> None:
    assert quoted(text, escape_pairs=pairs) == found


# Double.toString of Java 19 and later
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (0.001, "0.001"), (0.0001, "1.0E-4"),
        (123456.789, "123456.789"),
        (9999999.0, "9999999.0"), (1e7, "1.0E7"), (12345678.9, "1.23456789E7"), (1e100, "1.0E100"),
        (-1.5e-10, "-1.5E-10"), (2e-3, "0.002"), (4.9e-324, "4.9E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"),
    ],
)  # fmt: skip
def test_doubles(value: float, text: str) -> None:
    assert java_double(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_are_read_again(value: float) -> None:
    assert repr(float(java_double(value))) == repr(value)


@given(documents)
def test_a_copy_is_the_same_document(document: Any) -> None:
    reader, writer = (
        Reader(json.dumps(document), control_characters=False, non_numbers=False),
        Writer(escape_pairs=False),
    )
    reader.next()
    writer.copy(reader)
    text = str(writer)
    assert repr(json.loads(text)) == repr(document)
    assert text.count(" ") == json.dumps(document, separators=(",", ":"), ensure_ascii=False).count(" ")


def test_values_side_by_side() -> None:
    writer = Writer(escape_pairs=False)
    writer.value("1")
    writer.start("[")
    writer.value("2")
    writer.start("{")
    writer.name("a")
    writer.value("3")
    writer.name("b")
    writer.value("4")
    writer.end("}")
    writer.end("]")
    writer.raw("!")
    assert str(writer) == '1 [2,{"a":3,"b":4}]!'


def test_numbers_are_java_s() -> None:
    for text, found in (("-0", "0"), ("1E2", "100.0"), ("1e400", '"Infinity"'), ("10", "10")):
        reader, writer = Reader(text, control_characters=False, non_numbers=False), Writer(escape_pairs=False)
        reader.next()
        writer.copy(reader)
        assert str(writer) == found


def test_nothing_is_no_value() -> None:
    with pytest.raises(Malformed, match="no value"):
        Writer(escape_pairs=False).copy(Reader("", control_characters=False, non_numbers=False))
