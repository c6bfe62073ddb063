"""The nodes of plans, each imported where it is first named: a known program has few of them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbsp.sql.plans.nodes.aggregate import Aggregate
    from dbsp.sql.plans.nodes.arrival_join import ArrivalJoin
    from dbsp.sql.plans.nodes.as_of import AsOf
    from dbsp.sql.plans.nodes.clock import TemporalFilter, TimedProjection
    from dbsp.sql.plans.nodes.expand import Expand, Generate
    from dbsp.sql.plans.nodes.filter import Filter
    from dbsp.sql.plans.nodes.join import Join
    from dbsp.sql.plans.nodes.leaves import Scan, Values
    from dbsp.sql.plans.nodes.levels import Levels
    from dbsp.sql.plans.nodes.project import Project
    from dbsp.sql.plans.nodes.sets import Distinct, SetOperation, Union
    from dbsp.sql.plans.nodes.top import Top
    from dbsp.sql.plans.nodes.window import Window

__all__ = [
    "Aggregate",
    "ArrivalJoin",
    "AsOf",
    "Distinct",
    "Expand",
    "Filter",
    "Generate",
    "Join",
    "Levels",
    "Project",
    "Scan",
    "SetOperation",
    "TemporalFilter",
    "TimedProjection",
    "Top",
    "Union",
    "Values",
    "Window",
]

# the module of each
_HOME = {
    "Aggregate": "aggregate",
    "ArrivalJoin": "arrival_join",
    "AsOf": "as_of",
    "Distinct": "sets",
    "Expand": "expand",
    "Filter": "filter",
    "Generate": "expand",
    "Join": "join",
    "Levels": "levels",
    "Project": "project",
    "Scan": "leaves",
    "SetOperation": "sets",
    "TemporalFilter": "clock",
    "TimedProjection": "clock",
    "Top": "top",
    "Union": "sets",
    "Values": "leaves",
    "Window": "window",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return found
