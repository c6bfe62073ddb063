"""Flags, classes and escapes are worked into sets."""

from __future__ import annotations

import pytest

from dbsp.circuits.functions.texts.regex.character_classes import of
from dbsp.circuits.functions.texts.regex.nodes import Characters
from dbsp.circuits.functions.texts.regex.parser import parse
from dbsp.circuits.functions.texts.regex.scanner import Refused


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("[a-f&&[^c]]", of("ab", "df")),
        ("[^\\x{0}-`b-\\x{10FFFF}]", of("a")),
        ("(?i:k)", of("k", "K")),
        ("(?x) [a # b\n c] ", of("a", "c")),
        (r"\cA", of("\1")),
        (r"[\d&&[2-9]&&[0-3]]", of("23")),
    ],
)
def test_sets(pattern: str, expected: object) -> None:
    assert parse(pattern).tree == Characters(expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "pattern", ["[b-a]", "[\\d-z]", "[a&&]", "[\\Qa\\E]", "\\p{Nothing}", "\\p{Lu}", "(?i)\\p{Upper}", "[a"]
)
def test_what_is_no_set_is_refused_with_its_place(pattern: str) -> None:
    with pytest.raises(Refused, match=r"in the regular expression '.*', before character [0-9]+$"):
        parse(pattern)
