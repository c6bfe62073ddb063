"""A source whose rows are records of a changelog: what Spark reads, and in which order it counts.

A key's last record in a step wins, so records of a keyed table are put in order, whatever task has read them:
by the step of a sink's directory `__step=n`, then the time of the file, its name and the place in it;
messages by their offsets; a change data feed by its commits; of what is none of these by a column `__step`,
else as the tasks come. A bag's records
add up in any order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import coalesce, col

from dbsp.circuits.columns.arrow import fixed_values, take
from dbsp.pipeline.spark.staging import Order
from dbsp.rows.changelogs import (
    AFTER,
    BEFORE,
    CHANGE_TYPE,
    COMMIT_VERSION,
    DATA,
    ENVELOPE_OP,
    OLD,
    TYPE,
    changes,
)
from dbsp.rows.incoming import BadRow
from dbsp.running.spark.intervals import quoted
from dbsp.sql.compiler.sources.messages import value_columns
from dbsp.sql.plans.program import CHANGE_FEED, DEBEZIUM, ENVELOPES, MAXWELL, OP, STEP, Table
from dbsp.sql.plans.schemas import Field, Schema

# Where a record lies: columns beside the record's own, as Spark names them and as they are here.
_PATH, _TIME, _START = "__origin_path", "__origin_time", "__origin_start"
_ORIGIN = {
    _PATH: "file_path",
    _TIME: "file_modification_time",
    _START: "file_block_start",
}
_TOPIC, _PARTITION, _OFFSET = "__origin_topic", "__origin_partition", "__origin_offset"
# the same of messages: columns of Kafka's
OF_MESSAGES = {_TOPIC: "topic", _PARTITION: "partition", _OFFSET: "offset"}
_BESIDE = {*_ORIGIN, *OF_MESSAGES}
# with their schemas, envelopes are JSON within JSON
PAYLOAD = "payload"
ENVELOPE = (BEFORE, AFTER, ENVELOPE_OP)
# of a file of a sink its step
OF_STEP = re.compile(rf"/{STEP}=(\d+)/")


def record_columns(table: Table) -> Schema:
    """What a source's records are made of."""
    if table.changelog == DEBEZIUM:
        row = pa.struct([(field.name, field.type) for field in table.schema])
        envelope = (Field(BEFORE, row), Field(AFTER, row), Field(ENVELOPE_OP, pa.string()))
        if table.row_format != "json":
            return envelope
        payload = pa.struct([(field.name, field.type) for field in envelope])
        return (*envelope, Field(PAYLOAD, payload))
    if table.changelog == MAXWELL:
        row = pa.struct([(field.name, field.type) for field in table.schema])
        return (Field(DATA, row), Field(OLD, row), Field(TYPE, pa.string()))
    if table.changelog == CHANGE_FEED:
        return (*table.schema, Field(CHANGE_TYPE, pa.string()), Field(COMMIT_VERSION, pa.int64()))
    records = table.records or table.schema
    if table.value_format is not None and table.changelog == "upsert":
        # a message without a value is a deletion, whatever else is said
        return (*table.schema, Field(OP, pa.string()))
    # of files the step is the name of a directory
    return tuple(f for f in records if not (table.is_file and f.name.lower() == STEP))


def decoded_fields(table: Table, read: frozenset[int] | None = None) -> Sequence[Field]:
    """What is looked for in a message's value, of CSV in its order.

    read: the columns that something reads; None: all. Of JSON, which has names, others aren't looked at.
    """
    if table.changelog in {*ENVELOPES, CHANGE_FEED}:
        return record_columns(table)
    fields = value_columns(table.schema, table.primary_key, table.value_format)
    if read is not None and table.changelog is None and table.value_format == "json":
        read |= table.judged_by
        wanted = {f.name for i, f in enumerate(table.schema) if i in read or not f.nullable}
        fields = [field for field in fields if field.name in wanted] or fields[:1]
    return fields


def with_origin(table: Table, frame: DataFrame, more: Sequence[Column] = ()) -> DataFrame:
    """The records as `Records` takes them, and more columns. frame: has `record_columns`.

    A path beside each costs as much as all else of a narrow row, so a bag's, which need no order, have none.
    """
    names = [field.name for field in record_columns(table)]
    columns = [col(quoted(name)) for name in names if name.lower() in {c.lower() for c in frame.columns}]
    if PAYLOAD in names and table.changelog == DEBEZIUM:
        columns = [coalesce(col(name), col(f"{PAYLOAD}.{name}")).alias(name) for name in ENVELOPE]
    if table.is_file and table.primary_key and table.changelog != CHANGE_FEED:
        columns += [col(f"_metadata.{field}").alias(name) for name, field in _ORIGIN.items()]
    columns += [col(name) for name in OF_MESSAGES if name in frame.columns]
    return frame.select(*columns, *more)


def place_of(messages: pa.RecordBatch) -> Order:
    """Of a batch's first message: a task reads a range of one partition."""
    return tuple(messages.column(name)[0].as_py() for name in OF_MESSAGES)


@dataclass(frozen=True)
class Records:
    """Reads a batch of them. timezone: of timestamps that have none."""

    table: Table
    timezone: str

    def __call__(self, batch: pa.RecordBatch) -> Iterator[tuple[Order, pa.RecordBatch, np.ndarray]]:
        """Rows, weights and what orders them among those of all tasks. Raises DataError."""
        for order, records in self._runs(batch):
            own = records.select([i for i, name in enumerate(records.schema.names) if name not in _BESIDE])
            try:
                yield order, *changes(self.table, own, self.timezone)
            except BadRow as error:
                if error.row is None:
                    raise
                problem = f"{error.problem}; {_shown(records, own, error.row)}"
                raise BadRow(self.table.name, problem, None) from None

    def _runs(self, batch: pa.RecordBatch) -> Iterator[tuple[Order, pa.RecordBatch]]:
        """Records that follow each other in the source."""
        names = {name.lower(): name for name in batch.schema.names}
        if _TOPIC in names and batch.num_rows:
            yield place_of(batch), batch
            return
        if not self.table.primary_key or not batch.num_rows:
            yield (), batch
            return
        if _PATH in names:
            keys = np.stack([_codes(batch.column(_PATH)), _codes(batch.column(_START))])
        elif self.table.changelog == CHANGE_FEED:
            # of one commit first what is gone: an update may give a row another key
            version = fixed_values(batch.column(COMMIT_VERSION).fill_null(-1))
            comes = pc.is_in(batch.column(CHANGE_TYPE), pa.array(["insert", "update_postimage"]))
            keys = np.stack([version, fixed_values(comes.cast(pa.int64()))])
            by = np.lexsort(keys[::-1])
            batch, keys = take(batch, by), keys[:, by]
        elif STEP in names:
            steps = fixed_values(batch.column(names[STEP]).cast(pa.int64()).fill_null(-1))
            by = np.argsort(steps, kind="stable")
            batch, keys = take(batch, by), steps[by][None]
        else:
            yield (), batch
            return
        starts = np.flatnonzero(np.append(True, (np.diff(keys) != 0).any(axis=0)))
        for start, end in zip(starts, np.append(starts[1:], batch.num_rows), strict=True):
            run = batch.slice(start, end - start)
            yield _order(run) if _PATH in names else tuple(map(int, keys[:, start])), run


@dataclass(frozen=True)
class Refusal:
    """The function for `mapInArrow`: what is wrong with the first record that can't be read."""

    records: Records

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found: BadRow | None = None
        for batch in batches:  # all of them: a worker whose input was left unread is not used again
            try:
                for _ in self.records(batch) if found is None else ():
                    pass
            except BadRow as error:
                found = error
        if found is not None:
            yield pa.RecordBatch.from_pydict({"problem": [found.problem]})


def _codes(column: pa.Array) -> np.ndarray:
    return fixed_values(column.dictionary_encode().indices)


def _order(run: pa.RecordBatch) -> Order:
    path, time, start = (run.column(name)[0].as_py() for name in _ORIGIN)
    steps = OF_STEP.findall(path)
    return (int(steps[-1]) if steps else -1, time.replace(tzinfo=time.tzinfo or UTC).timestamp(), path, start)


def _shown(records: pa.RecordBatch, own: pa.RecordBatch, row: int) -> str:
    """The record, and its file where that is known."""
    values = own.slice(row, 1).to_pylist()[0]
    text = ", ".join(f"{name}={value}" for name, value in values.items())
    known = _PATH in records.schema.names
    where = f" in '{records.column(_PATH)[row].as_py()}'" if known else ""
    if _TOPIC in records.schema.names:
        topic, partition, offset = (records.column(name)[row].as_py() for name in OF_MESSAGES)
        where = f" at offset {offset} of {topic}-{partition}"
    return f"the record{where}: {text[:200]}"
