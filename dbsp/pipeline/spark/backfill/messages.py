"""A topic's messages up to where a state has read them, read once more.

Spark's checkpoint says where a query began and where its last batch ended, of each partition. What lies
between is read as one batch, in which Spark fails where the broker has no more of it, as by its retention.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dbsp.pipeline.spark.decoding import reader_options
from dbsp.pipeline.spark.direct.reading import PLANNING
from dbsp.pipeline.spark.planned import end_of_batch
from dbsp.sql.plans.program import Table

# of a partition that came after the query began, which Spark reads from its start
_EARLIEST = -2

Offsets = dict[str, dict[str, int]]


def messages_before(
    spark: SparkSession, table: Table, checkpoint: Path, relation: int, batch: int
) -> DataFrame | None:
    """Kafka's columns of all that the batches up to this one have read; None: they have read nothing."""
    end = end_of_batch(checkpoint, relation, batch)
    if end is None:
        return None
    until: Offsets = json.loads(end)
    began = _began(checkpoint, relation)
    since = {
        topic: {part: began.get(topic, {}).get(part, _EARLIEST) for part in parts}
        for topic, parts in until.items()
    }
    options: dict[str, Any] = {
        name: value for name, value in reader_options(table).items() if name.lower() not in PLANNING
    }
    options["assign"] = json.dumps({topic: sorted(map(int, parts)) for topic, parts in until.items()})
    options["startingOffsets"], options["endingOffsets"] = json.dumps(since), json.dumps(until)
    return spark.read.format("kafka").options(**options).load()


def _began(checkpoint: Path, relation: int) -> Offsets:
    """Where the query began: a zero byte, the version, and the offsets."""
    written = (checkpoint / "sources" / str(relation) / "0").read_text()
    found: Offsets = json.loads(written[written.index("{") :])
    return found
