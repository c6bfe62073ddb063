"""Distinct: 1 where the weight is positive, however it got there."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.operators.distinct import Distinct
from tests.circuits.engine import Options, trace
from tests.generators.columns.zsets import Naive, schemas
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams


@st.composite
def one(draw: st.DrawFn) -> Any:
    schema = draw(schemas)
    return schema, draw(streams({"t": schema}, steps=6)), draw(st.integers(1, len(schema)))


@given(one(), options, hash_seeds)
def test_distinct(case: Any, way: Options, seed: int) -> None:
    schema, stream, placed_by = case

    def build(builder: CircuitBuilder, t: int) -> int:
        return builder.add(Distinct(), trace(builder, t, tuple(range(placed_by))))

    circuit = circuit_of({"t": schema}, build, seed)
    check(circuit, stream, lambda t: Naive({row: 1 for row, weight in t.items() if weight > 0}), way)
