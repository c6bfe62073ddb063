"""What a query gives: its circuit is evaluated once over what views hold, in process; or Spark is asked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from dbsp.queries.arranged import Arranged
from dbsp.queries.leading import leading_rows
from dbsp.queries.narrowing import evaluate_narrowly
from dbsp.queries.plans import Plans
from dbsp.rows.incoming import arrow_schema
from dbsp.sql.compiler.queries.evaluable import Evaluable
from dbsp.sql.compiler.queries.query import QUERY
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.schemas import Schema
from dbsp.views.view import Contents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def answer_or_hand_over(
    plans: Plans,
    select: str,
    views: Mapping[str, Contents],
    spark: SparkSession | None = None,
    step: int = 0,
    now: datetime | None = None,
) -> Contents:
    """As `answer`; what the engine refuses and Spark doesn't is Spark's, and the rows say so."""
    program = plans.known(select, _columns(views))
    if isinstance(program, Evaluable):
        from dbsp.queries.by_spark import answered_by_spark  # noqa: PLC0415  few queries are Spark's

        return answered_by_spark(program, views, plans.session, spark, step)
    return _evaluated(program, views, spark, step, now)


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
    EvaluationError for a row that has no value. Cost: of reading the views that it names, of a large one only
    the rows that constants or few partners name (`narrowing.py`), and no Spark job.
    """
    return _evaluated(plans.of(select, _columns(views)), views, spark, step, now)


def columns_of(plans: Plans, select: str, read: Mapping[str, Schema]) -> pa.Schema:
    """Of the rows that either gives. Raises ProgramError."""
    program = plans.known(select, read)
    if isinstance(program, Evaluable):
        return arrow_schema(program)
    view = program.views[QUERY]
    return pa.schema([*arrow_schema(view)][: len(view.schema) - view.unshown])


def _columns(views: Mapping[str, Contents]) -> dict[str, Schema]:
    return {name: view.columns for name, view in views.items()}


def _evaluated(
    program: Program,
    views: Mapping[str, Contents],
    spark: SparkSession | None,
    step: int,
    now: datetime | None,
) -> Contents:
    tables = {name: views[name].parts for name in program.tables}
    searched = {name: views[name] for name in program.tables}
    for name, (count, order) in leading_rows(program.views[QUERY].plan).items():
        if len(views[name].parts) and sum(map(len, tables[name])) > count:
            tables[name] = searched.pop(name).leading(count, order)
    rows = evaluate_narrowly(program.circuit, tables, searched, now or datetime.now(UTC))[QUERY]
    view = program.views[QUERY]
    found = Contents(QUERY, arrow_schema(view), [rows], spark, view.order, step=step)
    return Arranged(found, view.unshown) if view.unshown else found
