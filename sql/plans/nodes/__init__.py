"""The nodes of plans."""

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
