"""first and last go by the order of arrival, whatever was retracted since."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate
from tests.sql.hand_made import Bag, random_bags, rows_of
from tests.sql.recorded import check_refused, nodes_of, plan_of

GROUPED = "SELECT a, first(b) AS f, last(b) AS l, count(*) AS n FROM t GROUP BY a"


def in_order(bag: Bag, ignore_nulls: bool = False) -> Counter[tuple[Any, ...]]:
    """first(b), last(b) and count(*) by a, the rows being in the order in which they arrived."""
    found: Counter[tuple[Any, ...]] = Counter()
    for a in {row[0] for row in bag}:
        group = [row[1] for row in bag if row[0] == a]
        values = [value for value in group if not ignore_nulls or value is not None] or [None]
        found[a, values[0], values[-1], len(group)] += 1
    return found


def numbered(seed: int) -> Bag:
    """No two rows are equal, so that it is known which of them are retracted."""
    return [(*row[:3], number) for number, row in enumerate(random_bags(seed)["t"])]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("ignore_nulls", [False, True])
def test_rows(seed: int, ignore_nulls: bool) -> None:
    bag = numbered(seed)
    query = GROUPED.replace("(b)", "(b) IGNORE NULLS") if ignore_nulls else GROUPED
    assert rows_of(plan_of(query), {"t": bag}) == in_order(bag, ignore_nulls)


def test_they_are_the_least_and_the_greatest_by_arrival() -> None:
    (group,) = nodes_of(plan_of(GROUPED), Aggregate)
    by = [call for call in group.aggregates if isinstance(call, AggregateCall)]
    assert [call.function for call in by] == ["min_by", "max_by", "count"]
    assert by[0].arguments[0] == by[1].arguments[0]


def test_a_pair_arrives_when_the_later_of_its_rows_does() -> None:
    query = "SELECT count(*) AS n, first(t.b) AS f, last(u.b) AS l FROM t JOIN u ON t.a = u.a"
    bags = {"t": [(1, i, 0, i) for i in range(3)], "u": [(1, 10 + i, 0, i) for i in range(3)]}
    assert rows_of(plan_of(query), bags) == {(9, 0, 12): 1}


def test_refused() -> None:
    query = "SELECT first(n) AS f FROM (SELECT a, count(*) AS n FROM t GROUP BY a) q"
    check_refused(query, "8: not supported yet: first() and last() over the rows of AGGREGATE")
