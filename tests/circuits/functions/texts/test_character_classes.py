"""Sets of code points, against Python's sets; and the same set in RE2 and in Python's re."""

from __future__ import annotations

import re
import string
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.functions.texts import character_classes as c

SMALL = range(64, 128)
DOMAIN = [
    *range(11, 300),
    0x1680,
    0x180E,
    0x2000,
    0x2028,
    0x2029,
    0x202F,
    0x205F,
    0x3000,
    0xFFFF,
    0x1F600,
    c.LAST,
]
ranges = st.lists(st.tuples(st.sampled_from(SMALL), st.integers(0, 9)), max_size=4).map(
    lambda listed: c.union(tuple((low, low + more) for low, more in listed))
)


def members(sets: c.Ranges) -> set[int]:
    return {code for low, high in sets for code in range(low, min(high, 400) + 1)}


@given(ranges, ranges)
def test_algebra(a: c.Ranges, b: c.Ranges) -> None:
    assert members(c.union(a, b)) == members(a) | members(b)
    assert members(c.intersection(a, b)) == members(a) & members(b)
    assert members(c.complement(a)) == set(range(401)) - members(a)
    assert c.complement(c.complement(a)) == a
    cases = {
        ord(x) for code in members(a) for x in (chr(code), chr(code).upper(), chr(code).lower()) if code < 128
    }
    assert members(c.both_cases(a)) == members(a) | cases


@given(ranges)
def test_ranges_are_apart_and_ascend(a: c.Ranges) -> None:
    edges = [edge for pair in a for edge in pair]
    assert edges == sorted(edges)
    assert all(high + 1 < low for (_, high), (low, _) in pairwise(a))


@given(ranges)
def test_written_is_the_same_set_to_both(a: c.Ranges) -> None:
    for sets in (a, c.complement(a)):
        pattern, texts = c.written(sets), [chr(code) for code in DOMAIN]
        expected = [any(low <= code <= high for low, high in sets) for code in DOMAIN]
        assert [re.fullmatch(pattern, text) is not None for text in texts] == expected
        assert pc.match_substring_regex(pa.array(texts), f"^(?:{pattern})$").to_pylist() == expected


# java.util.regex.Pattern's table of classes
@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        (c.POSIX["Punct"], string.punctuation),
        (c.POSIX["XDigit"], string.hexdigits),
        (c.POSIX["Alnum"], string.ascii_letters + string.digits),
        (c.ESCAPES["s"], " \t\n\x0b\f\r"),
        (c.ESCAPES["w"], string.ascii_letters + string.digits + "_"),
        (c.ESCAPES["v"], "\n\x0b\f\r\x85"),
        (c.LINE_ENDS, "\n\r\x85"),
    ],
)
def test_classes(ranges: c.Ranges, expected: str) -> None:
    assert members(ranges) == set(map(ord, expected))


def test_capitals_are_complements() -> None:
    assert all(c.ESCAPES[name.upper()] == c.complement(c.ESCAPES[name]) for name in "dwshv")
    assert c.complement(()) == ((0, c.LAST),) and c.complement(((0, c.LAST),)) == ()
