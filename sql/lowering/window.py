"""Lowering of OVER and of top-k: the input by partition, with keys, orders and arguments as columns."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dbsp.circuits.columns.order_codes import has_order_code
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.expressions.nodes import Column, Expression
from dbsp.circuits.operators.groups.sessions import Sessions
from dbsp.circuits.operators.groups.top import Top, TopOfAppends
from dbsp.circuits.operators.groups.window import Window
from dbsp.circuits.operators.groups.windows.calls import WindowFunction
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.calls import SortOrder, WindowCall
from dbsp.sql.plans.nodes.project import in_other_columns
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.plans.shown.spelling import spell


class Columns:
    """A plan's columns, and further ones for what is computed from them."""

    def __init__(self, schema: Schema) -> None:
        self.expressions: list[Expression] = [
            Column(i, field.type, field.nullable) for i, field in enumerate(schema)
        ]
        self.input, self.fields = schema, list(schema)

    def at(self, expression: Expression) -> int:
        """Where the expression's value is."""
        if expression not in self.expressions:
            name = spell(expression, self.input)
            self.fields.append(Field(name, expression.type, expression.nullable))
            self.expressions.append(expression)
        return self.expressions.index(expression)

    def order(self, order: tuple[SortOrder, ...]) -> tuple[SortKey, ...]:
        return tuple(SortKey(self.at(by.expression), by.descending, by.nulls_last) for by in order)

    def node(self, lowering: Lowering, plan: Plan) -> int:
        """The plan's node with all of these columns."""
        return lowering.map(lowering.plan(plan), tuple(self.expressions), tuple(self.fields))


def lower_window(lowering: Lowering, plan: p.Window) -> int:
    """The node whose stream is the change of the rows and their functions."""
    if plan.finds_sessions:
        return _lower_sessions(lowering, plan)
    columns = Columns(plan.input.schema)
    partition = tuple(columns.at(key) for key in plan.partition)
    functions = tuple(_function(columns, call) for call in plan.calls)
    window = Window(partition, functions, in_other_columns(plan.partition, plan.input))
    node, first = columns.node(lowering, plan.input), window.read_by
    if first is not None and has_order_code(columns.fields[first.column].type):
        trace = _in_order(lowering, node, partition, first)
    else:
        trace = lowering.integrated(node, partition)
    computed = lowering.builder.add(window, trace)
    return _without_computed(lowering, computed, columns, plan)


def _lower_sessions(lowering: Lowering, plan: p.Window) -> int:
    columns = Columns(plan.input.schema)
    partition = tuple(columns.at(key) for key in plan.partition)
    start, end = (columns.at(argument) for argument in plan.calls[0].arguments)
    placed = lowering.builder.placed(columns.node(lowering, plan.input), partition)
    rows = lowering.builder.nodes[placed].schema
    sides = {"session_start": rows.field(start), "session_end": rows.field(end)}
    output = pa.schema([*rows, *(pa.field(name, of.type, nullable=False) for name, of in sides.items())])
    found = lowering.builder.add(Sessions(partition, start, end, output), placed)
    return _without_computed(lowering, found, columns, plan, [[*sides].index(c.function) for c in plan.calls])


def lower_top(lowering: Lowering, plan: p.Top) -> int:
    """The node whose stream is the change of the first rows, and their rank if the plan has it."""
    columns = Columns(plan.input.schema)
    partition = tuple(columns.at(key) for key in plan.partition)
    order = columns.order(plan.order)
    node = columns.node(lowering, plan.input)
    ranking = (plan.ranking, plan.size, plan.ranked)
    made = in_other_columns(plan.partition, plan.input)
    if lowering.append_only(plan.input):
        placed = lowering.builder.placed(node, partition)
        top = lowering.builder.add(TopOfAppends(partition, order, *ranking, made), placed)
    else:
        trace = _in_order(lowering, node, partition, order[0])
        top = lowering.builder.add(Top(partition, order, *ranking, made), trace)
    return _without_computed(lowering, top, columns, plan)


def _in_order(lowering: Lowering, node: int, partition: tuple[int, ...], first: SortKey) -> int:
    """The trace of the rows by partition, in each by a column."""
    by = Integrate(partition, order=first.column, nulls_greatest=first.nulls_last != first.descending)
    return lowering.builder.add(by, lowering.builder.placed(node, partition))


def _without_computed(
    lowering: Lowering,
    node: int,
    columns: Columns,
    plan: p.Window | p.Top,
    made: Sequence[int] | None = None,
) -> int:
    """The plan's columns of a node that has further ones between the input's and what it makes.

    made: which of those the plan has, in its order; None: all.
    """
    width, extended = len(plan.input.schema), len(columns.fields)
    made = range(len(plan.schema) - width) if made is None else made
    kept = [*range(width), *(extended + i for i in made)]
    expressions = tuple(Column(i, f.type, f.nullable) for i, f in zip(kept, plan.schema, strict=True))
    return lowering.map(node, expressions, plan.schema)


def _function(columns: Columns, call: WindowCall) -> WindowFunction:
    # a RANGE frame's bounds read columns of the input, which stay where they are
    return WindowFunction(
        call.function,
        call.type,
        columns.order(call.order),
        tuple(columns.at(argument) for argument in call.arguments),
        call.frame,
        call.number,
        call.ignore_nulls,
        call.filtered,
        call.lenient,
        call.text,
        call.values,
    )
