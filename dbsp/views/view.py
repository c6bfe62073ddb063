"""What a view holds after some step."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.broken_text import listed
from dbsp.circuits.columns.months import batch_to_calendar
from dbsp.circuits.errors import DataError
from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.sorting import sort_rows
from dbsp.sql.plans.calls import SortOrder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Contents:
    """The rows of a view as of one step; later steps don't change it."""

    def __init__(
        self,
        view: str,
        schema: pa.Schema,
        parts: list[ZSet],
        spark: SparkSession | None = None,
        order: Sequence[SortOrder] = (),
    ) -> None:
        self.view = view
        self.schema = schema
        self._parts = parts
        self._spark = spark
        self._order = tuple(order)

    @cached_property
    def zset(self) -> ZSet:
        """Consolidated, in no order; the columns have the view's names."""
        if not self._parts:
            return ZSet.empty(self.schema)
        total = ZSet.sum(self._parts[0].schema, self._parts).consolidate()
        return ZSet(pa.RecordBatch.from_arrays(total.rows.columns, schema=self.schema), total.weights)

    @cached_property
    def sorted(self) -> ZSet:
        """The same, in the order of the view's ORDER BY and then of the rows."""
        return sort_rows(self.zset, self._order)

    @property
    def _listed(self) -> ZSet:
        return self.sorted if self._order else self.zset

    def to_arrow(self) -> pa.Table:
        """Every row as often as it is there, in the order of the view's ORDER BY, without one in none;
        INTERVAL YEAR TO MONTH as Arrow's interval of months, days and nanoseconds."""
        return pa.Table.from_batches([batch_to_calendar(_repeated(self.view, self._listed))])

    def to_pandas(self) -> Any:
        """The same as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_spark(self) -> DataFrame:
        """The same as a DataFrame of the pipeline's session, or of the active one."""
        from dbsp.running.spark.intervals import to_frame  # noqa: PLC0415  only who asks for Spark pays for it
        from dbsp.running.spark.session import session  # noqa: PLC0415

        spark = self._spark if self._spark is not None else session()
        return to_frame(spark, _repeated(self.view, self._listed))

    def rows(self) -> list[dict[str, Any]]:
        """Every row as often as it is there, in the order of the view's ORDER BY and then of the rows."""
        return listed(batch_to_calendar(_repeated(self.view, self.sorted)))

    def __len__(self) -> int:
        return int(self.zset.weights.sum())

    def __repr__(self) -> str:
        return f"<{self.view}: {len(self)} rows>"


def _repeated(view: str, total: ZSet) -> pa.RecordBatch:
    if (total.weights == 1).all():
        return total.rows
    negative = np.flatnonzero(total.weights < 0)
    if len(negative):
        row = total.rows.slice(int(negative[0]), 1).to_pylist()[0]
        raise DataError(
            f"view '{view}' has the row {row} {int(total.weights[negative[0]])} times: "
            "a table WITH (unchecked = true) had more retractions than insertions"
        )
    return total.take(np.repeat(np.arange(len(total)), total.weights)).rows
