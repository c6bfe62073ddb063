"""Look-behind is taken apart by length; units are what Java counts."""

from __future__ import annotations

import re

import pytest

from dbsp.circuits.functions.texts.regex.backtracking import (
    Backtracking,
    as_searched,
    as_text,
    captured,
    characters_before,
    lengths,
)
from dbsp.circuits.functions.texts.regex.parser import parse


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("ab|c", {1, 2}), ("(?:a|bb){1,2}", {1, 2, 3, 4}), ("a?$", {0, 1}), ("(a)b", {2}), ("a{3}", {3})],
)
def test_lengths(pattern: str, expected: set[int]) -> None:
    assert set(lengths(parse(pattern).tree) or ()) == expected


@pytest.mark.parametrize("pattern", ["a*", "(a?)b", "a{999}", r"(a)\1"])
def test_lengths_without_an_end_or_with_groups(pattern: str) -> None:
    assert lengths(parse(pattern).tree) is None


def test_units() -> None:
    text = "a😀b"
    searched = as_searched(text)
    assert len(searched) == 4
    assert as_text(searched) == text
    assert [as_text(half) for half in searched[1:3]] == ["?", "?"]
    assert [characters_before(searched, index) for index in range(5)] == [0, 1, 2, 2, 3]


def found(pattern: str, text: str, group: int = 0) -> list[str]:
    return [captured(m, group) for m in Backtracking(parse(pattern), pattern).matches(as_searched(text))]


def test_an_empty_match_is_followed_by_the_next_unit() -> None:
    assert found("a*?", "aa") == ["", "", ""]
    assert found("a*", "baa") == ["", "aa", ""]
    assert found("", "😀") == ["", "", ""]
    assert len(re.findall("a*?", "aa")) == 5, "Python's own way is another"


def test_groups_in_what_gives_nothing_back() -> None:
    assert found("(?:(a)|b)++", "abb", 1) == ["a"]
    assert found("(?>(a|ab))c|abc", "abc") == ["abc"]
