"""The shape of a query; that queries of one shape may share a plan is tests/laws/test_shape_laws.py."""

from __future__ import annotations

import pytest

from dbsp.sql.text.literals.shape import FIXED, FREE, SIZED, Shape, shape_of
from dbsp.sql.text.source import as_it_is


def shape(text: str) -> Shape | None:
    return shape_of(as_it_is(text, "q"), "UTC")


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("SELECT a FROM v WHERE a > 1", "SELECT a FROM v WHERE a > 22", True),
        ("SELECT a FROM v WHERE a > 1", "SELECT a FROM v WHERE a > 1L", False),
        ("SELECT a FROM v WHERE a > 1.5", "SELECT a FROM v WHERE a > 1.50", False),
        ("SELECT a FROM v WHERE a IN (1, 2)", "SELECT a FROM v WHERE a IN (1, 1)", False),
        ("SELECT a FROM v WHERE a IN (1, 1)", "SELECT a FROM v WHERE a IN (07, 7)", True),
        ("SELECT a FROM v WHERE a = 'x' -- 1", "SELECT a FROM v WHERE a = 'y' -- 2", False),
    ],
)
def test_types_and_equal_literals_are_of_the_shape(one: str, other: str, alike: bool) -> None:
    first, second = shape(one), shape(other)
    assert first is not None
    assert second is not None
    assert (first.text == second.text) == alike


@pytest.mark.parametrize("text", ["SELECT a FROM v", "SELECT \ue000, 1", "VALUES (1), (2)", "SELECT 128Y"])
def test_a_query_that_has_no_shape(text: str) -> None:
    assert shape(text) is None


def test_a_plan_is_known_by_what_it_depends_on() -> None:
    one, other = (shape(f"SELECT {values} FROM v") for values in ("10, 'a', 5", "99, 'a', 7"))
    assert one is not None
    assert other is not None
    assert one.known_by((SIZED, FIXED, FREE)) == other.known_by((SIZED, FIXED, FREE))
    assert one.known_by((FIXED, FIXED, FREE)) != other.known_by((FIXED, FIXED, FREE))
    assert one.known_by((SIZED, FIXED, FREE)) != one.known_by((FREE, FIXED, FREE))
