"""Rows come with where their messages lie, and without the columns that say it."""

from __future__ import annotations

import pyarrow as pa

from dbsp.pipeline.spark.direct.placed import Placed
from dbsp.pipeline.spark.staging import Rows
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import table

READER = Placed(Rows(table("t", (Field("id", pa.int64()),)), 1, "UTC"))


def messages(first: int, *ids: int) -> pa.RecordBatch:
    offsets = pa.array(range(first, first + len(ids)), pa.int64())
    names = ["id", "__origin_topic", "__origin_partition", "__origin_offset"]
    columns = [pa.array(ids, pa.int64()), pa.repeat("sales", len(ids)), pa.repeat(3, len(ids)), offsets]
    return pa.RecordBatch.from_arrays(columns, names)


def test_rows_are_ordered_by_their_first_message() -> None:
    (found,) = READER(messages(7, 5, 6))
    order, rows, weights = found
    assert (order, rows.to_pydict(), weights.tolist()) == (("sales", 3, 7), {"id": [5, 6]}, [1, 1])


def test_no_rows_have_no_place() -> None:
    assert [(order, rows.num_rows) for order, rows, _ in READER(messages(0))] == [((), 0)]
