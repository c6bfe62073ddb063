"""A column is a table's as long as its values are handed on, and no longer."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.joins.join import LEFT, RIGHT, Join
from dbsp.circuits.operators.linear import Constant, FlatMap, Map, Negate, Union
from dbsp.circuits.progress.proofs.lineage import made, origin
from tests.circuits.engine import source, trace

INT = pa.int64()
SCHEMA = pa.schema([("k", INT), ("v", INT)])
K, V = Column(0, INT), Column(1, INT)
BOTH = Call("add", (K, V), INT, True, (("evalMode", "ANSI"),))


def test_a_column_is_followed_to_its_table() -> None:
    builder = CircuitBuilder()
    left, right = source(builder, "r", SCHEMA), source(builder, "s", SCHEMA)
    swapped = builder.add(Map((V, K, BOTH), SCHEMA.append(pa.field("b", INT))), left)
    joined = builder.add(
        Join((1,), (0,), ((RIGHT, 1), (LEFT, 0), (LEFT, 2))),
        trace(builder, swapped, (1,)),
        trace(builder, right, (0,)),
    )
    circuit = builder.build()
    assert [origin(circuit, left, i) for i in range(2)] == [("r", "k"), ("r", "v")]
    assert [origin(circuit, swapped, i) for i in range(3)] == [("r", "v"), ("r", "k"), None]
    assert [origin(circuit, joined, i) for i in range(3)] == [("s", "v"), ("r", "v"), None]


def test_how_a_column_is_made_is_said_over_the_table() -> None:
    def more(by: int) -> Call:
        return Call("add", (V, Literal(by, INT)), INT)

    builder = CircuitBuilder()
    rows = source(builder, "r", SCHEMA)
    several = builder.add(FlatMap(((K, more(1)), (K, more(2))), SCHEMA), rows)
    squared = builder.add(Map((Call("multiply", (V, V), INT), K), SCHEMA), builder.add(Negate(), several))
    found = [*made(builder.build(), squared, Call("unary_minus", (K,), INT))]
    squares = [Call("multiply", (more(by), more(by)), INT) for by in (1, 2)]
    assert found == [Call("unary_minus", (square,), INT) for square in squares]
    assert [*made(builder.build(), squared, Literal(1, INT))] == [Literal(1, INT)]


@pytest.mark.parametrize("column", [0, 1])
def test_what_is_made_of_several_tables_or_none_has_no_origin(column: int) -> None:
    builder = CircuitBuilder()
    left, right = source(builder, "r", SCHEMA), source(builder, "s", SCHEMA)
    mixed = builder.add(Negate(), builder.add(Union(SCHEMA), left, right))
    constant = builder.add(Constant(pa.RecordBatch.from_pylist([{"k": 1, "v": 2}], SCHEMA)))
    circuit = builder.build()
    assert origin(circuit, mixed, column) is None
    assert origin(circuit, constant, column) is None
