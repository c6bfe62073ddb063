"""Combining before rows are multiplied is combining after."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.groups.combine import Combine
from dbsp.circuits.operators.groups.combine_expanded import CombineExpanded
from dbsp.circuits.operators.groups.state.accumulators import Digit, Greatest, Least, Values
from dbsp.circuits.operators.linear import FlatMap
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.lowering.expanded import shared_parts
from tests.generators.columns.zsets import zset_of

LONG = pa.int64()
SCHEMA = pa.schema([("a", LONG), ("b", LONG), ("x", LONG)])
A, B, X = (Column(i, LONG, True) for i in range(3))
CONTEXT = Context(0, 1, None, owns_empty_key=True)


def number(value: int | None) -> Literal:
    return Literal(value, LONG)


def plus(expression: Expression, value: int) -> Call:
    return Call("add", (expression, number(value)), LONG, True, (("evalMode", "LEGACY"),))


START = Call("subtract", (A, Call("pmod", (A, number(4)), LONG, True)), LONG, True)
EXPANSIONS = {
    "hop": [(B, START, X), (B, plus(START, -4), X), (B, plus(START, -8), X)],
    "rollup": [(A, B, X), (A, number(None), X), (number(None), number(None), X)],
    "cube of calls": [(START, plus(B, 1), X), (START, number(None), X), (number(None), plus(B, 1), X)],
}
rows = st.tuples(*(st.none() | st.integers(-9, 9) for _ in SCHEMA))


@given(
    st.sampled_from(sorted(EXPANSIONS)),
    st.lists(st.tuples(rows, st.sampled_from([-2, -1, 1, 3])), max_size=12),
    st.booleans(),
)
def test_it_is_combine_over_flat_map(
    name: str, listed: list[tuple[tuple[object, ...], int]], grows: bool
) -> None:
    projections = EXPANSIONS[name]
    delta = zset_of(SCHEMA, [(row, abs(weight) if grows else weight) for row, weight in listed])
    accumulators = (Values(2), Digit(2, 0), Digit(2, 1), *((Least(2), Greatest(2)) if grows else ()))
    parts = shared_parts(projections, (Column(0, LONG), Column(1, LONG)), (Column(2, LONG),))
    assert parts is not None
    keys = pa.schema([SCHEMA.field(0), SCHEMA.field(1)])
    early = CombineExpanded(keys, parts.projections, parts.shared, parts.arguments, accumulators)
    late = Combine(2, accumulators).step(CONTEXT, FlatMap(tuple(projections), SCHEMA).step(CONTEXT, delta))
    found = early.step(CONTEXT, delta)
    assert groups(found) == groups(late)
    assert len(groups(found)) == len(found)


def groups(combined: ZSet) -> dict[tuple[object, ...], tuple[object, ...]]:
    """By key the accumulators and the weight."""
    columns = [column.to_pylist() for column in combined.rows.columns]
    lines = zip(*columns, combined.weights.tolist(), strict=True)
    return {line[:2]: line[2:] for line in lines}


def test_what_is_read_has_the_places_and_bounds_of_the_expansion() -> None:
    parts = shared_parts(EXPANSIONS["hop"], (Column(0, LONG), Column(1, LONG)), ())
    assert parts is not None
    operator = CombineExpanded(SCHEMA, parts.projections, parts.shared, parts.arguments, ())
    flat = FlatMap(tuple(EXPANSIONS["hop"]), SCHEMA)
    for placement in (None, (1,), (0,), (1, 0)):
        assert operator.placement(placement) == flat.placement(placement)
    assert [operator.origin(i, SCHEMA) for i in range(2)] == [(0, 1), (0, 0)]
    assert operator.reads(0, {0, 1}, SCHEMA) == {0, 1}
