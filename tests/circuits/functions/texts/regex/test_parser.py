"""What isn't a set: references, literals, what can be empty."""

from __future__ import annotations

from dbsp.circuits.functions.texts.regex.character_classes import of
from dbsp.circuits.functions.texts.regex.nodes import Characters, can_be_empty, literal
from dbsp.circuits.functions.texts.regex.parser import parse


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
