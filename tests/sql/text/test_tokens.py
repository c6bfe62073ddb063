"""Tokens follow Spark's lexical rules and cover the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import ProgramError
from dbsp.sql.text.source import as_it_is, read
from dbsp.sql.text.tokens import Slice, quoted, tokens, tokens_in, unquote


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokens(read(text, "p.sql"))[:-1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"'it\'s;' x", [("string", r"'it\'s;'"), ("word", "x")]),
        ("'it''s'", [("string", "'it''s'")]),
        (r"r'a\' b", [("string", r"r'a\'"), ("word", "b")]),
        ("a--b;\nc", [("word", "a"), ("word", "c")]),
        ("a/* x /* ; */ y */b", [("word", "a"), ("word", "b")]),
        ("`a``;b`", [("quoted", "`a``;b`")]),
        ("1.5BD .5 2e-3", [("number", "1.5BD"), ("number", ".5"), ("number", "2e-3")]),
        ("a<=>b", [("word", "a"), ("symbol", "<"), ("symbol", "="), ("symbol", ">"), ("word", "b")]),
    ],
)
def test_spark_spellings(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(("text", "place"), [("a 'b", "1:3"), ("a\n/* b", "2:1"), ("`x", "1:1")])
def test_what_is_never_closed_is_an_error_where_it_opens(text: str, place: str) -> None:
    with pytest.raises(ProgramError, match=f"p.sql:{place}: .* is never closed"):
        tokens(read(text, "p.sql"))


@given(st.text(alphabet="ab1 \n'\"`;-/*().,\\r", max_size=30))
def test_tokens_are_in_order_and_spelled_as_written(text: str) -> None:
    source = read(text, "p.sql")
    try:
        found = tokens(source)
    except ProgramError:
        return
    end = 0
    for token in found[:-1]:
        assert end <= token.start < token.stop
        assert text[token.start : token.stop] == token.text
        end = token.stop


@given(st.text(alphabet="ab'\\\n\"", max_size=12))
def test_unquote_inverts_quoting(value: str) -> None:
    quoted = "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    assert unquote(quoted) == value


@given(text=st.text("ab'\"` ;(-\n", max_size=40), first=st.integers(0, 40), size=st.integers(0, 40))
def test_those_of_a_piece_are_those_that_begin_in_it(text: str, first: int, size: int) -> None:
    source = as_it_is(text, "p.sql")
    try:
        found = tokens(source)
    except ProgramError:
        return
    piece = Slice(text[first : first + size], first)
    inside = [one for one in found if one.kind != "end" and piece.start <= one.start < piece.stop]
    assert tokens_in(source, piece) == inside


def test_a_program_is_read_once() -> None:
    """However many of its views look for their own."""
    text = "SELECT 1;\n" * 3
    assert tokens(as_it_is(text, "p.sql")) is tokens(as_it_is(text, "p.sql"))


@given(st.text(min_size=1, max_size=9))
def test_a_quoted_name_is_read_as_it_was(name: str) -> None:
    first, dot, second, _ = tokens(as_it_is(quoted([name, "b"]), "p.sql"))
    assert (first.kind, first.name, dot.text, second.name) == ("quoted", name, ".", "b")
