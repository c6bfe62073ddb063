"""Which columns of a view are never NULL: beyond what the types say, those that its plan asks for."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from dbsp.sql.plans.program import View


def never_null(view: View, views: Mapping[str, View]) -> Set[int]:
    """views: those that it may read, in the order of the program.

    Of a recursive view, and of the system's, which scans itself, the types say it all.
    """
    known = _known(views)
    return known[view.name] if view.name in known else view.plan.never_null(known)


def with_not_null(views: Mapping[str, View]) -> dict[str, View]:
    """The views, whose columns say that they are never NULL where that is known."""
    known = _known(views)
    return {name: _filled(view, known.get(view.name, frozenset())) for name, view in views.items()}


def _known(views: Mapping[str, View]) -> dict[str, Set[int]]:
    known: dict[str, Set[int]] = {}
    for other in views.values():
        if not other.component:
            known[other.name] = other.plan.never_null(known)
    return known


def _filled(view: View, filled: Set[int]) -> View:
    if all(not view.schema[i].nullable for i in filled):
        return view
    columns = (
        replace(column, nullable=False) if i in filled else column for i, column in enumerate(view.schema)
    )
    return replace(view, schema=tuple(columns))
