"""Views that a stream reads, in the place of their names, where a row in them meets a table that changes.

As a relation such a view follows the table; as a stream its rows meet the table when they arrive, as in a
sub-query. A view in which nothing is met is read as it is, by all that read it.

Source: Apache Calcite, "Streaming": a view is what its query is where it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.compiler.streams.on_arrival import on_arrival
from dbsp.sql.plans.nodes import Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.rules.traverse import bottom_up


def with_definitions(
    plan: Plan, views: Mapping[str, Plan], streams: Set[str], grows: Mapping[str, bool]
) -> Plan:
    """The plan of a stream. views: plans by name. grows: of each relation, whether it only gains rows."""

    def defined(scan: Plan) -> Plan:
        if not isinstance(scan, Scan) or scan.relation not in views:
            return scan
        within = bottom_up(views[scan.relation], defined)
        if on_arrival(within, streams, grows) == within:
            return scan
        return _under(within, scan)

    return bottom_up(plan, defined)


def _under(within: Plan, scan: Scan) -> Plan:
    """With the columns as who reads the view knows them."""
    columns = tuple(Column(i, field.type, field.nullable) for i, field in enumerate(within.schema))
    return within if within.schema == scan.schema else Project(within, columns, scan.schema)
