"""What is asked of a regular expression's tree: whether it can be empty, which text it is."""

from __future__ import annotations

import pytest

from dbsp.circuits.functions.texts.regex.nodes import (
    Characters,
    Choice,
    Edge,
    Group,
    Node,
    Repeat,
    Sequence,
    can_be_empty,
    literal,
)

A, B, DIGIT = (Characters(((ord(low), ord(high)),)) for low, high in ("aa", "bb", "09"))
MANY = Repeat(A, 0, None, "")


@pytest.mark.parametrize(
    ("node", "empty", "text"),
    [
        (A, False, "a"),
        (DIGIT, False, None),
        (Sequence((A, B)), False, "ab"),
        (Sequence(()), True, ""),
        (Sequence((A, DIGIT)), False, None),
        (Sequence((MANY, B)), False, None),
        (Choice((A, Sequence(()))), True, None),
        (MANY, True, None),
        (Repeat(A, 1, None, "?"), False, None),
        (Repeat(MANY, 2, 2, ""), True, None),
        (Group(A, 1), False, None),
        (Edge("text end"), True, None),
    ],
)
def test_what_it_matches(node: Node, empty: bool, text: str | None) -> None:
    assert (can_be_empty(node), literal(node)) == (empty, text)
