"""What is asked of a regular expression's tree: whether it can be empty, which text it is, its nodes."""

from __future__ import annotations

import pytest

from dbsp.circuits.functions.texts.regex.nodes import (
    Atomic,
    Characters,
    Choice,
    Edge,
    Group,
    Look,
    Node,
    Reference,
    Repeat,
    Sequence,
    can_be_empty,
    literal,
    uncertain_groups,
    walk,
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
        (Atomic(MANY), True, None),
        (Look(A, ahead=True, negated=False), True, None),
        (Edge("text end"), True, None),
        (Reference(1, exists=True, ignore_case=False), True, None),
    ],
)
def test_what_it_matches(node: Node, empty: bool, text: str | None) -> None:
    assert (can_be_empty(node), literal(node)) == (empty, text)


def test_every_node_once() -> None:
    tree = Sequence((Group(Choice((A, B)), 1), Repeat(Atomic(DIGIT), 0, 1, "")))
    assert [type(node).__name__ for node in walk(tree)] == [
        "Sequence", "Group", "Choice", "Characters", "Characters", "Repeat", "Atomic", "Characters",
    ]  # fmt: skip


def test_groups_that_engines_fill_differently() -> None:
    assert uncertain_groups(Sequence((Group(A, 1), Repeat(Group(B, 2), 1, None, "")))) == frozenset()
    assert uncertain_groups(Repeat(Group(MANY, 1), 0, None, "")) == {1}
    assert uncertain_groups(Look(Group(A, 3), ahead=True, negated=True)) == {3}
    assert uncertain_groups(Repeat(Group(A, 2), 0, None, "+")) == {2}
