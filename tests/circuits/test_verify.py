"""`verify` names the node of every circuit that isn't legal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.circuits.circuit import Circuit, CircuitBuilder, Output
from dbsp.circuits.expressions.nodes import Column, Literal
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.inputs.tables import AppendOnly
from dbsp.circuits.operators.joins.as_of import AsOf
from dbsp.circuits.operators.joins.join import LEFT, RIGHT, Join
from dbsp.circuits.operators.linear import Filter, Map, Negate, Union
from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.traces.band import ValueBand
from dbsp.circuits.verify import verify
from tests.circuits.engine import output, source, trace

SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string())])
COLUMNS = ((LEFT, 0), (RIGHT, 1))


def built(build: Callable[[CircuitBuilder, int], int]) -> Circuit:
    builder = CircuitBuilder()
    build(builder, source(builder, "t", SCHEMA))
    return builder.build()


def unplaced_join(b: CircuitBuilder, t: int) -> int:
    return b.add(Join((0,), (0,), COLUMNS), trace(b, t, (0,)), trace(b, t))


def by_order(b: CircuitBuilder, t: int, order: int, key: tuple[int, ...] = (0,)) -> int:
    return b.add(Integrate(key, order), b.placed(t, key))


ILLEGAL: dict[str, tuple[Callable[[CircuitBuilder, int], int], str]] = {
    "distinct of a stream": (lambda b, t: b.add(Distinct(), t), "inputs must be traces"),
    "join of a stream": (
        lambda b, t: b.add(Join((0,), (0,), COLUMNS), trace(b, t, (0,)), t),
        "inputs must be traces",
    ),
    "join placed by other columns": (unplaced_join, "right rows lie by"),
    "join of different key types": (
        lambda b, t: b.add(Join((0,), (1,), COLUMNS), trace(b, t, (0,)), trace(b, t, (1,))),
        "key types differ",
    ),
    "a band in another order than the trace's": (
        lambda b, t: b.add(
            Join((0,), (0,), COLUMNS, None, None, ValueBand(1, (Column(1, pa.string()),), ())),
            trace(b, t, (0,)),
            trace(b, t, (0,)),
        ),
        "not of the trace's order",
    ),
    "a band with bounds of another type": (
        lambda b, t: b.add(
            Join((0,), (0,), COLUMNS, None, None, ValueBand(1, (Column(0, pa.int64()),), ())),
            trace(b, t, (0,)),
            by_order(b, t, 1),
        ),
        "a band of another type",
    ),
    "a join as of a time over a trace in another order": (
        lambda b, t: b.add(AsOf((0,), (0,), 1, 1, "less_than", False), trace(b, t, (0,)), by_order(b, t, 1)),
        "isn't in the order of its time",
    ),
    "a join as of times of other types": (
        lambda b, t: b.add(
            AsOf((), (), 0, 1, "less_than", False), by_order(b, t, 0, ()), by_order(b, t, 1, ())
        ),
        "types differ",
    ),
    "a join as of an equal time": (
        lambda b, t: b.add(AsOf((0,), (0,), 1, 1, "equal_to", False), by_order(b, t, 1), by_order(b, t, 1)),
        "nothing is nearest by equal_to",
    ),
    "integrate rows that lie anywhere": (lambda b, t: b.add(Integrate((0,)), t), "rows lie by None"),
    "filter by a number": (lambda b, t: b.add(Filter(Column(0, pa.int64())), t), "condition is not boolean"),
    "filter by a column that isn't there": (
        lambda b, t: b.add(Filter(Column(2, pa.bool_())), t),
        "no column 2",
    ),
    "map to another type": (
        lambda b, t: b.add(Map((Column(0, pa.int64()),), pa.schema([("x", pa.string())])), t),
        "expression types differ",
    ),
    "map of a column that isn't there": (
        lambda b, t: b.add(Map((Column(7, pa.int64()),), pa.schema([("x", pa.int64())])), t),
        "no column 7",
    ),
    "rows without columns": (lambda b, t: b.add(Map((), pa.schema([])), t), "at least one column"),
    "union of other types": (
        lambda b, t: b.add(
            Union(SCHEMA), t, b.add(Map((Literal(1, pa.int64()),), pa.schema([("x", pa.int64())])), t)
        ),
        "input types differ",
    ),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal(name: str) -> None:
    build, message = ILLEGAL[name]
    with pytest.raises(AssertionError, match=message):
        verify(built(build))


def legal() -> Circuit:
    builder = CircuitBuilder()
    table = source(builder, "t", SCHEMA)
    output(builder, "v", builder.add(Distinct(), trace(builder, builder.add(Negate(), table))))
    return builder.build()


def test_legal() -> None:
    verify(legal())


def test_nodes_out_of_order() -> None:
    circuit = legal()
    nodes = list(circuit.nodes)
    nodes[1] = replace(nodes[1], inputs=(3,))
    with pytest.raises(AssertionError, match=r"node 1 .*inputs must come before"):
        verify(replace(circuit, nodes=tuple(nodes)))


def test_a_wrong_level() -> None:
    circuit = legal()
    at = next(i for i, node in enumerate(circuit.nodes) if isinstance(node.operator, Exchange))
    nodes = list(circuit.nodes)
    nodes[at] = replace(nodes[at], level=0)
    with pytest.raises(AssertionError, match=f"node {at} .*wrong level"):
        verify(replace(circuit, nodes=tuple(nodes)))


def test_a_view_without_a_trace() -> None:
    circuit = legal()
    with pytest.raises(AssertionError, match="view v: no trace"):
        verify(replace(circuit, outputs=(Output("v", 1, 1),)))


def test_a_log_of_rows_that_may_be_retracted() -> None:
    circuit = built(lambda b, t: b.add(AppendOnly("t"), t))
    verify(replace(circuit, outputs=(Output("v", 1, None),)))
    with pytest.raises(AssertionError, match="view v: rows of its log may be retracted"):
        verify(replace(circuit, outputs=(Output("v", 0, None),)))


def test_a_source_that_isnt_one() -> None:
    with pytest.raises(AssertionError, match="source of t"):
        verify(replace(legal(), sources={"t": 1}))


def test_equal_operators_over_equal_inputs_are_one_node() -> None:
    builder = CircuitBuilder()
    table = source(builder, "t", SCHEMA)
    assert builder.add(Negate(), table) == builder.add(Negate(), table)
    assert trace(builder, table) == trace(builder, table)
    assert trace(builder, table) != trace(builder, table, (0,))
