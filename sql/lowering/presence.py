"""Distinct arguments that several functions add up, each under a FILTER of its own: one trace for all.

    γ[k; f(DISTINCT x) FILTER p, g(DISTINCT x) FILTER q](a)
        = γ[k; f(x) FILTER P, g(x) FILTER Q](γ[k, x; P = some p, Q = some q](σ[p ∨ q](a)))

State: a row of counts for each x of a group that meets a condition.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.groups.aggregate import Aggregate, Result
from dbsp.circuits.operators.groups.aggregates.presence import Presence
from dbsp.circuits.operators.groups.combine import Combine
from dbsp.circuits.operators.groups.state.accumulators import Values
from dbsp.circuits.operators.linear import Filter
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.schemas import Field, Schema

ADDED_UP = ("count", "sum", "avg")

Expressions = tuple[Expression, ...]


def conditions_of(calls: Sequence[AggregateCall]) -> dict[Expressions, list[Expression | None]]:
    """Arguments of which distinct ones are added up under several conditions: each a FILTER, or None."""
    found: dict[Expressions, list[Expression | None]] = {}
    for call in calls:
        if call.distinct and call.function in ADDED_UP:
            conditions = found.setdefault(call.arguments, [])
            conditions += [call.filter] if call.filter not in conditions else []
    return {arguments: conditions for arguments, conditions in found.items() if len(conditions) > 1}


def present(
    lowering: Lowering, node: int, columns: Sequence[Column], keys: int, conditions: Sequence[Column | None]
) -> int:
    """The node of the columns, each combination once, with a mark per condition that one of its rows meets.

    columns: `keys` keys, by which the result lies, then arguments, of which none is NULL in the result.
    """
    builder, width = lowering.builder, len(columns)
    nonnull = [Call("is_not_null", (c,), pa.bool_(), nullable=False) for c in columns[keys:] if c.nullable]
    met = [_all([*nonnull, *([] if condition is None else [condition])]) for condition in conditions]
    made: Expressions = (*columns, *(if_(condition, Literal(True, pa.bool_())) for condition in met))
    rows = lowering.map(node, made, schema_of(made))
    marks = [Column(width + i, pa.bool_()) for i in range(len(conditions))]
    some = Call("coalesce", (*marks, Literal(False, pa.bool_())), pa.bool_(), nullable=False)
    counts = tuple(Values(mark.index) for mark in marks)
    combined = builder.add(Combine(width, counts), builder.add(Filter(some), rows))
    placed = builder.placed(combined, tuple(range(keys)))
    trace = Integrate(builder.placement(placed), sums=tuple(mark.index for mark in marks))
    results = tuple(Result("", pa.bool_(), Presence(0, count)) for count in counts)
    aggregate = Aggregate(width, (counts,), results, builder.nodes[rows].schema)
    return builder.add(aggregate, builder.add(trace, placed))


def if_(condition: Expression, value: Expression) -> Call:
    """The value where the condition is true, else NULL."""
    return Call("if", (condition, value, Literal(None, value.type)), value.type, nullable=True)


def _all(conditions: Sequence[Expression]) -> Expression:
    first, *others = conditions or [Literal(True, pa.bool_())]
    for other in others:
        first = Call("and", (first, other), pa.bool_(), nullable=True)
    return first


def schema_of(columns: Expressions) -> Schema:
    return tuple(Field(f"c{i}", column.type, column.nullable) for i, column in enumerate(columns))
