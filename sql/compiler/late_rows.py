"""`late_rows`, the system view of every program with LATENESS: what arrived below a waterline.

    late_rows(relation STRING, step BIGINT, row STRING, waterlines STRING, reason STRING)

row and waterlines are JSON. It is append-only, and readable like any other view.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dbsp.circuits.errors import did_you_mean
from dbsp.circuits.operators.inputs.late import LATE_ROWS, LATE_SCHEMA
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import SYSTEM_VIEWS, View
from dbsp.sql.plans.properties.late_readers import views_reading_late_rows
from dbsp.sql.plans.schemas import Field
from dbsp.sql.text.annotations import LatenessStatement
from dbsp.sql.text.source import Source

# as Spark names its types
LATE_TYPES = tuple((field.name, "long" if field.name == "step" else "string") for field in LATE_SCHEMA)


def late_rows_view() -> View:
    fields = tuple(Field(field.name, field.type, nullable=False) for field in LATE_SCHEMA)
    return View(LATE_ROWS, fields, "view", Scan(LATE_ROWS, fields), True, "what LATENESS declares")


def annotated_view(
    source: Source, statement: LatenessStatement, views: Mapping[str, View], looked_into: Collection[str]
) -> View:
    """The view of `LATENESS view.column`. Raises ProgramError where it can't be annotated.

    looked_into: the views whose plans are part of those of others.
    """
    own = {view.name.lower(): view for view in views.values() if view.name not in SYSTEM_VIEWS}
    view = own.get(statement.relation.lower())
    if view is None:
        hint = did_you_mean(statement.relation, [v.name for v in own.values()])
        listed = ", ".join(v.name for v in own.values()) or "none yet"
        message = f"LATENESS of an unknown view '{statement.relation}'; views so far: {listed}{hint}"
        raise source.error(statement.start, f"{message}; a table's columns are annotated where it is created")
    if statement.column.lower() not in {column.name.lower() for column in view.schema}:
        listed = ", ".join(column.name for column in view.schema)
        message = f"unknown column '{statement.column}' in '{view.name}'; columns: {listed}"
        raise source.error(statement.start, message)
    if statement.clause.percentile is not None:
        message = (
            f"LATENESS PERCENTILE of '{view.name}': rows of a view come in no order; "
            "annotate a column of a table, or give a constant"
        )
        raise source.error(statement.start, message)
    if view.name in looked_into or any(view.name in other.plan.scanned() for other in views.values()):
        message = f"LATENESS of '{view.name}' must stand before the views that read it"
        raise source.error(statement.start, message)
    if view.name in views_reading_late_rows(views):
        message = f"'{view.name}' reads {LATE_ROWS}, so its own rows can't be late"
        raise source.error(statement.start, message)
    return view
