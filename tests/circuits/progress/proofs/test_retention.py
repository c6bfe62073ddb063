"""A row of a trace is collected once no reader can come to it; and what is collected changes no result."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.families import Keeper, Reader, Unchanged
from dbsp.circuits.operators.inputs.late import OnTime
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.operator import Operator
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.limits import Limits
from dbsp.circuits.progress.proofs.retention import with_retentions
from dbsp.circuits.progress.waterline import Lateness
from dbsp.circuits.traces.layout import Layout
from tests.circuits.engine import Engine, Options, output, trace
from tests.effort import examples
from tests.generators.columns.zsets import naive_of, zset_of

TIMES = pa.schema([("t", pa.int64())])
LATENESS = Lateness("t.t", 0, pa.int64(), 1)


@dataclass(frozen=True)
class Nosy(Unchanged, Reader):
    """Reads a trace, and may come back to any row of it."""

    @property
    def cost(self) -> str:
        return "lookup"

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        return ()

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)


@dataclass(frozen=True)
class Hoard(Unchanged, Keeper):
    """Keeps a trace, and doesn't say which rows of it are needed."""

    @property
    def cost(self) -> str:
        return "linear"

    def verify(self, *_: object) -> None:
        """Nothing."""

    def layout(self, *inputs: pa.Schema) -> Layout:
        return Layout(inputs[0], (0,))

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)


def read_by(*readers: Operator) -> tuple[Circuit, int]:
    """(the circuit of a trace of times that have a waterline, the trace)"""
    builder = CircuitBuilder(lateness=[LATENESS])
    builder.sources["t"] = builder.add(Source("t", TIMES))
    on_time = builder.add(OnTime("t", (LATENESS,)), builder.sources["t"])
    trace = builder.add(Integrate((0,)), builder.placed(on_time, (0,)))
    for reader in readers:
        builder.add(reader, trace)
    return with_retentions(builder.build()), trace


def test_rows_are_collected_that_no_reader_reaches() -> None:
    circuit, trace = read_by(Distinct())
    assert trace in circuit.retentions


@pytest.mark.parametrize("readers", [(Nosy(),), (Distinct(), Nosy()), (Nosy(), Distinct())])
def test_nothing_is_collected_that_one_reader_may_come_back_to(readers: tuple[Operator, ...]) -> None:
    circuit, trace = read_by(*readers)
    assert trace not in circuit.retentions


def test_nothing_is_collected_of_a_trace_whose_operator_says_nothing_of_it() -> None:
    circuit, trace = read_by(Distinct(), Hoard())
    kept = next(i for i, node in enumerate(circuit.nodes) if isinstance(node.operator, Hoard))
    assert kept in circuit.layouts
    assert set(circuit.retentions) == {trace}


def test_the_contents_of_a_view_are_never_collected() -> None:
    circuit, kept = read_by(Distinct())
    builder = CircuitBuilder(nodes=list(circuit.nodes), sources=circuit.sources, lateness=[LATENESS])
    builder.output("v", circuit.nodes[kept].inputs[0], kept)
    assert with_retentions(builder.build()).retentions == {}


def test_without_lateness_nothing_is() -> None:
    circuit, _ = read_by(Distinct())
    assert with_retentions(replace(circuit, lateness=(), retentions={})).retentions == {}


inserted = st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=1, max_size=6)


@examples(12)
@given(inserted, st.sampled_from([0, 1 << 60]))
def test_what_is_collected_changes_no_view(ahead: list[list[int]], small: int) -> None:
    """distinct of times that come in order, some of them late, with and without."""
    builder = CircuitBuilder(lateness=[LATENESS])
    builder.sources["t"] = builder.add(Source("t", TIMES))
    on_time = builder.add(OnTime("t", (LATENESS,)), builder.sources["t"])
    kept = trace(builder, on_time)
    output(builder, "v", builder.add(Distinct(), kept))
    plain = builder.build()
    collecting = with_retentions(plain)
    assert kept in collecting.retentions
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        engines = [Engine(plain, Path(one), Options(small=small))]
        engines.append(Engine(collecting, Path(other), Options(small=small)))
        for step, times in enumerate(ahead):
            delta = zset_of(TIMES, [((3 * step + t,), 1) for t in times])
            first, second = (naive_of(engine.step({"t": delta})["v"]) for engine in engines)
            assert first == second
            assert naive_of(engines[0].view("v")) == naive_of(engines[1].view("v"))
        kept_rows, all_rows = (engine.state.rows()[kept] for engine in reversed(engines))
        assert kept_rows <= all_rows
        assert not small or len(ahead) < 5 or not all(ahead) or kept_rows < all_rows
