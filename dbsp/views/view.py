"""What a view holds after some step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.forms.broken_text import listed
from dbsp.circuits.columns.forms.outside import batch_to_outside
from dbsp.circuits.errors import DataError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.sorting import sort_rows
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.collations import column_of
from dbsp.sql.plans.schemas import Schema
from dbsp.views.html import SHOWN, html_table
from dbsp.views.indexes.order_index import Order, Ordered, ordered
from dbsp.views.search import Indexes
from dbsp.views.searched import Explain, Searched, less_than_never

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbsp.views.live import Live

# of how many rows are shown
Follow = Callable[[int], "Live"]


class Contents(Searched):
    """The rows of a view as of one step; later steps don't change it.

    Examples:
        >>> view = p["turnover"]
        >>> view, view.step, view.schema.names
        (<turnover: 2 rows>, 1, ['buyer', 'total'])

    note: what else there is to say of the rows.
    """

    note = ""

    def __init__(
        self,
        view: str,
        schema: pa.Schema,
        parts: list[ZSet],
        spark: SparkSession | None = None,
        order: Sequence[SortOrder] = (),
        chunks: Sequence[Chunk] = (),
        indexes: Indexes | None = None,
        step: int = 0,
        explain: Explain | None = None,
        follow: Follow | None = None,
    ) -> None:
        """parts: what is stored, of `chunks`. indexes: of the pipeline whose view it is. step: after which
        these are the rows; 0: before the first. explain: tells why rows are there, of a view of a state.
        follow: shows the view as of the steps to come.
        """
        self.view = view
        self.schema = schema
        self._parts = parts
        self.step = step
        self._spark = spark
        self._order = tuple(order)
        self._chunks, self._indexes = tuple(chunks), indexes
        self._explain, self._follow = explain, follow

    @cached_property
    def zset(self) -> ZSet:
        """Consolidated, in no order; the columns have the view's names."""
        if not self._parts:
            return ZSet.empty(self.schema)
        return ZSet.sum(self._parts[0].schema, self._parts).consolidate().under(self.schema)

    @cached_property
    def sorted(self) -> ZSet:
        """The same, in the order of the view's ORDER BY and then of the rows."""
        return sort_rows(self.zset, self._order)

    @property
    def parts(self) -> list[ZSet]:
        """What the rows are the sum of, as it is stored; the names of the columns may be others."""
        return [self.zset] if "zset" in self.__dict__ else self._parts

    @property
    def columns(self) -> Schema:
        """Names and types of the columns, and whether they may be NULL.

        Examples:
            >>> [(column.name, str(column.type)) for column in p["turnover"].columns]
            [('buyer', 'string'), ('total', 'int64')]
        """
        return tuple(map(column_of, self.schema))

    def batch(self) -> pa.RecordBatch:
        """Every row as often as it is there, in the order of the view's ORDER BY, without one in none.

        Examples:
            >>> sorted(p["turnover"].batch().to_pylist(), key=str)
            [{'buyer': 'Ada', 'total': 5}, {'buyer': 'Bob', 'total': 7}]
        """
        return self._each(self.sorted if self._order else self.zset)

    def to_arrow(self) -> pa.Table:
        """The same as a table, INTERVAL YEAR TO MONTH as Arrow's interval of months, days, nanoseconds.

        Examples:
            >>> p["turnover"].to_arrow().sort_by("total").column("buyer").to_pylist()
            ['Ada', 'Bob']
        """
        return pa.Table.from_batches([batch_to_outside(self.batch())])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """So that what reads Arrow reads a view: `pl.DataFrame(p["v"])`, `pa.table(p["v"])`, DuckDB."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def first(self, count: int) -> pa.RecordBatch:
        """The first of the rows, as `rows` lists them.

        Examples:
            >>> p["turnover"].first(1).to_pylist()
            [{'buyer': 'Ada', 'total': 5}]
        """
        return self.page(0, count)[0]

    def page(
        self, offset: int, count: int, order: Sequence[SortOrder] | None = None
    ) -> tuple[pa.RecordBatch, int]:
        """(rows from the offset on, how many there are in all), in the view's order or another one.

        Examples:
            >>> rows, count = p["turnover"].page(1, 10)
            >>> rows.to_pylist(), count
            ([{'buyer': 'Bob', 'total': 7}], 2)

        Cost: of the first page in an order that of sorting, of others O(log n + count), and what steps have
        changed between them. Raises DataError for a row that is there less than never.
        """
        found = self._ordered(tuple(self._order if order is None else order))
        rows = found.page(offset, count)
        batch = pa.RecordBatch.from_arrays(rows.rows.columns, schema=self.schema)
        return self._each(ZSet(batch, rows.weights)), found.total

    def leading(self, count: int, order: Sequence[SortOrder]) -> list[ZSet]:
        """Parts that have at least the first rows in an order, and those that it doesn't tell from them."""
        by = tuple(order)
        return self.parts if self._indexes is None else [self._ordered(by).leading(count, by)]

    def _ordered(self, order: Order) -> Ordered:
        if self._indexes is None or not self._chunks:
            return ordered(self.zset, order)
        parts = dict(zip(self._chunks, self._parts, strict=True))
        return self._indexes.orders.of(self.view, order).of(parts)

    def _repr_html_(self) -> str:
        title = f"{self.view} ({self.note})" if self.note else self.view
        return html_table(title, self.first(SHOWN), len(self))

    def live(self, rows: int = SHOWN) -> Live:
        """Show the first rows in a notebook's cell, drawn anew after each step, those that it brought marked.

            turnover = p["turnover"].live()         turnover.stop()

        rows: how many. At most four times a second; of faster steps the last is shown. It ends with `stop`,
        or the pipeline. Raises DataError for what is no view of a pipeline, and Error outside a notebook.
        """
        if rows < 1:
            raise DataError(f"rows={rows}: a live view shows at least one row")
        if self._follow is None:
            raise DataError(f"'{self.view}' is no view of a pipeline, so no step changes it")
        return self._follow(rows)

    def to_pandas(self) -> Any:
        """The same as a pandas DataFrame.

        Examples:
            >>> int(p["turnover"].to_pandas()["total"].sum())
            12
        """
        return self.to_arrow().to_pandas()

    def to_spark(self) -> DataFrame:
        """The same as a DataFrame of the pipeline's session, or of the active one."""
        from dbsp.running.spark.frames import to_frame  # noqa: PLC0415  only who asks for Spark pays for it
        from dbsp.running.spark.session import session  # noqa: PLC0415

        spark = self._spark if self._spark is not None else session()
        return to_frame(spark, self.batch())

    def sorted_batch(self) -> pa.RecordBatch:
        """Every row as often as it is there, in the order of the view's ORDER BY and then of the rows.

        Examples:
            >>> p["turnover"].sorted_batch().to_pylist()
            [{'buyer': 'Ada', 'total': 5}, {'buyer': 'Bob', 'total': 7}]
        """
        return self._each(self.sorted)

    def in_order(self, order: Sequence[SortOrder] | None) -> pa.RecordBatch:
        """The same in another order; None: in the view's."""
        return self._each(self.sorted if order is None else sort_rows(self.zset, order))

    def rows(self) -> list[dict[str, Any]]:
        """The same as dicts.

        Examples:
            >>> p["turnover"].rows()
            [{'buyer': 'Ada', 'total': 5}, {'buyer': 'Bob', 'total': 7}]
        """
        return listed(batch_to_outside(self.sorted_batch()))

    def _of(self, parts: list[ZSet], order: Sequence[SortOrder]) -> Contents:
        return Contents(self.view, self.schema, parts, self._spark, order, step=self.step)

    def _each(self, total: ZSet) -> pa.RecordBatch:
        """Each row as often as it is there, in their order. Raises DataError for one less than never."""
        if (total.weights == 1).all():
            return total.rows
        negative = np.flatnonzero(total.weights < 0)
        if len(negative):
            row = total.rows.slice(int(negative[0]), 1).to_pylist()[0]
            raise less_than_never(self.view, row, int(total.weights[negative[0]]))
        return total.take(np.repeat(np.arange(len(total)), total.weights)).rows

    def __len__(self) -> int:
        return sum(int(part.weights.sum()) for part in self.parts)

    def __repr__(self) -> str:
        return f"<{self.view}: {len(self)} rows>"
