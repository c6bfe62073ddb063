"""Joins of every kind, by DuckDB; and what their traces store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.circuits.operators.joins.compared import ComparedSemiJoin
from dbsp.circuits.operators.joins.join import Join
from dbsp.circuits.operators.joins.semijoin import SemiJoin
from dbsp.circuits.operators.linear import Filter
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.traces.band import ValueBand
from dbsp.circuits.traces.interval_band import IntervalBand
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.program import ColumnLateness, Table
from tests.sql.hand_made import (
    BOOL,
    INT,
    T,
    U,
    by_duckdb,
    call,
    column,
    literal,
    positive,
    project,
    random_bags,
    rows_of,
    table,
)
from tests.sql.lowering.lowered import circuit_of, nodes_of, operators

LESS = call("less_than", column(1), column(5), type_=BOOL)
BETWEEN = call(
    "and",
    call("greater_than_or_equal", column(1), column(5), type_=BOOL),
    call("less_than", column(1), column(6), type_=BOOL),
    type_=BOOL,
)
ONE_SIDED = call("and", positive(1), call("and", positive(6), LESS, type_=BOOL), type_=BOOL)
CONDITIONS = {
    "keys": (None, "TRUE"),
    "a comparison": (LESS, "t.b < u.b"),
    "a range": (BETWEEN, "t.b >= u.b AND t.b < u.c"),
    "one side alone": (ONE_SIDED, "t.b > 0 AND u.c > 0 AND t.b < u.b"),
    "another value": (
        call("not", call("equal_to", column(5), column(1), type_=BOOL), type_=BOOL),
        "u.b <> t.b",
    ),
    "turned around": (call("less_than_or_equal", column(7), column(2), type_=BOOL), "u.d <= t.c"),
    "a comparison of one side's more": (
        call("and", positive(6), call("greater_than", column(1), column(6), type_=BOOL), type_=BOOL),
        "u.c > 0 AND t.b > u.c",
    ),
    "computed": (
        call(
            "less_than",
            call("coalesce", column(1), column(2)),
            call("coalesce", column(5), column(6)),
            type_=BOOL,
        ),
        "coalesce(t.b, t.c) < coalesce(u.b, u.c)",
    ),
    "a difference": (
        call(
            "less_than_or_equal",
            call("abs", call("subtract", column(5), column(1))),
            literal(1),
            type_=BOOL,
        ),
        "abs(u.b - t.b) <= 1",
    ),
    "a key that can fail": (
        call("less_than", call("add", column(1), column(1)), column(5), type_=BOOL),
        "t.b + t.b < u.b",
    ),
}


def joined(kind: str, condition: str = "keys", keys: int = 1, safe: bool = False) -> p.Join:
    key = tuple(column(i) for i in range(keys))
    residual = CONDITIONS[condition][0]
    return p.Join(T, U, kind, key, key, (safe,) * keys, residual, join_schema(kind, T.schema, U.schema))


def in_sql(kind: str, condition: str, keys: int, safe: bool) -> str:
    equal = "IS NOT DISTINCT FROM" if safe else "="
    on = " AND ".join([CONDITIONS[condition][1], *(f"t.{name} {equal} u.{name}" for name in "abcd"[:keys])])
    exists = f"EXISTS (SELECT 1 FROM u WHERE {on})"
    match kind:
        case "semi":
            return f"SELECT * FROM t WHERE {exists}"
        case "anti":
            return f"SELECT * FROM t WHERE NOT {exists}"
        case "existence":
            return f"SELECT *, {exists} FROM t"
    return f"SELECT * FROM t {kind.upper()} JOIN u ON {on}"


@pytest.mark.parametrize("kind", ["inner", "left", "full", "semi", "anti", "existence"])
@pytest.mark.parametrize(
    ("condition", "keys", "safe"),
    [
        ("keys", 1, False),
        ("keys", 2, True),
        ("keys", 0, False),
        ("a comparison", 0, False),
        ("a range", 1, False),
        ("one side alone", 1, False),
        ("another value", 0, False),
        ("another value", 1, False),
        ("another value", 2, True),
        ("turned around", 1, False),
        ("a comparison of one side's more", 1, False),
        ("computed", 1, False),
        ("a key that can fail", 1, True),
        ("a difference", 0, False),
        ("a difference", 1, False),
    ],
)
def test_every_kind(kind: str, condition: str, keys: int, safe: bool) -> None:
    bags = random_bags(keys)
    found = rows_of(joined(kind, condition, keys, safe), bags)
    assert found == by_duckdb(in_sql(kind, condition, keys, safe), bags)


def test_a_row_that_can_have_no_match_is_not_stored() -> None:
    circuit = circuit_of(joined("inner", "one side alone"))
    conditions = [str(one.condition) for one in operators(circuit, Filter)]
    assert conditions == [
        "and(is_not_null(#0), greater_than(#1, 0))",
        "and(is_not_null(#0), greater_than(#2, 0))",
    ]
    assert not operators(circuit_of(joined("inner", safe=True)), Filter)


def test_what_is_bounded_is_the_order_of_its_trace() -> None:
    (range_,) = operators(circuit_of(joined("inner", "a range")), Join)
    assert isinstance(range_.left_band, ValueBand)
    assert range_.left_band.column == 1
    assert isinstance(range_.right_band, IntervalBand)
    (keyed,) = operators(
        circuit_of(joined("inner", "a range"), tables=(table(T, ("a",)), table(U, ("a",)))), Join
    )
    assert (keyed.left_band, keyed.right_band) == (None, None)


def test_a_difference_is_the_order_of_both_traces() -> None:
    (join,) = operators(circuit_of(joined("inner", "a difference")), Join)
    for band in (join.left_band, join.right_band):
        assert isinstance(band, ValueBand)
        assert (band.column, band.is_closed, len(band.under), len(band.over)) == (1, True, 1, 1)


@pytest.mark.parametrize("kind", ["inner", "left", "anti"])
def test_a_row_of_which_there_is_no_difference_has_no_match_and_is_not_stored(kind: str) -> None:
    circuit = circuit_of(joined(kind, "a difference"))
    conditions = {str(one.condition) for one in operators(circuit, Filter)}
    assert "and(is_not_null(#0), is_not_null(#1))" in conditions


def test_only_what_is_read_is_put_out_of_a_join() -> None:
    (narrow,) = nodes_of(circuit_of(project(joined("inner"), column(5))), Join)
    (wide,) = nodes_of(circuit_of(joined("inner")), Join)
    assert (len(narrow.schema), len(wide.schema)) == (1, 8)


def test_of_a_semi_join_the_keys_are_enough_or_the_trace_that_is_there() -> None:
    circuit = circuit_of(joined("semi"))
    (node,) = nodes_of(circuit, SemiJoin)
    widths = [len(circuit.nodes[i].schema) for i in node.inputs]
    assert widths == [4, 1]
    unique = circuit_of(joined("semi"), tables=(table(T), table(U, ("a",))))
    (node,) = nodes_of(unique, SemiJoin)
    assert [len(unique.nodes[i].schema) for i in node.inputs] == [4, 4]
    assert isinstance(unique.nodes[node.inputs[1]].operator, Integrate)


ENDS = {"a comparison": (False, True), "turned around": (True, False), "another value": (True, True)}


@pytest.mark.parametrize("kind", ["semi", "anti", "existence"])
@pytest.mark.parametrize("condition", [*ENDS, "one side alone", "computed"])
def test_whether_there_is_a_match_is_told_by_ends(kind: str, condition: str) -> None:
    circuit = circuit_of(joined(kind, condition))
    made = operators(circuit, ComparedSemiJoin)
    assert {one.anti for one in made} == {"semi": {False}, "anti": {True}}.get(kind, {False, True})
    assert {(one.least, one.greatest) for one in made} == {ENDS.get(condition, (False, True))}
    assert not operators(circuit, Join) and not operators(circuit, SemiJoin)
    (node, *_) = nodes_of(circuit, ComparedSemiJoin)
    assert len(circuit.nodes[node.inputs[1]].schema) == 2  # of the right a key and a value are enough


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("inner", "a comparison"),
        ("left", "another value"),
        ("semi", "a range"),
        ("anti", "a key that can fail"),
    ],
)
def test_pairs_are_made_where_more_counts(kind: str, condition: str) -> None:
    circuit = circuit_of(joined(kind, condition))
    assert operators(circuit, Join) and not operators(circuit, ComparedSemiJoin)


def test_a_table_with_itself_is_kept_once() -> None:
    pairs = replace(T, schema=T.schema[:2])
    unlike = call("not", call("equal_to", column(1), column(3), type_=BOOL), type_=BOOL)
    plan = p.Join(pairs, pairs, "semi", (column(0),), (column(0),), (True,), unlike, pairs.schema)
    (node,) = nodes_of(circuit_of(plan, tables=(table(pairs),)), ComparedSemiJoin)
    assert node.inputs[0] == node.inputs[1]


def late(scan: p.Scan, name: str) -> Table:
    return replace(table(scan), lateness=(ColumnLateness("abcd".index(name), 0, None),))


@pytest.mark.parametrize(
    ("tables", "by_ends"),
    [
        ((late(T, "a"), late(U, "a")), False),  # the key
        ((late(T, "a"), table(U)), False),
        ((table(T), late(U, "b")), False),  # what is compared
        ((late(T, "d"), late(U, "d")), True),
    ],
)
def test_what_a_waterline_may_let_go_of_pairs_is_kept_as_it_was(
    tables: tuple[Table, ...], by_ends: bool
) -> None:
    circuit = circuit_of(joined("semi", "a comparison"), tables=tables)
    assert bool(operators(circuit, ComparedSemiJoin)) == by_ends


def test_of_one_row_a_key_a_pair_is_the_match() -> None:
    """Nothing is kept beside the sides, wherever ends can't tell."""
    extremes = tuple(AggregateCall(name, (column(i),), INT, True) for name, i in (("min", 1), ("max", 2)))
    ends = p.Aggregate(U, (column(0),), extremes, T.schema[:3])
    plan = p.Join(T, ends, "semi", (column(0),), (column(0),), (False,), BETWEEN, T.schema)
    circuit = circuit_of(plan)
    assert len(operators(circuit, Join)) == 1
    assert not operators(circuit, SemiJoin)
    assert operators(circuit_of(joined("semi", "a range")), SemiJoin)
    bags = random_bags(1)
    grouped = "SELECT a, min(b) AS b, max(c) AS c FROM u GROUP BY a"
    for read, in_sql_ in ((plan, "t.*"), (project(plan, column(3), names="d"), "t.d")):
        query = f"SELECT {in_sql_} FROM t, ({grouped}) AS u WHERE t.a = u.a AND t.b >= u.b AND t.b < u.c"
        assert rows_of(read, bags) == by_duckdb(query, bags)


def test_what_waterlines_prove_is_asked_of_the_sides_that_are_made_last() -> None:
    """A side that no other view has been lowered for."""
    least = p.Aggregate(U, (column(0),), (AggregateCall("min", (column(1),), INT, True),), T.schema[:2])
    plan = p.Join(T, least, "semi", (column(0),), (column(0),), (False,), LESS, T.schema)
    for bounded, by_ends in (("a", False), ("d", True)):
        circuit = circuit_of(plan, tables=(late(T, bounded), late(U, bounded)))
        assert bool(operators(circuit, ComparedSemiJoin)) == by_ends
        assert bool(operators(circuit, Join)) != by_ends
