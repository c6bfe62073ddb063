"""What takes exponential time is found; what a person writes with care is not."""

from __future__ import annotations

import pytest

from dbsp.circuits.functions.texts.regex.ambiguity import is_exponential
from dbsp.circuits.functions.texts.regex.parser import parse


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b",
        "(a*)*b",
        "(a|a)*$",
        "(a|aa)+$",
        r"(\w+\s?)+,",
        r"^(\w+[.]?)+@",
        "(.*a)*b",
        "(a{1,3})*b",
        "(?:a(?:b*)?c)*d",
        "(?=(?:a+)+b)x",
        "(?>(?:a+)+b)",
    ],
)
def test_two_ways_through_an_iteration(pattern: str) -> None:
    assert is_exponential(parse(pattern).tree)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+",  # nothing behind it can fail
        "(a++)+b",
        "(?:a+b)+c",
        "(a|b)*c",
        r"([a-z]+,)*(?!b)",
        r'"(?:[^"\\\\]|\\\\.)*"',
        r"(?:(?!--).)*-",
        r"(\d{3},?){2}x",
        r"^(?=.*a)(?=.*b)[ab]+$",
        "(a*)(a*)b",  # polynomial
    ],
)
def test_one_way(pattern: str) -> None:
    assert not is_exponential(parse(pattern).tree)
