"""Patterns of dates, as java.time.format.DateTimeFormatter reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.functions.times.date_patterns import (
    Field,
    check_format,
    check_parse,
    read_pattern,
    refuse_format,
    refuse_parse,
)


def literal(text: str) -> Field:
    return Field("", 0, text)


def quoted(text: str) -> Field:
    return Field("", 1, text)


@pytest.mark.parametrize(
    ("pattern", "fields"),
    [
        ("", ()),
        ("yyyy-MM", (Field("y", 4), literal("-"), Field("M", 2))),
        ("'T'HH''mm", (quoted("T"), Field("H", 2), quoted("'"), Field("m", 2))),
        ("'it''s'", (quoted("it's"),)),
        ("''''", (quoted("'"),)),
        ("'''a'", (quoted("'a"),)),
        ("yyyyMMdd", (Field("y", 4), Field("M", 2), Field("d", 2))),
        ("d. é", (Field("d", 1), literal("."), literal(" "), literal("é"))),
    ],
)
def test_fields(pattern: str, fields: tuple[Field, ...]) -> None:
    assert read_pattern(pattern) == fields


@given(
    st.lists(
        st.one_of(
            st.sampled_from("yMdHms").map(lambda c: c * 2),
            st.text(st.sampled_from("'ab "), min_size=1, max_size=3),
        ),
        max_size=5,
    )
)
def test_literals_in_quotes_are_what_they_quote(parts: list[str]) -> None:
    """Each literal is quoted, its quotes doubled; pieces of one kind side by side run together."""
    is_field = [part[0] in "yMdHms" for part in parts]
    pattern = "|".join(
        part if field else "'" + part.replace("'", "''") + "'"
        for part, field in zip(parts, is_field, strict=True)
    )
    found = read_pattern(pattern)
    assert not isinstance(found, str)
    expected = [
        Field(part[0], 2) if field else quoted(part) for part, field in zip(parts, is_field, strict=True)
    ]
    assert [field for field in found if field != literal("|")] == expected


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("'''", "the unterminated quote in the datetime pattern '''''"),
        ("yyyy'T", "the unterminated quote in the datetime pattern 'yyyy'T'"),
        ("yyyy{", "the reserved character { in the datetime pattern 'yyyy{'"),
        ("#", "the reserved character # in the datetime pattern '#'"),
    ],
)
def test_what_cannot_be_read(pattern: str, said: str) -> None:
    assert read_pattern(pattern) == refuse_format(pattern) == refuse_parse(pattern) == said


@pytest.mark.parametrize("pattern", ["yyyy-MM-dd HH:mm:ss.SSS", "dd MMM yyyy", "hh:mm a", "'Q'q"])
def test_what_can_be_formatted(pattern: str) -> None:
    assert refuse_format(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "of"), [("YYYY", "YYYY"), ("ww", "ww"), ("MM ZZZZZZ", "ZZZZZZ"), ("ddd", "ddd"), ("e", "e")]
)
def test_what_cannot_be_formatted(pattern: str, of: str) -> None:
    assert refuse_format(pattern) == f"'{of}' in the datetime pattern '{pattern}'"


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("yyyy-MM-dd HH:mm:ss", None),
        ("hh:mm a", None),
        ("yyyy[-MM[-dd]]", None),
        ("yyyy']'", None),
        ("yyyy]", "a ']' without '['"),
        ("[yyyy]]", "a ']' without '['"),
        ("yyyy yyyy", "gives a field twice"),
        ("MM LL", "gives a field twice"),
        ("HH hh", "gives a field twice"),
        ("HH a", "gives a field twice"),
        ("EEEE", "parsing 'EEEE'"),
    ],
)
def test_what_can_be_parsed(pattern: str, said: str | None) -> None:
    found = refuse_parse(pattern)
    assert found is None if said is None else said in (found or "")


def test_a_pattern_that_only_a_row_has_is_an_error() -> None:
    check_format("EEE yyyy")
    check_parse("yyyy")
    for check, pattern in ((check_format, "YYYY"), (check_parse, "EEE")):
        with pytest.raises(EvaluationError, match=rf"INVALID_DATETIME_PATTERN.*'{pattern}': not supported"):
            check(pattern)
