"""What a query gives: its circuit is evaluated once over what views hold, in process."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from dbsp.circuits.steps.evaluation import evaluate
from dbsp.queries.arranged import Arranged
from dbsp.queries.leading import leading_rows
from dbsp.queries.plans import Plans
from dbsp.rows.incoming import arrow_schema
from dbsp.sql.compiler.queries.query import QUERY
from dbsp.sql.plans.schemas import Schema
from dbsp.views.view import Contents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def answer(
    plans: Plans,
    select: str,
    views: Mapping[str, Contents],
    spark: SparkSession | None = None,
    step: int = 0,
    now: datetime | None = None,
) -> Contents:
    """The rows that `select` has over these views, which it names.

    step: the views'. now: what now() is; None: the machine's clock. Raises ProgramError for the query,
    EvaluationError for a row that has no value. Cost: of reading the views that it names, and no Spark job.
    """
    program = plans.of(select, {name: view.columns for name, view in views.items()})
    tables = {name: views[name].parts for name in program.tables}
    for name, (count, order) in leading_rows(program.views[QUERY].plan).items():
        if len(views[name].parts) and sum(map(len, tables[name])) > count:
            tables[name] = views[name].leading(count, order)
    rows = evaluate(program.circuit, tables, now or datetime.now(UTC))[QUERY]
    view = program.views[QUERY]
    found = Contents(QUERY, arrow_schema(view), [rows], spark, view.order, step=step)
    return Arranged(found, view.unshown) if view.unshown else found


def columns_of(plans: Plans, select: str, read: Mapping[str, Schema]) -> pa.Schema:
    """Of the rows that it has. Raises ProgramError."""
    view = plans.of(select, read).views[QUERY]
    return pa.schema([*arrow_schema(view)][: len(view.schema) - view.unshown])
