"""Which views read `late_rows`."""

from __future__ import annotations

from collections.abc import Mapping

from dbsp.circuits.operators.inputs.late import LATE_ROWS
from dbsp.sql.plans.program import View


def views_reading_late_rows(views: Mapping[str, View]) -> set[str]:
    """The views that read `late_rows`, directly or through others. views: in the order of the program."""
    reading = {LATE_ROWS}
    for view in views.values():
        # recursive views are lowered together, and may read each other in any order
        if any(views[name].plan.scanned() & reading for name in view.component or (view.name,)):
            reading.add(view.name)
    return reading - {LATE_ROWS}
