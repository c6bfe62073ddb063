"""Map, filter, flat_map, union and negate: Q(a + b) = Q(a) + Q(b)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.operators.linear import Filter, FlatMap, Map, Negate, Union
from tests.circuits.engine import Options
from tests.generators.columns.zsets import Naive, plus, schemas
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams


@st.composite
def over_one(draw: st.DrawFn) -> Any:
    schema = draw(schemas)
    return schema, draw(streams({"t": schema}))


one = over_one()


def mapped(rows: Naive, f: Any) -> Naive:
    """Σ over the rows; identities of rows are ('list', value, …)."""
    return plus(*(Naive({f(row): weight}) for row, weight in rows.items()))


@given(one, st.data(), options, hash_seeds)
def test_map(case: Any, data: st.DataObject, way: Options, seed: int) -> None:
    schema, stream = case
    places = data.draw(st.lists(st.integers(0, len(schema) - 1), min_size=1, max_size=3))
    expressions = tuple(Column(i, schema.field(i).type) for i in places)
    target = pa.schema([pa.field(f"m{n}", e.type) for n, e in enumerate(expressions)])
    circuit = circuit_of({"t": schema}, lambda b, t: b.add(Map(expressions, target), t), seed)
    check(circuit, stream, lambda t: mapped(t, lambda row: ("list", *(row[1 + i] for i in places))), way)


@given(one, options, hash_seeds)
def test_filter(case: Any, way: Options, seed: int) -> None:
    schema, stream = case
    condition = Call("is_not_null", (Column(0, schema.field(0).type),), pa.bool_(), nullable=False)
    circuit = circuit_of({"t": schema}, lambda b, t: b.add(Filter(condition), t), seed)
    check(circuit, stream, lambda t: Naive({r: w for r, w in t.items() if r[1] is not None}), way)


@given(one, options, hash_seeds)
def test_flat_map(case: Any, way: Options, seed: int) -> None:
    schema, stream = case
    first, last = Column(0, schema.field(0).type), Column(len(schema) - 1, schema.field(len(schema) - 1).type)
    target = pa.schema([("a", first.type), ("b", last.type)])
    # the second projection swaps what it can
    swapped = (last, first) if first.type == last.type else (first, last)
    circuit = circuit_of(
        {"t": schema}, lambda b, t: b.add(FlatMap(((first, last), swapped), target), t), seed
    )
    is_swapped = first.type == last.type

    def query(t: Naive) -> Naive:
        straight = mapped(t, lambda row: ("list", row[1], row[-1]))
        return plus(
            straight,
            mapped(t, lambda row: ("list", row[-1], row[1]) if is_swapped else ("list", row[1], row[-1])),
        )

    check(circuit, stream, query, way)


@st.composite
def two_alike(draw: st.DrawFn) -> Any:
    schema = draw(schemas)
    return schema, draw(streams({"a": schema, "b": schema}))


@given(two_alike(), options, hash_seeds)
def test_union_and_negate(case: Any, way: Options, seed: int) -> None:
    schema, stream = case

    def build(builder: CircuitBuilder, a: int, b: int) -> int:
        return builder.add(Union(schema), a, b, builder.add(Negate(), b), a)

    check(circuit_of({"a": schema, "b": schema}, build, seed), stream, lambda a, b: plus(a, a), way)
