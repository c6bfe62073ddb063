r"""The sets of \p{…}, against this Python's Unicode."""

from __future__ import annotations

import unicodedata

import pytest

from dbsp.circuits.functions.texts.regex.unicode_classes import property_ranges

SAMPLE = [*range(0, 0x3000, 7), *map(ord, "aZéß日٣ⅷʰ_€! \u00ad\u2028"), 0xD800, 0x1F600, 0x10FFFF]


def contains(name: str) -> list[bool]:
    ranges = property_ranges(name)
    assert ranges is not None
    return [any(low <= code <= high for low, high in ranges) for code in SAMPLE]


@pytest.mark.parametrize("category", ["L", "Lu", "Nd", "P", "Sc", "Zs", "Cs", "M"])
@pytest.mark.parametrize("prefix", ["", "Is", "gc=", "general_category="])
def test_categories(category: str, prefix: str) -> None:
    expected = [unicodedata.category(chr(code)).startswith(category) for code in SAMPLE]
    assert contains(prefix + category) == expected


def test_named_sets() -> None:
    assert contains("IsUppercase") == [chr(code).isupper() for code in SAMPLE]
    assert contains("javaLowerCase") == [chr(code).islower() for code in SAMPLE]
    assert contains("L1") == [code < 256 for code in SAMPLE]
    assert contains("Alpha") == [chr(code).isascii() and chr(code).isalpha() for code in SAMPLE]
    letters, digits = contains("L"), contains("Nd")
    assert contains("LD") == [a or b for a, b in zip(letters, digits, strict=True)]


@pytest.mark.parametrize("name", ["", "Xx", "alpha", "IsGreek2", "Luu"])
def test_no_such_set(name: str) -> None:
    assert property_ranges(name) is None
