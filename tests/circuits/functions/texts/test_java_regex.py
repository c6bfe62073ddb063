"""Patterns carried over to RE2 find what Python's re finds where it agrees with Java; others are refused."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from dbsp.circuits.functions.texts.java_regex import Refused, translate
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples

# of which java.util.regex and re (ASCII) mean the same
SHARED = [
    "a", "ab|b", "a*b", "a+?b", "(a|b)+c", "(?:ab)?c", "[a-c]x", "[^a]b", r"\d+", r"\w\s", r"\W",
    "a{2}", "a{1,2}b",

    "(?i)AB", "^a", "^ab$", r"\.b", "a.b", "(a)(b)?", "(?<n>a)b", r"[\d_]b", "|a", r"\Aab", "[a\\]]",
]  # fmt: skip
texts = st.lists(st.text(st.sampled_from("abcABx1_ .]"), max_size=5), min_size=1, max_size=6)


@pytest.mark.parametrize("pattern", SHARED)
@examples(10)
@given(listed=texts)
def test_the_first_match(pattern: str, listed: list[str]) -> None:
    regex = translate(pattern)
    python = re.compile(pattern.replace("(?<n>", "(?P<n>"), re.ASCII)
    expected = [python.search(text) for text in listed]
    assert regex.groups == python.groups
    array = pa.array(listed, pa.string())
    assert pc.match_substring_regex(array, regex.pattern()).to_pylist() == [m is not None for m in expected]
    for group in range(regex.groups + 1):
        found = pc.extract_regex(array, regex.pattern(group)).to_pylist()
        wanted = [None if m is None else {"g": m[group] or ""} for m in expected]
        assert found == wanted, group


# what Java means and others don't, by java.util.regex.Pattern's documentation
@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("a.b", "a\nb", False), ("a.b", "a\u2028b", False), ("a.b", "a\x0bb", True),
        ("(?s)a.b", "a\nb", True),
        ("ab$", "ab\n", True), ("ab$", "ab\r\n", True), ("ab$", "ab\n\n", False), (r"ab\z", "ab\n", False),
        (r"^\s$", "\x0b", True), (r"^\s$", "\u00a0", False), (r"^\h$", "\u00a0", True),
        (r"^\w$", "é", False),
        ("(?i)é", "É", False), ("(?i)k", "\u212a", False), ("[a-z[0-9]]", "5", True),
        (r"\p{Alpha}", "é", False), (r"\p{Punct}", "!", True), (r"\Qa.b\E", "axb", False),
        (r"\Qa.b\E", "a.b", True),
        (r"\x41\u0042", "AB", True), (r"\t", "\t", True),
    ],
)  # fmt: skip
def test_what_java_means(pattern: str, text: str, matches: bool) -> None:
    regex = translate(pattern)
    assert pc.match_substring_regex(pa.array([text]), regex.pattern()).to_pylist() == [matches]


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)b",
        "(?<!a)b",
        r"(a)\1",
        "a*+",
        r"a\b",
        "(a*)*",
        "a{1001}",
        "(",
        "[a",
        "*a",
        r"\y",
        "a{2,1}",
        "[a-z&&[^b]]",
    ],
)
def test_what_is_refused(pattern: str) -> None:
    with pytest.raises(Refused) as raised:
        translate(pattern)
    assert str(raised.value)


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [("abc", "abc"), (r"a\.b", "a.b"), ("a.b", None), ("(?i)a", None), ("a|b", None)],
)
def test_a_pattern_that_is_one_text(pattern: str, literal: str | None) -> None:
    assert translate(pattern).literal == literal


@pytest.mark.parametrize(
    ("pattern", "empty"), [("a*", True), ("a|", True), ("a?b", False), ("", True), ("(a*)", True)]
)
def test_what_matches_nothing_at_all(pattern: str, empty: bool) -> None:
    assert translate(pattern).can_be_empty == empty == (re.fullmatch(pattern, "") is not None)


def test_where_a_dollar_stands() -> None:
    assert [translate(p).dollar for p in ("a", "a$", "a$|b")] == ["", "last", "inside"]
    assert dict(translate("(?<first>a)(b)(?<last>c)").names) == {"first": 1, "last": 3}
