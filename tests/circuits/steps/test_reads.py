"""Which columns travel: exactly those that make a difference."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.operators.inputs.tables import AppendOnly, NonNegative
from dbsp.circuits.operators.linear import Filter, Map, Source
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.steps.reads import read_columns, without_unread

LONG = pa.int64()
SCHEMA = pa.schema({"a": LONG, "b": LONG, "c": pa.string()})
POSITIVE = Call("greater_than", (Column(1, LONG), Column(1, LONG)), pa.bool_())


def circuit(*chain, output=True):
    builder = CircuitBuilder()
    node = builder.sources["t"] = builder.add(Source("t", SCHEMA))
    for operator in chain:
        node = builder.add(operator, node)
    if output:
        builder.output("v", node, None)
    return builder.build()


@pytest.mark.parametrize(
    ("chain", "read"),
    [
        ((), {0, 1, 2}),
        ((Map((Column(0, LONG),), pa.schema({"a": LONG})),), {0}),
        ((AppendOnly("t"), Filter(POSITIVE), Map((Column(0, LONG),), pa.schema({"a": LONG}))), {0, 1}),
        ((Filter(POSITIVE),), {0, 1, 2}),
    ],
)
def test_what_maps_filters_and_views_read(chain, read):
    assert read_columns(circuit(*chain), "t") == read


def test_a_trace_of_whole_rows_reads_them_whole():
    builder = CircuitBuilder()
    source = builder.sources["t"] = builder.add(Source("t", SCHEMA))
    trace = builder.add(Integrate((0, 1, 2)), builder.placed(source, (0, 1, 2)))
    builder.add(NonNegative("t"), trace)
    assert read_columns(builder.build(), "t") == {0, 1, 2}


def test_a_table_nobody_reads():
    assert read_columns(circuit(output=False), "t") == frozenset()


def test_unread_columns_become_null_but_not_in_retractions():
    rows = pa.record_batch({"a": [1, 2], "b": [3, 4], "c": ["x", "y"], "__weight": pa.array([1, 1], LONG)})
    assert without_unread(rows, frozenset({0})).to_pylist() == [
        {"a": 1, "b": None, "c": None, "__weight": 1},
        {"a": 2, "b": None, "c": None, "__weight": 1},
    ]
    retracting = rows.set_column(3, "__weight", pa.array([1, -1], LONG))
    assert without_unread(retracting, frozenset({0})) == retracting
