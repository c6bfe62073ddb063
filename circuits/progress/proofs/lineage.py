"""Lineage: which column of which table a column of a circuit's node is, value for value."""

from __future__ import annotations

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.generate import Generate
from dbsp.circuits.operators.groups.aggregate import Aggregate
from dbsp.circuits.operators.groups.combine import Combine, CombineParts
from dbsp.circuits.operators.groups.sessions import Sessions
from dbsp.circuits.operators.groups.top import Top
from dbsp.circuits.operators.groups.window import Window
from dbsp.circuits.operators.joins.as_of import AsOf
from dbsp.circuits.operators.joins.join import Join
from dbsp.circuits.operators.joins.semijoin import SemiJoin
from dbsp.circuits.operators.linear import FlatMap, Map, Source
from dbsp.circuits.operators.recursion import Recurrence


def origin(circuit: Circuit, node: int, column: int) -> tuple[str, str] | None:
    """(table, column) whose values are all this column can hold, or None where it is made of several."""
    at = circuit.nodes[node]
    operator = at.operator
    if isinstance(operator, Source):
        return operator.table, at.schema.names[column]
    if isinstance(operator, Recurrence):
        return None
    if isinstance(operator, Map):
        source = _only_column(operator.expressions[column])
        return None if source is None else origin(circuit, at.inputs[0], source)
    if isinstance(operator, FlatMap):
        made = [projection[column] for projection in operator.projections]
        sources = {_only_column(e) for e in made if not isinstance(e, Literal)}
        source = sources.pop() if len(sources) == 1 else None
        return None if source is None else origin(circuit, at.inputs[0], source)
    if isinstance(operator, Join):
        side, column = operator.columns[column]
        return origin(circuit, at.inputs[side], column)
    if isinstance(operator, AsOf):
        own = len(circuit.nodes[at.inputs[0]].schema)
        return origin(circuit, at.inputs[column >= own], column - own if column >= own else column)
    if isinstance(operator, SemiJoin):
        return origin(circuit, at.inputs[0], column)
    if isinstance(operator, Generate):
        return origin(circuit, at.inputs[0], operator.kept[column]) if column < len(operator.kept) else None
    if isinstance(operator, Combine | CombineParts | Aggregate) and column >= operator.keys:
        return None
    if isinstance(operator, Window | Top | Sessions) and column >= len(circuit.nodes[at.inputs[0]].schema):
        return None
    if len(at.inputs) != 1 and not isinstance(operator, Aggregate):
        return None
    return origin(circuit, at.inputs[0], column)


def _only_column(expression: Expression) -> int | None:
    """The one column an expression is a function of: it takes no more values than the column does."""
    if isinstance(expression, Column):
        return expression.index
    if not isinstance(expression, Call):
        return None
    made_of = [argument for argument in expression.arguments if isinstance(argument, Column | Call)]
    columns = {_only_column(argument) for argument in made_of}
    return columns.pop() if len(columns) == 1 else None
