"""Lowering of what takes rows one by one, and of whole rows as a set."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column, columns_of, remap
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.generate import Generate
from dbsp.circuits.operators.inputs.arrivals import ARRIVAL
from dbsp.circuits.operators.inputs.tables import AppendOnly
from dbsp.circuits.operators.linear import Constant, Filter, FlatMap, Union
from dbsp.circuits.operators.set_operation import SetOperation
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.join import lower_columns_of_join
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.plan import Position
from dbsp.sql.plans.schemas import arrow_schema


def lower_scan(lowering: Lowering, plan: p.Scan) -> int:
    relation = lowering.relations[plan.relation]
    node = relation.beside(plan.rowtime, plan.arrival)
    assert node is not None, f"nothing says when rows of {plan.relation} arrive"
    if not plan.arrival or plan.schema[-1].name == ARRIVAL:
        return node
    # of a row id that a query names, which may be all that a view has
    return lowering.builder.add(AppendOnly(plan.relation), node)


def lower_values(lowering: Lowering, plan: p.Values) -> int:
    columns = [
        pa.array([row[i].value for row in plan.rows], field.type)  # type: ignore[union-attr]
        for i, field in enumerate(plan.schema)
    ]
    rows = pa.RecordBatch.from_arrays(columns, schema=arrow_schema(plan.schema))
    return lowering.builder.add(Constant(rows))


def lower_project(lowering: Lowering, plan: p.Project) -> int:
    """Of a join or a filter, which copy rows, only the columns that the projection reads are put out."""
    needed = {i for e in plan.expressions for i in columns_of(e)}
    match plan.input:
        case p.Join():
            node, position = lower_columns_of_join(lowering, plan.input, needed)
        case p.Filter():
            node, position = _columns_of_filter(lowering, plan.input, needed)
        case _:
            return lowering.map(lowering.plan(plan.input), plan.expressions, plan.schema)
    return lowering.map(node, tuple(remap(e, position) for e in plan.expressions), plan.schema)


def _columns_of_filter(lowering: Lowering, plan: p.Filter, needed: set[int]) -> tuple[int, Position]:
    """The needed columns and what the condition reads, and where they are."""
    fields, kept = plan.input.schema, sorted({*needed, *columns_of(plan.condition)} or {0})
    columns = tuple(Column(i, fields[i].type, fields[i].nullable) for i in kept)
    position = {old: new for new, old in enumerate(kept)}
    narrow = lowering.map(lowering.plan(plan.input), columns, tuple(fields[i] for i in kept))
    return lowering.builder.add(Filter(remap(plan.condition, position)), narrow), position


def lower_filter(lowering: Lowering, plan: p.Filter) -> int:
    return lowering.builder.add(Filter(plan.condition), lowering.plan(plan.input))


def lower_union(lowering: Lowering, plan: p.Union) -> int:
    return lowering.builder.add(Union(arrow_schema(plan.schema)), *map(lowering.plan, plan.inputs))


def lower_expand(lowering: Lowering, plan: p.Expand) -> int:
    flat = FlatMap(plan.projections, arrow_schema(plan.schema))
    return lowering.builder.add(flat, lowering.plan(plan.input))


def lower_generate(lowering: Lowering, plan: p.Generate) -> int:
    schema = arrow_schema(plan.schema)
    operator = Generate(plan.kept, plan.elements, schema, plan.outer, plan.position, plan.fields)
    return lowering.builder.add(operator, lowering.plan(plan.input))


def lower_distinct(lowering: Lowering, plan: p.Distinct) -> int:
    return lowering.builder.add(Distinct(), lowering.integrated_rows(lowering.plan(plan.input)))


def lower_set_operation(lowering: Lowering, plan: p.SetOperation) -> int:
    """Both sides lie by whole rows, so that equal rows have equal sort keys."""
    builder, everything = lowering.builder, tuple(range(len(plan.schema)))
    traces = (
        builder.add(Integrate(everything), builder.placed(lowering.plan(side), everything))
        for side in (plan.left, plan.right)
    )
    return builder.add(SetOperation(plan.kind), *traces)
