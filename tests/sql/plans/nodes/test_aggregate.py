"""Aggregate: one row a group, told by its keys."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.functions.spark.expression import SparkExpression
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Filter, Project
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


def test_the_least_of_what_is_never_null_never_is() -> None:
    """But of no rows, of those that a condition leaves, and beside an order that may be NULL."""
    moment, first = Column(0, INT, False), replace(T.schema[0], nullable=False)
    calls = (
        AggregateCall("min", (column(1),), INT, True),
        AggregateCall("max_by", (moment, column(1)), INT, True),
        AggregateCall("max_by", (column(2), column(1)), INT, True),
        AggregateCall("max", (column(1),), INT, True, positive(3)),
        AggregateCall("max", (column(2),), INT, True),
    )
    known = Filter(Project(T, (moment, *map(column, (1, 2, 3))), (first, *T.schema[1:])), positive(1))
    assert Aggregate(known, (column(3),), calls, schema(*"kabcde")).asked_for({}) == {1, 2}
    assert Aggregate(known, (), calls, schema(*"abcde")).asked_for({}) == set()


def test_a_text_of_a_group_tells_its_collation_key() -> None:
    """Where it is one of the group's, and NULL only where all are."""
    text, moment = Column(1, pa.string()), Column(0, INT, False)
    collated = ("expression", SparkExpression("collationkey", "", b""))
    key = Call("spark_expression", (text,), pa.binary(), options=(collated,))
    first = least_by(moment, text)
    for calls, found in (
        ((COUNT, first), (3, 1)),
        ((AggregateCall("min", (text,), pa.string(), True),), (2, 1)),
        ((least_by(column(0), text), AggregateCall("min", (text,), pa.string(), True, positive(0))), (0, 1)),
        ((least_by(moment, Column(2, pa.string())),), (0, 1)),
    ):
        grouped = Aggregate(T, (key, column(0)), calls, schema(*"kabc"))
        assert grouped.stream_key({}) == found
    assert replace(GROUPED, aggregates=(first,)).stream_key({}) == (0, 1)
    along_another = replace(key, options=(("expression", SparkExpression("collationkey", "other", b"")),))
    both = Aggregate(T, (key, along_another), (first,), schema(*"kla"))
    assert both.stream_key({}) == (2,)


def least_by(order: Column, value: Column) -> AggregateCall:
    return AggregateCall("min_by", (order, value), value.type, True)


def test_keys_stay_and_rows_are_counted_where_there_would_be_no_function() -> None:
    for needed, kept in (
        ({3}, ["b", "ab", "n"]),
        ({0}, ["b", "ab", "count"]),
        ({2, 3}, ["b", "ab", "s", "n"]),
    ):
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
