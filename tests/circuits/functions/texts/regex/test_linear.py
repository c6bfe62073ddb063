"""What RE2 takes finds what Python's re finds where it agrees with Java; the rest it doesn't take."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.functions.texts.regex.linear import Linear, linear
from dbsp.circuits.functions.texts.regex.nodes import can_be_empty, literal
from dbsp.circuits.functions.texts.regex.parser import parse
from tests.effort import examples


def form_of(pattern: str) -> Linear:
    form = linear(parse(pattern))
    assert form is not None
    return form


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
    parsed = parse(pattern)
    regex = form_of(pattern)
    python = re.compile(pattern.replace("(?<n>", "(?P<n>"), re.ASCII)
    expected = [python.search(text) for text in listed]
    assert parsed.groups == python.groups
    array = pa.array(listed, pa.string())
    assert pc.match_substring_regex(array, regex.pattern()).to_pylist() == [m is not None for m in expected]
    for group in range(parsed.groups + 1):
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
    regex = form_of(pattern)
    assert pc.match_substring_regex(pa.array([text]), regex.pattern()).to_pylist() == [matches]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("abc", "abc"), (r"a\.b", "a.b"), ("a.b", None), ("(?i)a", None), ("a|b", None)],
)
def test_a_pattern_that_is_one_text(pattern: str, expected: str | None) -> None:
    assert literal(parse(pattern).tree) == expected


@pytest.mark.parametrize(
    ("pattern", "empty"), [("a*", True), ("a|", True), ("a?b", False), ("", True), ("(a*)", True)]
)
def test_what_matches_nothing_at_all(pattern: str, empty: bool) -> None:
    assert can_be_empty(parse(pattern).tree) == empty == (re.fullmatch(pattern, "") is not None)


@pytest.mark.parametrize(
    ("pattern", "dollar"),
    [("a+b", ""), ("(a|b)c$", "last"), ("(a|b$)", "inside"), ("^x+|x+$", "inside"), (r"\p{Alpha}\Z", "last")],
)
def test_taken(pattern: str, dollar: str) -> None:
    assert form_of(pattern).dollar == dollar


@pytest.mark.parametrize("pattern", ["(a*)*", "a$b", "(a$)?", "a{2000}"])
def test_not_taken(pattern: str) -> None:
    assert linear(parse(pattern)) is None
