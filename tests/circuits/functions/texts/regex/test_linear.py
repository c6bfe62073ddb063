"""What RE2 takes, and as what."""

from __future__ import annotations

import pytest

from dbsp.circuits.functions.texts.regex.linear import linear
from dbsp.circuits.functions.texts.regex.parser import parse


@pytest.mark.parametrize(
    ("pattern", "dollar"),
    [("a+b", ""), ("(a|b)c$", "last"), ("(a|b$)", "inside"), ("^x+|x+$", "inside"), (r"\p{L}\Z", "last")],
)
def test_taken(pattern: str, dollar: str) -> None:
    form = linear(parse(pattern))
    assert form is not None
    assert form.dollar == dollar


@pytest.mark.parametrize(
    "pattern",
    ["(?=a)", "(?<!a)b", "(a)\\1", "a*+", "(?>a)", r"\ba", "(a*)*", "a$b", "(a$)?", "(?m)^a", "a{2000}"],
)
def test_not_taken(pattern: str) -> None:
    assert linear(parse(pattern)) is None
