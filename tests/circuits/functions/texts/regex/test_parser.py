"""What isn't a set: literals, what can be empty."""

from __future__ import annotations

from dbsp.circuits.functions.texts.regex.nodes import can_be_empty, literal
from dbsp.circuits.functions.texts.regex.parser import parse


def test_literals() -> None:
    assert literal(parse(r"\Qa.b\E\.").tree) == "a.b."
    assert literal(parse("a.").tree) is None
    assert can_be_empty(parse("a*|b").tree)
    assert not can_be_empty(parse("a|b").tree)
