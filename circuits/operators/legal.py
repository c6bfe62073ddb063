"""What several operators ask of a legal node. Each raises AssertionError that begins with `where`."""

from __future__ import annotations

from collections.abc import Sequence

from dbsp.circuits.expressions.nodes import Expression, columns_of
from dbsp.circuits.operators.operator import Node, Placement


def looks_up(node: Node, inputs: Sequence[Node], where: str) -> None:
    """Rows are looked up in all inputs."""
    assert all(child.operator.is_trace for child in inputs), f"{where}: inputs must be traces"
    assert node.operator.costs_more, f"{where}: say what reading the trace costs"


def makes(expressions: Sequence[Expression], node: Node, child: Node, where: str) -> None:
    """The node's columns are the expressions, over the child's."""
    assert [e.type for e in expressions] == node.schema.types, f"{where}: expression types differ"
    for expression in expressions:
        has_columns(expression, child, where)


def has_columns(expression: Expression, child: Node, where: str) -> None:
    """The child has the columns that the expression reads."""
    for column in columns_of(expression):
        assert 0 <= column < len(child.schema), f"{where}: no column {column}"


def same_types(node: Node, inputs: Sequence[Node], where: str) -> None:
    """All have the columns' types."""
    for child in inputs:
        assert child.schema.types == node.schema.types, f"{where}: input types differ"


def pairs_of_keys(
    keys: tuple[Sequence[int], Sequence[int]], left: Node, right: Node, where: str, what: str = "key types"
) -> None:
    """What is compared has one type."""
    for a, b in zip(*keys, strict=True):
        assert left.schema.field(a).type == right.schema.field(b).type, f"{where}: {what} differ"


def lies_by(child: Node, columns: Placement, where: str, what: str = "rows") -> None:
    """The child's rows lie by exactly these columns."""
    assert child.placement == columns, f"{where}: {what} lie by {child.placement}"
