"""Flags, classes and escapes are worked into sets."""

from __future__ import annotations

import pytest

from dbsp.circuits.functions.texts.regex.character_classes import of
from dbsp.circuits.functions.texts.regex.nodes import Characters, can_be_empty, literal
from dbsp.circuits.functions.texts.regex.parser import parse


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("[a-f&&[^c]]", of("ab", "df")),
        ("[^\\x{0}-`b-\\x{10FFFF}]", of("a")),
        ("(?i:k)", of("k", "K")),
        ("(?iu:k)", of("k", "K", "\u212a")),
        ("(?x) [a # b\n c] ", of("a", "c")),
        (r"\cA", of("\1")),
        (r"[\d&&[2-9]&&[0-3]]", of("23")),
    ],
)
def test_sets(pattern: str, expected: object) -> None:
    assert parse(pattern).tree == Characters(expected)  # type: ignore[arg-type]


def test_a_back_reference_has_as_many_digits_as_there_are_groups() -> None:
    assert parse(r"(a)\11").tree.parts[1:] == (  # type: ignore[union-attr]
        parse(r"(a)\1").tree.parts[1],  # type: ignore[union-attr]
        Characters(of("1")),
    )


def test_literals() -> None:
    assert literal(parse(r"\Qa.b\E\.").tree) == "a.b."
    assert literal(parse("a.").tree) is None
    assert can_be_empty(parse("a*|b").tree)
    assert not can_be_empty(parse("a|b").tree)
