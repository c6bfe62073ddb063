r"""\p{…} is by Python's own properties of code points."""

from __future__ import annotations

import unicodedata

import pytest

from dbsp.circuits.functions.texts.regex.unicode_classes import property_ranges


def holds(name: str, character: str) -> bool:
    ranges = property_ranges(name)
    assert ranges is not None
    return any(low <= ord(character) <= high for low, high in ranges)


@pytest.mark.parametrize("character", "aÉ1٣_ ½$\u0301ǅ😀𝐀")
def test_categories(character: str) -> None:
    name = unicodedata.category(character)
    assert holds(name, character)
    assert holds(name[0], character)
    assert holds(f"gc={name}", character)
    assert holds("IsDigit", character) == (name == "Nd")
    assert holds("IsUppercase", character) == character.isupper()
    assert holds("Alpha", character) == (character.isascii() and character.isalpha())


@pytest.mark.parametrize("name", ["", "IsGreek", "InGreek", "Lx", "alpha"])
def test_no_such_class(name: str) -> None:
    assert property_ranges(name) is None
