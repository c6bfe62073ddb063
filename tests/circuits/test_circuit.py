"""The builder: equal operators are one node, rows move only where they must, and levels count the moves."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.circuit import CircuitBuilder, Output
from dbsp.circuits.operators.linear import Negate, Union
from dbsp.circuits.operators.recursion import ITERATION_FIELD, Recurrence
from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.traces.layout import Layout
from tests.circuits.engine import output, source, trace

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.string())])
INSIDE = SCHEMA.append(ITERATION_FIELD)


def test_equal_operators_over_equal_inputs_are_one_node() -> None:
    builder = CircuitBuilder()
    rows, other = source(builder, "r", SCHEMA), source(builder, "s", SCHEMA)
    assert builder.add(Negate(), rows) == builder.add(Negate(), rows, name="another name")
    assert builder.add(Negate(), rows) != builder.add(Negate(), other)
    assert builder.add(Union(SCHEMA), rows, other) != builder.add(Union(SCHEMA), other, rows)


def test_rows_move_only_where_they_do_not_lie_already() -> None:
    builder = CircuitBuilder()
    rows = source(builder, "r", SCHEMA)
    moved = builder.placed(rows, (0,))
    assert moved != rows
    assert builder.placed(moved, (0,)) == moved
    assert builder.placed(moved, (0, 1), within=True) == moved
    assert builder.placed(moved, (0, 1)) != moved
    assert builder.placed(moved, (1,), within=True) != moved
    assert builder.placement(moved) == (0,)
    levels = [builder.nodes[i].level for i in (rows, moved, builder.placed(moved, (1,)))]
    assert levels == [0, 1, 2]
    circuit = builder.build()
    assert circuit.levels == 3
    assert circuit.consumers[rows] == {1}
    assert circuit.consumers[moved] == {2}


def test_what_a_circuit_keeps_and_for_whom() -> None:
    builder = CircuitBuilder(seed=3)
    rows, other = source(builder, "r", SCHEMA), source(builder, "s", SCHEMA)
    output(builder, "v", builder.add(Negate(), rows))
    builder.output("log", other, None)
    circuit = builder.build()
    kept = circuit.output("v").kept
    assert circuit.output("log") == Output("log", other, None)
    assert (circuit.output("log").kept, circuit.output("v").changes) == (other, kept)
    assert Output("e", 1, 2, 3).changes == 3
    assert circuit.layouts == {kept: Layout(SCHEMA, (0, 1))}
    assert circuit.logs == {other: Layout(SCHEMA, ())}
    assert (circuit.stored(kept), circuit.stored(other)) == (circuit.layouts[kept], circuit.logs[other])
    assert circuit.tables == {rows: "r", other: "s"}
    assert (circuit.views_of(rows), circuit.views_of(other)) == (["v"], ["log"])
    assert circuit.gathered == frozenset()
    assert not circuit.is_timed
    assert circuit.seed == 3


def test_a_gathered_trace_lies_in_the_first_partition() -> None:
    builder = CircuitBuilder()
    everything = builder.placed(source(builder, "r", SCHEMA), ())
    gathered = builder.add(Integrate((0,), gathered=True), everything)
    spread = trace(builder, builder.sources["r"], (0,))
    assert builder.build().gathered == {gathered}
    assert (builder.nodes[gathered].placement, builder.nodes[spread].placement) == ((), (0,))


def test_a_loop_is_what_depends_on_where_it_begins() -> None:
    builder = CircuitBuilder()
    outside = builder.placed(source(builder, "r", SCHEMA), ())
    beside = builder.add(Negate(), outside)
    begins = builder.add(Recurrence(0, "n", INSIDE, 9, ""), outside)
    inner = builder.add(Negate(), begins)
    (end,) = builder.loop([(inner, begins)], [inner])
    after = builder.add(Exchange((0,)), end)
    circuit = builder.build()
    (loop,) = circuit.loops
    assert loop.body == (begins, inner, end)
    assert circuit.fed_back == {begins: (inner,)}
    assert {i for i in range(len(circuit.nodes)) if i in circuit.loop_of} == {begins, inner, end}
    assert beside not in circuit.loop_of
    assert after not in circuit.loop_of
