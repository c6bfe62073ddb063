"""Which relations a plan reads, and of which it reads the order of arrival."""

from __future__ import annotations

from collections.abc import Mapping

from dbsp.circuits.operators.inputs.late import LATE_ROWS
from dbsp.sql.plans.plan import LEVEL, Levels, Plan, Scan
from dbsp.sql.plans.program import View
from dbsp.sql.plans.verify import inputs


def scanned(plan: Plan) -> set[str]:
    """The relations a plan reads."""
    if isinstance(plan, Scan):
        return {plan.relation}
    if isinstance(plan, Levels):
        return scanned(plan.anchor) | scanned(plan.term) - {LEVEL}
    return set[str]().union(*map(scanned, inputs(plan)))


def arriving(plan: Plan) -> frozenset[str]:
    """The tables whose order of arrival a plan reads."""
    if isinstance(plan, Scan):
        return frozenset({plan.relation} if plan.arrival else ())
    return frozenset[str]().union(*map(arriving, inputs(plan)))


def views_reading_late_rows(views: Mapping[str, View]) -> set[str]:
    """The views that read `late_rows`, directly or through others. views: in the order of the program."""
    reading = {LATE_ROWS}
    for view in views.values():
        # recursive views are lowered together, and may read each other in any order
        if any(scanned(views[name].plan) & reading for name in view.component or (view.name,)):
            reading.add(view.name)
    return reading - {LATE_ROWS}
