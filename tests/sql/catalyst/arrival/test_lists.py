"""Lists follow the order of arrival where their input has one, and where somebody sees their order."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dbsp.circuits.expressions.nodes import Expression
from dbsp.sql.catalyst.arrival.lists import seen_in_order
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate
from tests.circuits.functions.collections.test_array_sort import LESS, NATURAL, VALUES, A, B
from tests.sql.catalyst.arrival.test_first_last import numbered
from tests.sql.hand_made import call, column, literal, rows_of
from tests.sql.recorded import nodes_of, plan_of

LISTS = "SELECT a, collect_list(b) AS l, listagg(CAST(b AS STRING), ',') AS j FROM t GROUP BY a"


def lists_of(query: str) -> list[AggregateCall]:
    return [call for node in nodes_of(plan_of(query), Aggregate) for call in node.aggregates]


@pytest.mark.parametrize("seed", range(2))
def test_rows(seed: int) -> None:
    bag = numbered(seed)
    groups: dict[Any, list[Any]] = {a: [] for a, *_ in bag}
    for a, b, *_ in bag:
        groups[a] += [] if b is None else [b]
    expected = Counter((a, tuple(list_), ",".join(map(str, list_)) or None) for a, list_ in groups.items())
    assert rows_of(plan_of(LISTS), {"t": bag}) == expected


def test_the_arrival_is_what_they_are_ordered_by() -> None:
    collected, joined = lists_of(LISTS)
    assert collected.option("order") == joined.option("order") == ((1, False, False),)
    assert collected.arguments[1] == joined.arguments[1]


def test_a_pair_has_an_order_of_several_columns() -> None:
    (collected,) = lists_of("SELECT array_agg(t.b) AS l FROM t JOIN u ON t.a = u.a")
    assert collected.option("order") == tuple((1 + i, False, False) for i in range(3))


INDIFFERENT = [
    "sort_array(collect_list(b), false)",
    "size(collect_list(b)) + array_max(collect_list(b))",
    "array_min(sort_array(array_distinct(collect_list(b))))",
    "exists(collect_list(b), x -> x > 1) AND forall(collect_list(b), x -> x > 1)",
    "array_contains(collect_list(b), 1) OR arrays_overlap(array(1L), collect_list(b))",
    "collect_list(DISTINCT b)",
    "collect_set(b)",
    "listagg(DISTINCT CAST(b AS STRING))",
]


@pytest.mark.parametrize("result", INDIFFERENT)
def test_nothing_keeps_an_order_that_nobody_sees(result: str) -> None:
    assert plan_of(f"SELECT a, {result} AS l FROM t GROUP BY a").arriving() == frozenset()


SEEN = [
    "array_distinct(collect_list(b))",
    "array_sort(collect_list(b), (x, y) -> CAST(sign(x - y) AS INT))",
    "struct(size(collect_list(b)), collect_list(b))",
]


@pytest.mark.parametrize("result", SEEN)
def test_an_order_that_is_seen_is_kept(result: str) -> None:
    query = f"SELECT a, {result} AS l FROM t GROUP BY a"
    assert plan_of(query).arriving() == {"t"}
    (one,) = lists_of(query)
    assert one.option("order")


@pytest.mark.parametrize(
    ("result", "seen"),
    [
        (column(1), {1}),
        (literal(1), set()),
        (call("size", column(1)), set()),
        (call("size", call("array_distinct", column(1))), set()),
        (call("array_contains", column(1), call("element_at", column(2), literal(1))), {2}),
        (call("add", call("size", column(1)), call("element_at", column(1), literal(1))), {1}),
    ],
)
def test_of_which_columns_the_order_is_seen(result: Expression, seen: set[int]) -> None:
    assert seen_in_order([result]) == seen


@pytest.mark.parametrize(("comparator", "seen"), [(NATURAL, set()), (VALUES, set()), (LESS, {1})])
def test_a_sort_of_ties_shows_their_order(comparator: Expression, seen: set[int]) -> None:
    """Spark numbers the parameters of the natural order anew each time, so that no record holds one."""
    function = call("lambda_function", comparator, A, B)
    assert seen_in_order([call("array_sort", column(1), function)]) == seen


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT DISTINCT a, b FROM t)",
        "(SELECT a, count(*) AS b FROM t GROUP BY a)",
        "(SELECT a, b FROM t EXCEPT SELECT a, b FROM u)",
    ],
)
def test_without_an_arrival_values_are_in_their_own_order(source: str) -> None:
    lists = f"SELECT a, collect_list(b) AS l FROM {source} q GROUP BY a"
    assert plan_of(lists).arriving() == frozenset()
    assert not any(one.option("order") for one in lists_of(lists))
