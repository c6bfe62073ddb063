"""What is asked of a tree: whether it can be empty, and which groups engines fill differently."""

from __future__ import annotations

import pytest

from dbsp.circuits.functions.texts.regex.nodes import empty_is_last, uncertain_groups
from dbsp.circuits.functions.texts.regex.parser import parse


@pytest.mark.parametrize(
    ("pattern", "groups"),
    [
        ("(a)(b)?", set()),
        ("(?=(a))", set()),
        ("(?!(a))(b)", {1}),
        ("(a*)*", {1}),
        ("(a)++", {1}),
        ("(?>(a))|b", {1}),
        ("(?=a|(b))", {1}),
    ],
)
def test_uncertain_groups(pattern: str, groups: set[int]) -> None:
    assert uncertain_groups(parse(pattern).tree) == groups


@pytest.mark.parametrize(
    ("pattern", "last"), [("a|", True), ("a*", True), ("|a", False), ("a??", False), ("(a*?)b", False)]
)
def test_empty_is_last(pattern: str, last: bool) -> None:
    assert empty_is_last(parse(pattern).tree) == last
