"""A topic's messages up to where a state has read them, read once more.

Spark's checkpoint says where a query began and where its last batch ended, of each partition. What lies
between is read as one batch, in which Spark fails where the broker has no more of it, as by its retention.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dbsp.pipeline.spark.decoding import reader_options
from dbsp.pipeline.spark.direct.reading import PLANNING
from dbsp.pipeline.spark.direct.spans import beginning, places_of, spelled
from dbsp.pipeline.spark.planned import end_of_batch
from dbsp.sql.plans.program import Table

# of a partition that came after the query began, which Spark reads from its start
_EARLIEST = -2


def messages_before(
    spark: SparkSession, table: Table, checkpoint: Path, relation: int, batch: int
) -> DataFrame | None:
    """Kafka's columns of all that the batches up to this one have read; None: they have read nothing."""
    end = end_of_batch(checkpoint, relation, batch)
    if end is None:
        return None
    until, began = places_of(end), places_of(beginning(checkpoint, relation))
    assigned: defaultdict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(until):
        assigned[topic].append(partition)
    options: dict[str, Any] = {
        name: value for name, value in reader_options(table).items() if name.lower() not in PLANNING
    }
    options["assign"] = json.dumps(assigned)
    options["startingOffsets"] = spelled({place: began.get(place, _EARLIEST) for place in until})
    options["endingOffsets"] = spelled(until)
    return spark.read.format("kafka").options(**options).load()
