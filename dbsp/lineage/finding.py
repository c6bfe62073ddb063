"""The rows of a plan that meet demands, found from the leaves up; with those that they were found among.

    found(plan, demands).rows = σ[demands](plan)

Demands go down first (`pushing`); a join finds one side, and of the other only rows with the keys that it
has. So the cost follows the rows that are demanded, where traces lie by what is demanded of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.traces.zset import ZSet
from dbsp.lineage.held import Held
from dbsp.lineage.pushing import pushed, within
from dbsp.lineage.relational import Demand, consolidated, demand_of, evaluated, matching, relation
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.nodes.join import Keyed
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.plan import Plan


class Unheld(Exception):
    """Rows that are needed aren't there; the text says which."""


@dataclass(frozen=True)
class Found:
    """rows: those that meet the demands. note: what a reader must know of a leaf. among: the plan's rows of
    what was found below, whether they meet the demands or not. order: which of a join's sides it is; what
    the second has follows from the first.
    """

    plan: Plan
    rows: ZSet
    inputs: tuple[Found, ...] = ()
    note: str = ""
    among: ZSet | None = None
    order: int = 0


# a view's rows that meet demands; None: it isn't kept, and follows from its plan
Views = Callable[[str, Sequence[Demand]], Found | None]


@dataclass
class Finding:
    """bound: rows of relations that are at hand."""

    held: Held
    views: Views
    clock: datetime | None
    bound: Mapping[str, ZSet] = field(default_factory=dict)

    def of(self, plan: Plan, demands: Sequence[Demand] = ()) -> Found:
        """Raises Unheld, and dbsp.circuits.errors.Error for a row that has no value."""
        try:
            return self._derived(plan, demands)
        except Unheld as missing:
            there = self.held.plan(plan, demands)
            if there is None:
                raise
            return Found(plan, there.rows, note=str(missing))

    def _derived(self, plan: Plan, demands: Sequence[Demand]) -> Found:
        if isinstance(plan, p.Scan):
            return self._scanned(plan, demands)
        if isinstance(plan, p.Expand) and plan.projections:
            return self.of(as_union(plan), demands)
        if isinstance(plan, p.Levels):
            return self._levels(plan, demands)
        if isinstance(plan, p.ArrivalJoin):
            raise Unheld("what a row met when it arrived isn't kept")
        if isinstance(plan, Keyed):
            inputs = self._sides(plan, demands)
        else:
            below = pushed(plan, demands)
            inputs = [self.of(input_, below) for input_ in plan.inputs]
        return self._over(plan, demands, inputs)

    def _over(self, plan: Plan, demands: Sequence[Demand], inputs: list[Found]) -> Found:
        among = node_over(plan, [one.rows for one in inputs], self.clock)
        return Found(plan, matching(among, plan.schema, demands), tuple(inputs), among=among)

    def _scanned(self, plan: p.Scan, demands: Sequence[Demand]) -> Found:
        if plan.relation in self.bound:
            rows = self.bound[plan.relation]
            return Found(plan, matching(rows, plan.schema, demands), among=rows)
        view = self.views(plan.relation, demands)
        if view is not None:
            return Found(plan, view.rows, view.inputs, view.note)
        there = self.held.table(plan, demands)
        if there is None:
            name = plan.relation
            raise Unheld(f"nothing keeps the rows of table '{name}'; a view SELECT * FROM {name} would")
        gone = f"a waterline has let go of old rows of table '{plan.relation}'" if there.is_left else ""
        return Found(plan, there.rows, note=gone)

    def _sides(self, plan: Keyed, demands: Sequence[Demand]) -> list[Found]:
        width = len(plan.left.schema)
        if plan.kind == "full":
            return [self.of(plan.left), self.of(plan.right)]
        of_left = within(demands, 0, width)
        of_right = within(demands, width, len(plan.schema)) if plan.kind == "inner" else []
        if isinstance(plan, p.AsOf):
            of_right = []  # the nearest row is the nearest of all
        if of_right and not of_left:
            right = self.of(plan.right, of_right)
            left = self.of(plan.left, of_left + _having(plan.left_keys, right, plan.right_keys))
            return [replace(left, order=1), right]
        left = self.of(plan.left, of_left)
        right = self.of(plan.right, of_right + _having(plan.right_keys, left, plan.left_keys))
        return [left, replace(right, order=1)]

    def _levels(self, plan: p.Levels, demands: Sequence[Demand]) -> Found:
        """All rows of each level: which of them lead to the demanded ones is told backwards, by `tracing`."""
        rounds = [self.of(plan.anchor)]
        while len(rounds[-1].rows) and len(rounds) <= plan.limit:
            above = Finding(self.held, self.views, self.clock, {**self.bound, LEVEL: rounds[-1].rows})
            rounds.append(above.of(plan.term))
        parts = [consolidated(one.rows, plan.schema) for one in rounds]
        rows = ZSet.sum(parts[0].schema, parts).consolidate()
        return Found(plan, matching(rows, plan.schema, demands), tuple(rounds), among=rows)


def _having(keys: Sequence[Expression], other: Found, other_keys: Sequence[Expression]) -> list[Demand]:
    """That the keys are those of some of the other side's rows."""
    if not keys:
        return []
    demand = demand_of(other.rows, other.plan.schema, other_keys)
    return [demand.over(keys)]


def node_over(plan: Plan, inputs: Sequence[ZSet], clock: datetime | None) -> ZSet:
    """What the plan's own operator makes of these rows."""
    names = [f"input {i}" for i in range(len(inputs))]
    scans = [relation(name, input_.schema) for name, input_ in zip(names, plan.inputs, strict=True)]
    return evaluated(plan.over(*scans), dict(zip(names, inputs, strict=True)), clock)


def as_union(plan: p.Expand) -> p.Union:
    """The same rows, each projection by itself: each has demands of its own."""
    return p.Union(tuple(p.Project(plan.input, each, plan.schema) for each in plan.projections), plan.schema)
