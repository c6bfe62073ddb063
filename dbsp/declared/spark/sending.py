"""The rows of a sink, sent on by Spark's own stream: of the files that steps have added, to its format.

So a sink takes what it takes from `spark-pipelines`, with its options, and each file once as far as its
format can: the stream's checkpoint knows which files are sent, and a format that knows the numbers of
batches, as that of files does, leaves out one that it has.
"""

from __future__ import annotations

import re
from pathlib import Path

from pyspark.sql import SparkSession

from dbsp.circuits.errors import Error, ProgramError
from dbsp.declared.project.datasets import Dataset, shown
from dbsp.running.spark.messages import SparkFailure, first_line

# no file of Parquet has one
_NO_TYPE = re.compile(r"\b(INTERVAL|VARIANT|VOID|TIME\(|GEOGRAPHY|GEOMETRY)", re.IGNORECASE)
# A file that is older than that compared with the newest is taken for one that was sent.
_AGE = "36500d"


def check_sink(sink: Dataset) -> None:
    """Raises ProgramError for rows that can't be in files."""
    for name, kind in sink.columns.items():
        if _NO_TYPE.search(kind):
            raise ProgramError(
                f"{sink.place}: not supported yet: {shown(sink.name)}: column '{name}' of {kind}; cast it"
            )


def send(spark: SparkSession, sink: Dataset, rows: Path) -> None:
    """See `Surroundings`. Raises Error."""
    stream = spark.readStream.schema(sink.ddl).option("maxFileAge", _AGE).parquet(rows.as_uri())
    writer = stream.writeStream.queryName(sink.name.split("`")[-2]).outputMode("append")
    writer = writer.trigger(availableNow=True).option("checkpointLocation", f"{rows.as_uri()}.sent")
    assert sink.format is not None
    try:
        writer.format(sink.format).options(**sink.options).start().awaitTermination()
    except SparkFailure as error:
        raise Error(
            f"{sink.place}: sink {shown(sink.name)}: {first_line(error)}; "
            "what it lacks is sent by the next run"
        ) from error
