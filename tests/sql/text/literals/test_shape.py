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


def test_equal_literals_may_be_told_apart_but_for_sets_of_groups() -> None:
    one, other = (shape(f"SELECT a + {x} AS b FROM v WHERE a > {y}") for x, y in ((5, 5), (5, 6)))
    assert one is not None and other is not None and one.apart is not None
    assert one.text != other.text == one.apart.text
    assert other.apart is one.apart.apart is None
    assert one.apart.values[0].value == one.apart.values[1].value == 5
    grouped = shape("SELECT a + 5 FROM v GROUP BY ROLLUP (a + 5, a + 5)")
    assert grouped is not None and grouped.apart is None
