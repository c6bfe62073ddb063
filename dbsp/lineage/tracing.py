"""Which rows of a plan's inputs some of its rows follow from.

    of σ a, distinct a, a ∪ b     the same rows              of π[e] a     those of which e is one of them
    of γ[k] a                     all of their groups        of ω[p] a     all of their partitions
    of top a                      the same rows; all that are among the first, where the rank is told
    of a ⋈ b                      the rows that they are pairs of
    of a ⋉ b                      the same rows, and their matches        of a ▷ b     the same rows
    of a ∩ b                      the same rows, of both                  of a − b     the same rows of a

What isn't there, as the match that a row of a ▷ b has not, is no row, and so not told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.traces.zset import ZSet
from dbsp.lineage.finding import Found, node_over
from dbsp.lineage.relational import Demand, columns, demand_of, empty, matching
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Schema, columns_of_schema

Parts = list[ZSet]


def traced(found: Found, wanted: ZSet, clock: datetime | None) -> Parts:
    """Per input of what was found, the rows that `wanted` of its rows follow from."""
    if not found.inputs:
        return []
    if isinstance(found.plan, p.Scan):
        return [wanted]
    rule = _RULES.get(type(found.plan))
    assert rule is not None, f"{type(found.plan).__name__}: nothing says what its rows follow from"
    return rule(found, found.plan, wanted, clock)


def _those(rows: ZSet, schema: Schema, *demands: Demand) -> ZSet:
    return matching(rows, schema, demands)


def same(rows: ZSet, plan: Plan, wanted: ZSet) -> ZSet:
    """Those rows of the plan's that are among the wanted."""
    return _those(rows, plan.schema, columns(wanted, plan.schema, 0, len(plan.schema)))


def _same(found: Found, plan: Plan, wanted: ZSet, clock: datetime | None) -> Parts:
    every = Demand(columns_of_schema(plan.schema), columns(wanted, plan.schema, 0, len(plan.schema)).values)
    return [_those(one.rows, one.plan.schema, every) for one in found.inputs]


def _project(found: Found, plan: p.Project, wanted: ZSet, clock: datetime | None) -> Parts:
    demand = columns(wanted, plan.schema, 0, len(plan.schema)).over(plan.expressions)
    return [_those(found.inputs[0].rows, plan.input.schema, demand)]


def _beside(found: Found, plan: p.TimedProjection | p.Top, wanted: ZSet, clock: datetime | None) -> Parts:
    """Of what puts further columns beside its input's."""
    return [_first_columns(found, plan, wanted)]


def _first_columns(found: Found, plan: p.TimedProjection | p.Top, wanted: ZSet) -> ZSet:
    width = len(plan.input.schema)
    return _those(found.inputs[0].rows, plan.input.schema, columns(wanted, plan.schema, 0, width))


def _generate(found: Found, plan: p.Generate, wanted: ZSet, clock: datetime | None) -> Parts:
    """Every input row beside what is generated of it, so that it is told which gives the wanted."""
    (below,), width, kept = found.inputs, len(plan.input.schema), len(plan.kept)
    schema = (*plan.input.schema, *plan.schema[kept:])
    whole = replace(plan, kept=tuple(range(width)), schema=schema)
    rows = node_over(whole, [below.rows], clock)
    made = columns_of_schema(schema)[width:]
    own = tuple(Column(i, schema[i].type, schema[i].nullable) for i in plan.kept)
    demand = columns(wanted, plan.schema, 0, len(plan.schema)).over((*own, *made))
    return [_those(below.rows, plan.input.schema, columns(_those(rows, schema, demand), schema, 0, width))]


def _aggregate(found: Found, plan: p.Aggregate, wanted: ZSet, clock: datetime | None) -> Parts:
    (below,) = found.inputs
    if not plan.keys:
        return [below.rows if len(wanted) else empty(plan.input.schema)]
    demand = columns(wanted, plan.schema, 0, len(plan.keys)).over(plan.keys)
    return [_those(below.rows, plan.input.schema, demand)]


def _partitions(rows: ZSet, plan: p.Window | p.Top, wanted: ZSet) -> ZSet:
    if not plan.partition or not len(wanted):
        return rows if len(wanted) else empty(plan.input.schema)
    return _those(rows, plan.input.schema, demand_of(wanted, plan.schema, plan.partition))


def _window(found: Found, plan: p.Window, wanted: ZSet, clock: datetime | None) -> Parts:
    return [_partitions(found.inputs[0].rows, plan, wanted)]


def _top(found: Found, plan: p.Top, wanted: ZSet, clock: datetime | None) -> Parts:
    if not plan.ranked:
        return [_first_columns(found, plan, wanted)]
    rows = _partitions(found.inputs[0].rows, plan, wanted)
    first = node_over(plan, [rows], clock)
    return [_those(rows, plan.input.schema, columns(first, plan.schema, 0, len(plan.input.schema)))]


def _set_operation(found: Found, plan: p.SetOperation, wanted: ZSet, clock: datetime | None) -> Parts:
    left, right = _same(found, plan, wanted, clock)
    return [left, empty(plan.right.schema) if plan.kind == "except" else right]


def _join(found: Found, plan: p.Join, wanted: ZSet, clock: datetime | None) -> Parts:
    left, right = found.inputs
    width = len(plan.left.schema)
    of_left = _those(left.rows, plan.left.schema, columns(wanted, plan.schema, 0, width))
    if plan.kind == "anti":
        return [of_left, empty(plan.right.schema)]
    if plan.kind in ("semi", "existence"):
        schema = join_schema("inner", plan.left.schema, plan.right.schema)
        pairs = node_over(replace(plan, kind="inner", schema=schema), [of_left, right.rows], clock)
        matches = columns(pairs, schema, width, len(schema))
    else:
        schema = plan.schema
        matches = columns(wanted, schema, width, len(schema))
    return [of_left, _those(right.rows, plan.right.schema, matches)]


def _as_of(found: Found, plan: p.AsOf, wanted: ZSet, clock: datetime | None) -> Parts:
    width = len(plan.left.schema)
    sides = columns(wanted, plan.schema, 0, width), columns(wanted, plan.schema, width, len(plan.schema))
    return [
        _those(one.rows, one.plan.schema, demand) for one, demand in zip(found.inputs, sides, strict=True)
    ]


_RULES: dict[type[Plan], Callable[[Found, Any, ZSet, datetime | None], Parts]] = {
    p.Filter: _same,
    p.TemporalFilter: _same,
    p.Distinct: _same,
    p.Union: _same,
    p.Project: _project,
    p.TimedProjection: _beside,
    p.Generate: _generate,
    p.Aggregate: _aggregate,
    p.Window: _window,
    p.Top: _top,
    p.SetOperation: _set_operation,
    p.Join: _join,
    p.AsOf: _as_of,
}
