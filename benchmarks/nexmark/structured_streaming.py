"""Spark Structured Streaming on what it can run of the queries, from the same files, one a table and batch.

RUNS run as they are (update mode). Of q4 the join alone does, with the watermarks that bound its state: an
aggregate over an aggregate is refused in update mode, and a stream-stream join may only be followed by one
in append mode. The others it refuses as they are written.
"""

from __future__ import annotations

import re
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.nexmark.generator import SCHEMAS
from benchmarks.nexmark.queries import QUERIES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LATENESS = "10 seconds"
RUNS = ["q0", "q1", "q2", "q3", "q4", "q10", "q14", "q17", "q20", "q21", "q22"]

JOIN_OF_Q4 = """
SELECT a.id, a.category, b.price
FROM auction a JOIN bid b ON a.id = b.auction
WHERE b.dateTime BETWEEN a.dateTime AND a.expires
"""


def run(session: SparkSession, query: str, data: Path, scratch: Path) -> list[float]:
    """Seconds of every micro-batch over the files under `data`. scratch: for the checkpoint."""
    for table in SCHEMAS:
        _stream(session, data / table).createOrReplaceTempView(table)
    sql = JOIN_OF_Q4 if query == "q4" else re.sub(r"CREATE VIEW \w+ AS|;", "", QUERIES[query])
    ends = [time.perf_counter()]

    def batch_done(rows: DataFrame, _: int) -> None:
        rows.write.format("noop").mode("overwrite").save()
        ends.append(time.perf_counter())

    streaming = (
        session.sql(sql)
        .writeStream.foreachBatch(batch_done)
        .outputMode("append" if query in ("q3", "q4", "q20") else "update")
        .option("checkpointLocation", str(scratch / f"checkpoint-{query}"))
        .trigger(availableNow=True)
        .start()
    )
    streaming.awaitTermination()
    return [after - before for before, after in pairwise(ends)]


def _stream(session: SparkSession, path: Path) -> DataFrame:
    schema = session.read.parquet(str(path)).schema
    files = session.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(path))
    return files.withWatermark("dateTime", LATENESS)
