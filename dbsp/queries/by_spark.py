"""What the engine refuses and Spark evaluates: rand(), TABLESAMPLE ... over what views hold.

Who asks his own process is answered by its session. Who asks a server is answered by a Spark beside it that
has as much memory as a query may take, and ends with the time that it may take: no question holds steps up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dbsp.circuits.allowance import has_allowance
from dbsp.circuits.columns.variants.type import holds_variant
from dbsp.circuits.errors import DataError, Error
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.traces.zset import ZSet
from dbsp.queries.arranged import Arranged
from dbsp.rows.casting import cast_array
from dbsp.rows.incoming import arrow_schema
from dbsp.sql.compiler.queries.evaluable import Evaluable
from dbsp.sql.compiler.queries.query import QUERY
from dbsp.sql.plans.calls import SortOrder
from dbsp.views.view import Contents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# a column of ours, behind the query's
_PLACE = pa.field("place", pa.int64())


def answered_by_spark(
    query: Evaluable,
    views: Mapping[str, Contents],
    session: Callable[[], SparkSession],
    spark: SparkSession | None = None,
    step: int = 0,
) -> Contents:
    """The query's rows in the order in which Spark has them, and a note that says who has evaluated it.

    session: for who has no allowance. Raises DataError for a row that has no value, Refusal, and Error where
    the Spark beside this process ends. Cost: of handing over all rows of the views that the query names.
    """
    given = {name: view.batch() for name, view in views.items()}
    asked = query.text, query.spelled, query.timezone, given
    if not has_allowance():
        found = evaluated(session(), *asked)
    else:
        from dbsp.queries.beside.process import EVALUATOR, done  # noqa: PLC0415  a session of its own is enough

        found = done(EVALUATOR, evaluated, *asked)
    columns = [
        cast_array(column.combine_chunks(), field.type, query.timezone)
        for column, field in zip(found.columns, query.schema, strict=True)
    ]
    return Answered(query, columns, spark, step)


def evaluated(
    spark: SparkSession, text: str, spelled: Sequence[str], timezone: str, views: Mapping[str, pa.RecordBatch]
) -> pa.Table:
    """What this Spark says of a query over these rows; see `Evaluable`. Raises DataError."""
    from dbsp.running.spark.frames import of_rows, to_arrow, to_frame  # noqa: PLC0415  only who asks Spark pays for it
    from dbsp.running.spark.messages import SparkFailure, first_line, unlogged  # noqa: PLC0415
    from dbsp.sql.catalyst import Catalyst  # noqa: PLC0415

    catalyst = Catalyst(spark, timezone)
    for name, rows in views.items():
        frame = to_frame(catalyst.session, rows)
        if any(map(holds_variant, rows.schema.types)):  # Python makes VARIANTs, and no query may call it
            frame = of_rows(frame)
        catalyst.fill(name, frame)
    try:
        with unlogged():
            found = catalyst.rows(text)
            numbered = found.toDF(*map(str, range(len(spelled))))
            columns = [f"{one.format(f'`{i}`')} AS `{i}`" for i, one in enumerate(spelled)]
            return to_arrow(numbered.selectExpr(*columns))
    except SparkFailure as error:
        raise DataError(f"{QUERY}: {first_line(error)}") from None


def by_spark(refused: Error) -> str:
    """Why it was Spark that has evaluated a query."""
    return f"Spark has evaluated this query: {str(refused).partition(';')[0]}"


class Answered(Arranged):
    """Rows in an order of their own."""

    def __init__(
        self, query: Evaluable, columns: list[pa.Array], spark: SparkSession | None, step: int
    ) -> None:
        self.note = by_spark(query.refused)
        count = len(columns[0]) if columns else 0
        schema = arrow_schema(query).append(_PLACE)
        placed = pa.RecordBatch.from_arrays([*columns, pa.array(np.arange(count))], schema=schema)
        by = SortOrder(Column(len(columns), _PLACE.type, False))
        rows = ZSet(placed, np.ones(count, dtype=np.int64))
        super().__init__(Contents(QUERY, schema, [rows], spark, (by,), step=step), 1)
