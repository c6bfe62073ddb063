"""Joins whose condition reads the clock.

a ⟕ b ON p(a, now)  = π(phases[p](a) ⟕ b ON p)          of one side: p is a column of it
a ⟕ b ON p(a, b, now) = P ∪ pad(a ▷ π_a(P))             P = σ[p](a ⋈ b), which changes with the clock
"""

from __future__ import annotations

from dbsp.circuits.expressions.nodes import Expression, Literal
from dbsp.sql.catalyst.reading.relation import Relation
from dbsp.sql.plans.nodes import Join, Project, Union
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Schema, columns_of_schema


def without_pairs(kind: str, left: Relation, right: Relation, pairs: Relation) -> Relation:
    """The join of that kind, given its pairs: with what has no part in any."""
    width = len(left.ids)
    of_pairs = columns_of_schema(pairs.plan.schema)
    halves = [
        Project(pairs.plan, of_pairs[:width], left.plan.schema),
        Project(pairs.plan, of_pairs[width:], right.plan.schema),
    ]
    if kind == "inner":
        return pairs
    if kind in ("semi", "anti", "existence"):
        return Relation(_compared(kind, left.plan, halves[0]), left.ids)
    schema = join_schema(kind, left.plan.schema, right.plan.schema)
    rest: list[Plan] = []
    for index, side in enumerate((left, right) if kind == "full" else (left,)):
        alone = _compared("anti", side.plan, halves[index])
        nulls = tuple(Literal(None, f.type) for f in (right, left)[index].plan.schema)
        own: tuple[Expression, ...] = columns_of_schema(alone.schema)
        rest.append(Project(alone, (*nulls, *own) if index else (*own, *nulls), schema))
    return Relation(Union((pairs.plan, *rest), schema), pairs.ids)


def _compared(kind: str, side: Plan, half: Plan) -> Join:
    """The side's rows by whether they are a half."""
    keys = columns_of_schema(side.schema)
    schema = join_schema(kind, side.schema, half.schema)
    return Join(side, half, kind, keys, keys, (True,) * len(keys), None, schema)


def narrowed(kind: str, left: Relation, right: Relation, wide: Relation, position: int) -> Relation:
    """A join of wider sides, with the columns of left and right only. position: where the right's begin."""
    kept = [*range(len(left.ids))]
    if kind in ("left", "full"):
        kept += range(position, position + len(right.ids))
    schema: Schema = wide.plan.schema
    if kind == "existence":
        kept.append(len(schema) - 1)
    columns = columns_of_schema(schema)
    plan = Project(wide.plan, tuple(columns[i] for i in kept), tuple(schema[i] for i in kept))
    return Relation(plan, tuple(wide.ids[i] for i in kept if i < len(wide.ids)))
