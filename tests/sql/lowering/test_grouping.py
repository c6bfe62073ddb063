"""What functions of a grouping share: accumulators and traces are there once, only those that are read."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.groups.aggregate import Aggregate
from dbsp.circuits.operators.groups.state.accumulators import Digit, Greatest, Least, Values
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.program import Table, View
from dbsp.sql.plans.schemas import Field

FIELDS = (Field("k", pa.int64()), Field("x", pa.int64()), Field("d", pa.float64()))
TYPES = {
    "count": pa.int64(),
    "sum": pa.int64(),
    "avg": pa.float64(),
    "min": pa.int64(),
    "max": pa.int64(),
    "first": pa.int64(),
}


def circuit_of(*functions: tuple[str, int, bool], append_only: bool = False) -> Circuit:
    """functions: name, column, and whether it is DISTINCT."""
    calls = tuple(
        AggregateCall(
            name,
            (Column(column, FIELDS[column].type),),
            FIELDS[column].type if name in ("min", "max", "sum") else TYPES[name],
            True,
            distinct=distinct,
        )
        for name, column, distinct in functions
    )
    output = (FIELDS[0], *(Field(f"r{i}", call.type) for i, call in enumerate(calls)))
    plan = p.Aggregate(p.Scan("t", FIELDS), (Column(0, pa.int64()),), calls, output)
    table = Table("t", FIELDS, (), append_only, False, None, {}, "t.sql:1:1")
    return lower({"t": table}, {"v": View("v", output, "view", plan, False, "t.sql:2:1")}, 0)


def aggregate_of(circuit: Circuit) -> tuple[Aggregate, list[Integrate]]:
    for node in circuit.nodes:
        if isinstance(node.operator, Aggregate):
            inputs = [circuit.nodes[i].operator for i in node.inputs]
            return node.operator, [i for i in inputs if isinstance(i, Integrate)]
    raise AssertionError("no Aggregate")


def test_functions_of_one_argument_share_its_accumulators() -> None:
    operator, inputs = aggregate_of(circuit_of(("count", 1, False), ("sum", 1, False), ("avg", 1, False)))
    assert operator.accumulated == ((Values(1), Digit(1, 0), Digit(1, 1)),)
    assert [trace.sums for trace in inputs] == [(1, 2, 3)]


def test_functions_of_doubles_share_their_parts() -> None:
    operator, inputs = aggregate_of(circuit_of(("sum", 2, False), ("avg", 2, False)))
    assert operator.accumulated == ((Values(1),),)
    assert len(inputs) == 2


def test_least_and_greatest_share_a_trace_in_order() -> None:
    operator, inputs = aggregate_of(circuit_of(("min", 1, False), ("max", 1, False)))
    assert operator.accumulated == ((),)
    assert [trace.order for trace in inputs] == [None, 1]


def test_over_append_only_input_they_are_accumulators() -> None:
    circuit = circuit_of(("min", 1, False), ("max", 1, False), append_only=True)
    operator, inputs = aggregate_of(circuit)
    assert operator.accumulated == ((Values(1), Least(1), Greatest(1)),)
    assert [(trace.sums, trace.minima, trace.maxima) for trace in inputs] == [((1,), (2,), (3,))]


def test_distinct_arguments_are_accumulated_apart() -> None:
    operator, inputs = aggregate_of(circuit_of(("sum", 1, False), ("count", 1, True), ("sum", 1, True)))
    assert operator.accumulated == ((Values(1), Digit(1, 0), Digit(1, 1)), (Digit(1, 0), Digit(1, 1)))
    assert len(inputs) == 2


def test_what_nothing_lowers_is_named() -> None:
    with pytest.raises(AssertionError, match="nothing says how first is lowered"):
        circuit_of(("first", 1, False))
