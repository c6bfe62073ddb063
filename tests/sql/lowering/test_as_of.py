"""As-of joins: each left row beside the nearest right one, by a brute force; and what is not stored."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dbsp.circuits.operators.joins.as_of import AsOf
from dbsp.circuits.operators.linear import Filter
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.nodes.join import join_schema
from tests.sql.hand_made import Bag, T, U, call, column, literal, random_bags, rows_of, table
from tests.sql.lowering.lowered import circuit_of, inputs_of, nodes_of, operators

COMPARED = {
    "greater_than_or_equal": lambda left, right: left >= right,
    "greater_than": lambda left, right: left > right,
    "less_than_or_equal": lambda left, right: left <= right,
    "less_than": lambda left, right: left < right,
}


def joined(kind: str, comparison: str, null_safe: bool = False) -> p.AsOf:
    schema = join_schema(kind, T.schema, U.schema)
    key = ((column(0),), (column(0),), (null_safe,))
    return p.AsOf(T, U, kind, *key, column(1), column(1), comparison, schema)


def nearest(bags: dict[str, Bag], kind: str, comparison: str, null_safe: bool) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for left in bags["t"]:
        matches = [
            right
            for right in bags["u"]
            if None not in (left[1], right[1]) and COMPARED[comparison](left[1], right[1])
            if left[0] == right[0] and (null_safe or left[0] is not None)
        ]
        # of equally near ones the first in the order of the columns, NULLs first
        order = [
            (abs(right[1] - left[1]), [(v is not None, v or 0) for v in right], right) for right in matches
        ]
        if order:
            found[*left, *min(order)[2]] += 1
        elif kind == "left":
            found[(*left, None, None, None, None)] += 1
    return found


@pytest.mark.parametrize("comparison", COMPARED)
@pytest.mark.parametrize(("kind", "null_safe"), [("inner", False), ("left", False), ("left", True)])
def test_each_row_meets_its_nearest(kind: str, comparison: str, null_safe: bool) -> None:
    bags = random_bags(len(comparison))
    assert rows_of(joined(kind, comparison, null_safe), bags) == nearest(bags, kind, comparison, null_safe)


def test_both_sides_lie_by_key_in_the_order_of_their_time() -> None:
    circuit = circuit_of(joined("inner", "less_than"))
    (node,) = nodes_of(circuit, AsOf)
    assert [
        (trace.placed_by, trace.order) for trace in inputs_of(circuit, node) if isinstance(trace, Integrate)
    ] == [((0,), 1)] * 2


def test_rows_without_a_time_or_a_key_are_not_stored() -> None:
    filters = [str(one.condition) for one in operators(circuit_of(joined("inner", "less_than")), Filter)]
    assert filters == ["and(is_not_null(#0), is_not_null(#1))"] * 2
    safe = [str(one.condition) for one in operators(circuit_of(joined("inner", "less_than", True)), Filter)]
    assert safe == ["is_not_null(#1)"] * 2


def test_a_computed_time_is_a_further_column() -> None:
    plan = joined("left", "less_than")
    shifted = p.AsOf(
        T, U, "left", (column(0),), (column(0),), (False,), call("add", column(1), literal(1)), column(1),
        "less_than_or_equal", plan.schema,
    )  # fmt: skip
    bags = random_bags(5)
    assert rows_of(shifted, bags) == rows_of(plan, bags)


def test_what_grows_only_is_said_to_the_operator() -> None:
    for grows in (False, True):
        circuit = circuit_of(joined("inner", "less_than"), tables=(table(T), table(U, append_only=grows)))
        (operator,) = operators(circuit, AsOf)
        assert operator.right_grows is grows
