"""What tasks read is what is given, whoever reads it: here numbers, squared by the task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.in_tasks import ReadInTasks

pytestmark = pytest.mark.spark
SCHEMA = pa.schema([("n", pa.int64()), ("square", pa.int64())])


@dataclass(frozen=True)
class Squares:
    missing: int | None = None

    def __call__(self, numbers: Iterable[int], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for n in numbers:
            if n == self.missing:
                raise DataError(f"piece {n} went while it was read")
            yield pa.RecordBatch.from_pylist([{"n": n, "square": n * n}], SCHEMA).select(list(columns))


def test_each_piece_is_read_once_and_in_order(spark: Any) -> None:
    text = """
    CREATE TABLE t (n BIGINT, square BIGINT);
    CREATE VIEW v AS SELECT count(*) AS pieces, sum(square) AS total FROM t;
    CREATE VIEW f AS SELECT first(square) AS first, last(square) AS last FROM t;
    """
    with Pipeline(sql=text, spark=spark) as p:
        p.insert("t", ReadInTasks(spark, 50, SCHEMA, Squares()))
        p.step()
        assert p["v"].rows() == [{"pieces": 50, "total": sum(n * n for n in range(50))}]
        assert p["f"].rows() == [{"first": 0, "last": 49 * 49}]
        with pytest.raises(DataError, match="piece 7 went while it was read"):
            p.insert("t", ReadInTasks(spark, 50, SCHEMA, Squares(missing=7)))
        assert p.queued == {}
