"""D ∘ I = id, I ∘ D = id, and z⁻¹ is the stream one step later."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.operators.streams import Current, Delay, Differentiate, Exchange
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import Engine, Options, source, trace
from tests.generators.columns.zsets import Naive, naive_of, plus, schemas
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams


@st.composite
def one(draw: st.DrawFn) -> Any:
    schema = draw(schemas)
    return schema, draw(streams({"t": schema}, steps=6))


# delays and definitions remember whole values, which aren't sent between levels
ways = st.sampled_from([Options(), Options(small=0), Options(small=1 << 60, reopened=True, parts=2)])


@given(one(), options, hash_seeds)
def test_the_integral_of_a_delta_is_the_table(case: Any, way: Options, seed: int) -> None:
    schema, stream = case
    check(circuit_of({"t": schema}, lambda b, t: t, seed), stream, lambda t: t, way)


@given(one(), options, hash_seeds)
def test_an_exchange_changes_nothing(case: Any, way: Options, seed: int) -> None:
    schema, stream = case
    circuit = circuit_of({"t": schema}, lambda b, t: b.add(Exchange((0,)), b.add(Exchange(()), t)), seed)
    check(circuit, stream, lambda t: t, way)


@given(one(), ways, hash_seeds)
def test_differentiating_the_integral(case: Any, way: Options, seed: int) -> None:
    schema, stream = case

    def build(builder: CircuitBuilder, t: int) -> int:
        return builder.add(Differentiate(), builder.add(Current(), trace(builder, t)))

    check(circuit_of({"t": schema}, build, seed), stream, lambda t: t, way)


@given(one(), ways)
def test_integrating_the_derivative(
    tmp_path_factory: pytest.TempPathFactory, case: Any, way: Options
) -> None:
    schema, stream = case
    circuit = circuit_of({"t": schema}, lambda b, t: b.add(Differentiate(), t))
    engine = Engine(circuit, tmp_path_factory.mktemp("d"), way)
    last = Naive()
    for deltas in stream:
        # here the table's stream is read as values, not as deltas
        now = naive_of(deltas["t"])
        change = naive_of(engine.step(deltas)["v"])
        assert change == plus(now, Naive({row: -weight for row, weight in last.items()}))
        assert naive_of(engine.view("v")) == now
        last = now


@given(one(), ways)
def test_delay(tmp_path_factory: pytest.TempPathFactory, case: Any, way: Options) -> None:
    schema, stream = case
    builder = CircuitBuilder()
    node = builder.add(Delay(), source(builder, "t", schema))
    kept = trace(builder, node)
    builder.output("v", builder.nodes[kept].inputs[0], kept)
    engine = Engine(builder.build(), tmp_path_factory.mktemp("z"), way)
    put_out = [naive_of(engine.step(deltas)["v"]) for deltas in [*stream, {"t": ZSet.empty(schema)}]]
    assert put_out == [Naive(), *(naive_of(deltas["t"]) for deltas in stream)]
