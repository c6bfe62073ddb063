"""What is demanded of a plan's input, where something is demanded of the plan.

    of σ a, distinct a    the same        of a ∪ b, a ∩ b, a − b    the same, of both
    of π[e] a             of eᵢ in place of column i
    of γ[k] a             of kᵢ in place of column i, as far as keys are read
    of ω[p] a, top[p] a   the same, as far as columns of p are read
    of a ⋈ b              the same, as far as one side is read

The rows of the plan that meet a demand follow from the rows of the input that meet what is said here: a group
is there whole, or not at all. What is demanded of the plan is asked of its own rows once more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dbsp.circuits.expressions.nodes import Column, Expression, columns_of, remap, substitute
from dbsp.lineage.relational import Demand
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.plan import Plan

_AS_IT_IS = (p.Filter, p.TemporalFilter, p.Distinct, p.Union, p.SetOperation)


def pushed(plan: Plan, demands: Sequence[Demand]) -> list[Demand]:
    """Of the input, or of each input that has the plan's own columns."""
    if isinstance(plan, _AS_IT_IS):
        return list(demands)
    if isinstance(plan, p.Project):
        return [_substituted(demand, plan.expressions) for demand in demands]
    if isinstance(plan, p.Aggregate):
        return [_substituted(demand, plan.keys) for demand in reading(demands, range(len(plan.keys)))]
    if isinstance(plan, p.Window | p.Top):
        return reading(demands, {key.index for key in plan.partition if isinstance(key, Column)})
    if isinstance(plan, p.TimedProjection):
        return reading(demands, range(len(plan.input.schema)))
    if isinstance(plan, p.Generate):
        kept = dict(enumerate(plan.kept))
        return [_moved(demand, kept) for demand in reading(demands, kept.keys())]
    return []


def reading(demands: Sequence[Demand], columns: Collection[int]) -> list[Demand]:
    """What follows from the demands for expressions that read no other columns."""
    return [
        part for demand in demands for part in demand.only(lambda e: all(i in columns for i in columns_of(e)))
    ]


def within(demands: Sequence[Demand], first: int, last: int) -> list[Demand]:
    """The same of columns from first to last, over a relation of these."""
    own = range(first, last)
    return [_moved(demand, {i: i - first for i in own}) for demand in reading(demands, own)]


def _moved(demand: Demand, position: dict[int, int]) -> Demand:
    return demand.over([remap(e, position) for e in demand.expressions])


def _substituted(demand: Demand, expressions: Sequence[Expression]) -> Demand:
    return demand.over([substitute(e, lambda c: expressions[c.index]) for e in demand.expressions])
