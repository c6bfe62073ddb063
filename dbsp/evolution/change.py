"""From a state and a new program: what is kept, what is back-filled from what, and what can't be."""

from __future__ import annotations

from functools import cached_property

from dbsp.evolution.comparison import Comparison
from dbsp.evolution.items import items_of
from dbsp.evolution.plan import Plan
from dbsp.evolution.refusals import refusals_of
from dbsp.state.records.identity import NUMBERED


class Change(Comparison):
    """What is compared, with the plan of what is done about it."""

    @cached_property
    def plan(self) -> Plan:
        step = self.last.step
        if self.is_same:
            return Plan(step, is_same=True)
        if self.last.format == NUMBERED:
            return Plan(
                step,
                refused=(
                    f"the state was written by an older release, and says nothing of what it keeps: make a "
                    f"step with '{self.before.name}' first, and then change it",
                ),
            )
        refused = tuple(refusals_of(self))
        fill = self.filling[0]
        rows = sum(given.kept.spine.rows for given in fill.given.values())
        dropped = len(self.record["spines"].keys() - self.kept.keys())
        items = tuple(items_of(self))
        return Plan(step, items, rows, len(self.kept), len(self.missing), dropped, refused)

    @property
    def unfilled(self) -> frozenset[str]:
        """The views that can't be computed, where nothing else is in the way."""
        if self.last.format == NUMBERED:
            return frozenset()
        missing = self.filling[1].missing
        if len(missing) < len(self.plan.refused):
            return frozenset()
        return frozenset(view for each in missing for view in self.views_reached(each.node))
