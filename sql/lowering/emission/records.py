"""Records: how often each of a view's keys was touched in a step.

Those of an aggregation, and of DISTINCT, are those of its input, counted by group; of any other view, its
changed rows.
"""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column, Expression, Literal, columns_of, substitute
from dbsp.circuits.operators.emission.records import Records
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import View
from dbsp.sql.plans.schemas import Field


def lower_records(lowering: Lowering, view: View, trace: int, key: tuple[int, ...], keyed: bool) -> int:
    """The node of the records, placed by the key. keyed: it is a key, and not the whole row."""
    columns = tuple(Column(i, view.schema[i].type, view.schema[i].nullable) for i in key)
    grouped = aggregated(view.plan, columns) if keyed else None
    if grouped is not None:
        source, keys = lowering.plan(grouped[0]), grouped[1]
    else:
        source, keys = trace, columns
    if not keys:  # one key, but rows need a column
        keys = (Literal(True, pa.bool_()),)
    names = [view.schema[i].name for i in key] or ["everything"]
    schema = tuple(Field(name, e.type, e.nullable) for name, e in zip(names, keys, strict=True))
    counted = lowering.builder.add(Records(), lowering.map(source, keys, schema))
    return lowering.builder.placed(counted, tuple(range(len(key))))


def aggregated(plan: Plan, key: tuple[Expression, ...]) -> tuple[Plan, tuple[Expression, ...]] | None:
    """The input of the aggregation or DISTINCT that a plan is, with the key over it; None: it is none.

    key: over the plan's columns. Nothing stands above the aggregation but projections and filters. GROUP BY
    without an aggregate is a DISTINCT of its keys.
    """
    match plan:
        case p.Filter():
            return aggregated(plan.input, key)
        case p.Project():
            expressions = plan.expressions
            return aggregated(plan.input, tuple(substitute(e, lambda c: expressions[c.index]) for e in key))
        case p.Aggregate():
            keys = plan.keys
            if any(column >= len(keys) for e in key for column in columns_of(e)):
                return None
            return plan.input, tuple(substitute(e, lambda c: keys[c.index]) for e in key)
        case p.Distinct():
            return plan.input, key
        case _:
            return None
