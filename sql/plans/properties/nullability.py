"""Which columns of a view are never NULL: beyond what the types say, those that its plan asks for."""

from __future__ import annotations

from collections.abc import Mapping, Set

from dbsp.sql.plans.program import View


def never_null(view: View, views: Mapping[str, View]) -> Set[int]:
    """views: those that it may read, in the order of the program.

    Of a recursive view, and of the system's, which scans itself, the types say it all.
    """
    known: dict[str, Set[int]] = {}
    for other in views.values():
        if not other.component:
            known[other.name] = other.plan.never_null(known)
    return known[view.name] if view.name in known else view.plan.never_null(known)
