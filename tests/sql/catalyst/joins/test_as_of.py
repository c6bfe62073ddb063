"""ASOF JOIN: which side has which time, what ON says of one side, and what it can't say."""

from __future__ import annotations

from collections import Counter

import pytest

from dbsp.sql.plans.nodes import AsOf, Filter, Project
from tests.sql.hand_made import random_bags, rows_of
from tests.sql.recorded import check_refused, nodes_of, plan_of


def nearest(on: str = "t.a = u.a", match: str = "t.b >= u.b", kind: str = "ASOF JOIN") -> str:
    return f"SELECT t.a, t.b, t.c, u.b AS e, u.c AS f FROM t {kind} u MATCH_CONDITION ({match}) ON {on}"


def test_the_left_time_is_on_the_left() -> None:
    for match, comparison in (("t.b >= u.b", "greater_than_or_equal"), ("u.b > t.b", "less_than")):
        (join,) = nodes_of(plan_of(nearest(match=match)), AsOf)
        assert (join.kind, join.comparison) == ("inner", comparison)
        assert join.left.schema[join.left_time.index].name == "b"


def test_what_on_says_of_the_right_side_is_a_filter_of_it() -> None:
    (join,) = nodes_of(plan_of(nearest("t.a = u.a AND u.c > 0")), AsOf)
    assert nodes_of(join.right, Filter)
    assert not nodes_of(join.left, Filter)


@pytest.mark.parametrize("kind", ["ASOF JOIN", "LEFT ASOF JOIN"])
def test_what_on_says_of_the_left_side_is_of_its_matches(kind: str) -> None:
    """Where the left rows stay, one that doesn't meet it stays beside NULLs."""
    bags = random_bags(7)
    found = rows_of(plan_of(nearest("t.a = u.a AND t.c > 0", kind=kind)), bags)
    expected: Counter[tuple[int | None, ...]] = Counter()
    for a, b, c, _ in bags["t"]:
        matches = [
            u for u in bags["u"] if u[0] == a and None not in (a, b, u[1]) and u[1] <= b and (c or 0) > 0
        ]
        if matches:
            # of equally near ones the first in the order of the columns that are read, NULLs first
            best = max(matches, key=lambda u: (u[1], u[2] is None, -(u[2] or 0)))
            expected[a, b, c, best[1], best[2]] += 1
        elif kind.startswith("LEFT"):
            expected[a, b, c, None, None] += 1
    assert found == expected


def test_of_no_key_the_nearest_of_all() -> None:
    (join,) = nodes_of(plan_of(nearest("true")), AsOf)
    assert join.left_keys == ()
    assert isinstance(plan_of(nearest("true")), AsOf | Project)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (
            nearest("t.a = u.a AND t.c < u.c"),
            "107: not supported yet: ASOF JOIN with an ON that compares the",
        ),
        (
            nearest("t.a = u.a AND t.c < (SELECT max(c) FROM u)"),
            "49: not supported yet: a sub-query in the cond",
        ),
    ],
)
def test_refused(query: str, error: str) -> None:
    check_refused(query, error)
