"""Replacements are read as Java reads them."""

from __future__ import annotations

import pytest

from dbsp.circuits.functions.texts.regex.parser import parse
from dbsp.circuits.functions.texts.regex.replacements import read_replacement
from dbsp.circuits.functions.texts.regex.scanner import Refused


def test_a_replacement_may_name_its_group() -> None:
    """In a program ${...} is substituted before Catalyst sees it, but a string's escapes can spell it."""
    replacement = read_replacement("${n}-$1\\$", parse("(?<n>a)"))
    assert replacement.parts == (1, "-", 1, "$")
    assert replacement.for_re2() == "\\1-\\1$"


def test_digits_belong_to_a_group_as_long_as_there_is_one() -> None:
    assert read_replacement("$12", parse("(a)")).parts == (1, "2")
    assert read_replacement("$12", parse("(a)" * 12)).parts == (12,)
    assert read_replacement("$12", parse("(a)" * 12)).for_re2() is None


@pytest.mark.parametrize("text", ["$", "$2", "${m}", "a\\"])
def test_refused(text: str) -> None:
    with pytest.raises(Refused, match="the replacement"):
        read_replacement(text, parse("(?<n>a)"))
