"""JSON as tokens: Python's values of every document, and what Jackson takes beyond them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.functions.json.reader import Malformed, Reader

# of one to four bytes, and what JSON escapes
CHARACTERS = 'ab /"\\\n\x01\x7f\u2028é日😀'
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.sampled_from(CHARACTERS), max_size=5),
)
documents = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(st.sampled_from(CHARACTERS), max_size=3), inner, max_size=3),
    ),
    max_leaves=8,
)


def reader_of(text: str, control_characters: bool = False, non_numbers: bool = False) -> Reader:
    return Reader(text, control_characters=control_characters, non_numbers=non_numbers)


def value_at(reader: Reader) -> Any:
    """The value whose first token is the reader's."""
    match reader.token:
        case "{":
            found = {}
            while reader.next() != "}":
                assert reader.token == "name"
                name = reader.name
                reader.next()
                found[name] = value_at(reader)
            return found
        case "[":
            elements = []
            while reader.next() != "]":
                elements.append(value_at(reader))
            return elements
        case "string":
            return reader.text
        case "int":
            return int(reader.number)
        case "float":
            return float(reader.number)
        case token:
            return {"true": True, "false": False, "null": None}[str(token)]


@given(documents, st.booleans(), st.sampled_from([None, 1]))
def test_every_document_of_python_s(document: Any, ascii_: bool, indent: int | None) -> None:
    reader = reader_of(f" \n{json.dumps(document, ensure_ascii=ascii_, indent=indent)}\t")
    reader.next()
    assert repr(value_at(reader)) == repr(document)
    assert reader.next() is None


@given(documents)
def test_a_value_is_skipped_whole(document: Any) -> None:
    reader = reader_of(json.dumps([document, 7]))
    reader.next()
    reader.next()
    reader.skip()
    assert (reader.next(), reader.number, reader.next(), reader.next()) == ("int", "7", "]", None)


def tokens(text: str, **options: bool) -> list[str | None]:
    reader = reader_of(text, **options)
    found = [reader.next()]
    while found[-1] is not None:
        found.append(reader.next())
    return found


@pytest.mark.parametrize(
    "text",
    [
        "{", "[", "[1",
        '{"a"', '{"a":', '{"a" 1}', "]", "[1}", "[1 2]", "[1,]", "{,}", '"a', "nul", "01", "1.", "-",
        "+1", ".5", "1e", "{a:1}", '{1:1}', '"\\x"', '"\\u12"', "[1,,2]", "NaN", '"\n"',
    ],
)  # fmt: skip
def test_what_is_no_json(text: str) -> None:
    with pytest.raises(ValueError):
        json.loads(text, parse_constant=lambda _: (_ for _ in ()).throw(ValueError()))
    with pytest.raises(Malformed):
        tokens(text)


def test_what_jackson_takes_beyond_it() -> None:
    reader = reader_of("'it\\'s'")
    assert (reader.next(), reader.text) == ("string", "it's")
    assert tokens('{"a": 1, "a": 2}') == ["{", "name", "int", "name", "int", "}", None], (
        "names are kept twice"
    )
    assert tokens('"a\nb"', control_characters=True) == ["string", None]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("NaN", "NaN"),
        ("-INF", "-Infinity"),
        ("-Infinity", "-Infinity"),
        ("+INF", "Infinity"),
    ],
)
def test_what_is_no_number_where_it_is_one(text: str, number: str) -> None:
    reader = reader_of(text, non_numbers=True)
    assert (reader.next(), reader.number) == ("float", number)


def test_numbers_and_depths_that_are_too_large() -> None:
    reader = reader_of("1" * 1001)
    reader.next()
    with pytest.raises(Malformed, match="too many digits"):
        _ = reader.number
    assert tokens("[" * 1000 + "]" * 1000)[-1] is None
    with pytest.raises(Malformed):
        tokens("[" * 1001 + "]" * 1001)


def test_half_a_pair_of_surrogates_stays() -> None:
    reader = reader_of('"\\ud83d\\ude00 \\ud83d"')
    reader.next()
    assert reader.text == "\U0001f600 \ud83d"
