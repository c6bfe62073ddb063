"""Aggregate: one row a group, told by its keys."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Filter
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import INT, T, by_duckdb, call, column, positive, random_bags, rows_of, schema

SUM_AB = call("add", column(0), column(1))
SUM = AggregateCall("sum", (column(2),), INT, True, positive(3))
COUNT = AggregateCall("count", (), INT, False)
GROUPED = Aggregate(T, (column(1), SUM_AB), (SUM, COUNT), schema("b", "ab", "s", "n"))
TOTAL = Aggregate(T, (), (COUNT,), schema("n"))


def test_rows() -> None:
    query = "SELECT b, a + b, sum(c) FILTER (WHERE d > 0), count(*) FROM t GROUP BY b, a + b"
    bags = random_bags(0)
    assert rows_of(GROUPED, bags) == by_duckdb(query, bags)
    assert rows_of(TOTAL, {"t": []}) == {(0,): 1}


def test_its_keys_tell_groups_apart_and_a_groups_row_is_replaced() -> None:
    assert GROUPED.stream_key({"t": None}) == (0, 1)
    assert TOTAL.stream_key({"t": None}) == ()
    assert not GROUPED.append_only({"t": True})
    assert GROUPED.obstacle({"t"}) == "an aggregate"


def test_a_key_that_is_never_null_makes_groups_that_never_are() -> None:
    above = Aggregate(Filter(T, positive(1)), GROUPED.keys, (SUM,), schema("b", "ab", "s"))
    assert above.asked_for({}) == {0}
    assert GROUPED.asked_for({}) == set()


def test_keys_stay_and_one_function_where_there_would_be_none() -> None:
    for needed, kept in (({3}, ["b", "ab", "n"]), ({0}, ["b", "ab", "s"]), ({2, 3}, ["b", "ab", "s", "n"])):
        narrower, position = GROUPED.pruned(needed)
        verify(narrower)
        assert [field.name for field in narrower.schema] == kept
        assert all(narrower.schema[position[i]].name == GROUPED.schema[i].name for i in needed)


def test_columns_are_named_after_what_they_hold() -> None:
    assert [field.name for field in GROUPED.named().schema] == ["b", "add", "sum", "count"]
    assert GROUPED.spelled == "aggregate by b, a + b: sum(c) FILTER (WHERE d > 0), count(*)"
    assert TOTAL.spelled == "aggregate by nothing: count(*)"


def test_other_types_than_those_of_the_schema_are_refused() -> None:
    with pytest.raises(AssertionError, match="Aggregate: types"):
        Aggregate(T, (column(1),), (COUNT,), schema("b")).verify()
    beyond = AggregateCall("sum", (column(4),), INT, True)
    with pytest.raises(AssertionError, match="Aggregate: no column #4 of 4"):
        Aggregate(T, (), (beyond,), schema("s")).verify()
