"""What several operators ask of a legal node: each refusal names the place and what is wrong."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.legal import has_columns, lies_by, looks_up, makes, pairs_of_keys, same_types
from dbsp.circuits.operators.linear import Negate
from dbsp.circuits.operators.operator import Node
from tests.circuits.engine import source, trace

INT, TEXT = pa.int64(), pa.string()
SCHEMA = pa.schema([("k", INT), ("s", TEXT)])
K, S = Column(0, INT), Column(1, TEXT)


def node(schema: pa.Schema = SCHEMA, placement: tuple[int, ...] | None = None) -> Node:
    return Node(Negate(), (), schema, placement, 0)


def traced() -> Node:
    builder = CircuitBuilder()
    return builder.nodes[trace(builder, source(builder, "t", SCHEMA))]


DISTINCT = Node(Distinct(), (), SCHEMA, None, 0)
LEGAL: list[Callable[[], None]] = [
    lambda: looks_up(DISTINCT, [traced(), traced()], "here"),
    lambda: makes((K, S), node(), node(), "here"),
    lambda: makes((Literal(1, INT), Literal(None, TEXT)), node(), node(pa.schema([])), "here"),
    lambda: has_columns(Call("length", (S,), pa.int32()), node(), "here"),
    lambda: same_types(node(), [node(), node(SCHEMA.set(0, pa.field("other", INT)))], "here"),
    lambda: same_types(node(), [], "here"),
    lambda: pairs_of_keys(((0, 1), (0, 1)), node(), node(), "here"),
    lambda: pairs_of_keys(((), ()), node(), node(pa.schema([])), "here"),
    lambda: lies_by(node(placement=(1,)), (1,), "here"),
    lambda: lies_by(node(), None, "here"),
]
ILLEGAL: list[tuple[str, Callable[[], None]]] = [
    ("inputs must be traces", lambda: looks_up(DISTINCT, [traced(), node()], "here")),
    ("say what reading the trace costs", lambda: looks_up(node(), [traced()], "here")),
    ("expression types differ", lambda: makes((S, K), node(), node(), "here")),
    ("expression types differ", lambda: makes((K,), node(), node(), "here")),
    ("no column 2", lambda: makes((Column(2, INT), S), node(), node(), "here")),
    ("no column 5", lambda: has_columns(Call("add", (K, Column(5, INT)), INT), node(), "here")),
    ("no column -1", lambda: has_columns(Column(-1, INT), node(), "here")),
    ("input types differ", lambda: same_types(node(), [node(), node(pa.schema([("k", INT)]))], "here")),
    ("key types differ", lambda: pairs_of_keys(((0,), (1,)), node(), node(), "here")),
    ("times differ", lambda: pairs_of_keys(((1,), (0,)), node(), node(), "here", "times")),
    (r"rows lie by \(0,\)", lambda: lies_by(node(placement=(0,)), (1,), "here")),
    (r"rows lie by \(0, 1\)", lambda: lies_by(node(placement=(0, 1)), (1, 0), "here")),
    ("keys lie by None", lambda: lies_by(node(), (), "here", "keys")),
]


@pytest.mark.parametrize("index", range(len(LEGAL)))
def test_what_is_legal(index: int) -> None:
    LEGAL[index]()


@pytest.mark.parametrize(("said", "ask"), ILLEGAL)
def test_what_is_not(said: str, ask: Callable[[], None]) -> None:
    with pytest.raises(AssertionError, match=f"^here: {said}"):
        ask()


def test_more_keys_on_one_side_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="shorter"):
        pairs_of_keys(((0, 1), (0,)), node(), node(), "here")
