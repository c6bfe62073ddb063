"""A state's record is read by the names of its traces; one of numbers, only where they mean the same."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.errors import StateError
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.steps.state import State, by_name

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.int64())])


def circuit_of(*placements: tuple[int, ...]) -> Circuit:
    """A table in traces that lie by some columns."""
    builder = CircuitBuilder()
    source = builder.add(Source("t", SCHEMA))
    for placement in placements:
        builder.add(Integrate(placement), builder.add(Exchange(placement), source))
    return builder.build()


def test_other_traces_are_left_out() -> None:
    both, one = circuit_of((0,), (1,)), circuit_of((1,))
    read = State.from_json(one, State.empty(both).to_json(both))
    assert read.spines == State.empty(one).spines
    assert not State.from_json(circuit_of((0, 1)), State.empty(both).to_json(both)).spines


def test_numbers_of_other_nodes_are_refused() -> None:
    circuit = circuit_of((0,))
    spines = {str(node): spine.to_json() for node, spine in State.empty(circuit).spines.items()}
    record = {**State.empty(circuit).to_json(circuit), "spines": spines}
    assert by_name(circuit, record) == State.empty(circuit).to_json(circuit)
    with pytest.raises(StateError, match=r"older dbsp \(format 2\), in which this program keeps other rows"):
        by_name(circuit_of((0,), (1,)), record)
