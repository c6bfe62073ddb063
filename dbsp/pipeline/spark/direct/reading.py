"""Messages that need no JVM on their way: read by librdkafka, decoded by columns, staged as all rows are.

    Spark plans a micro-batch → spans of offsets → tasks: read → decode → stage ─┬→ segments
                                                             not vouched for ────┴→ Spark decodes → stage

Spark's source says what a step takes, and its checkpoint keeps it, so that a step is made again of the same
messages whoever reads them. What isn't vouched for goes to Spark in the pieces in which it is found: the
halves of a unit of messages, their halves, and so on. So a bad message among many costs a few attempts, and
where most are bad, few attempts are made. Rows count in the order of their offsets, whoever has decoded
them, so that each arrives before the next one of its partition. Small batches are read where the pipeline is:
a job of Spark's would cost more.
"""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dbsp.circuits.errors import Error
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.writing import SegmentWriter
from dbsp.circuits.steps.reads import read_columns
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.pipeline.spark.bad_rows import keeping_of
from dbsp.pipeline.spark.decoding import decoded
from dbsp.pipeline.spark.direct.ahead import Taken
from dbsp.pipeline.spark.direct.client import can_read
from dbsp.pipeline.spark.direct.columns import RecordColumns, has_columns
from dbsp.pipeline.spark.direct.decoded import Decoder
from dbsp.pipeline.spark.direct.fetching import PATIENCE, close, read
from dbsp.pipeline.spark.direct.messages import MESSAGES, Messages
from dbsp.pipeline.spark.direct.placed import Placed
from dbsp.pipeline.spark.direct.spans import Span, shared_out
from dbsp.pipeline.spark.direct.subscribed import Subscribed, subscribed
from dbsp.pipeline.spark.fed import Fed
from dbsp.pipeline.spark.records import Records, decoded_fields
from dbsp.pipeline.spark.staging import STAGED, Order, Staging, give_up, ordered
from dbsp.pipeline.spark.staging import Rows as PlainRows
from dbsp.running.queue import Rows, weighted
from dbsp.running.spark.intervals import with_integers
from dbsp.running.spark.runner import SparkRunner
from dbsp.running.spark.settings import is_local
from dbsp.sql.plans.program import Table
from dbsp.state.opening import segments_at

# messages that are read here: a job of Spark's takes about as long as 10,000 of them
_SMALL = 10_000
_STORED = MESSAGES.append(pa.field(WEIGHT, pa.int64(), nullable=False))
_DDL = "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP"
# Options of Spark's source that say which messages, and not how they are had.
PLANNING = {
    *("subscribe", "subscribepattern", "assign", "startingoffsets", "maxoffsetspertrigger"),
    *("startingtimestamp", "startingoffsetsbytimestamp", "startingoffsetsbytimestampstrategy"),
    *("minoffsetspertrigger", "maxtriggerdelay", "minpartitions", "fetchoffset.numretries"),
    *("fetchoffset.retryintervalms", "kafkaconsumer.polltimeoutms"),
}
# Settings of the client in Java, as they are spelled here; None: not needed.
_SETTINGS: Mapping[str, str | None] = {
    "kafka.bootstrap.servers": "bootstrap.servers",
    "kafka.isolation.level": "isolation.level",
    "kafka.client.id": "client.id",
    "kafka.fetch.max.wait.ms": "fetch.wait.max.ms",
    "kafka.request.timeout.ms": "socket.timeout.ms",
    "kafka.default.api.timeout.ms": None,
}
_PATIENCE = "kafka.default.api.timeout.ms"
_TIMES = "spark.sql.legacy.timeParserPolicy"


@dataclass(frozen=True)
class Part:
    """What has been read. staged: relations and values of STAGED. refused: what Spark is to decode."""

    staged: list[tuple[int, bytes]]
    refused: list[tuple[int, Chunk]]


@dataclass(frozen=True)
class Direct:
    """Reads a table's spans, in any process. wanted: None: only Spark's planning says which messages."""

    relation: int
    decoder: Decoder
    read_columns: frozenset[int]
    wanted: Subscribed | None

    @property
    def staging(self) -> Staging:
        return self.decoder.staging

    def __call__(self, spans: Iterable[Span]) -> Part:
        segments = segments_at(self.staging.place)
        # as they come, since all may be
        refused = segments.writer(f"staged-{secrets.token_hex(8)}.input", durable=False)
        chunks: list[Chunk] = []
        failures: list[Error] = []
        batches = self._vouched(spans, refused, chunks, failures)
        staged = [
            row for batch in self.staging(batches) for row in zip(*batch.to_pydict().values(), strict=True)
        ]
        refused.close()
        if chunks:
            segments.settle({refused.name})
        staged += [(self.relation, pickle.dumps(failure)) for failure in failures]
        return Part(staged, [(self.relation, chunk) for chunk in chunks])

    def _vouched(
        self, spans: Iterable[Span], refused: SegmentWriter, chunks: list[Chunk], failures: list[Error]
    ) -> Iterator[pa.RecordBatch]:
        """Records; the messages of which there are none are written to `refused`."""
        of = self.decoder
        try:
            for span in spans:
                for unit in read(of.settings, of.patience, span, of.reads_times):
                    left: list[Messages] = []
                    yield from of.records(unit, left)
                    for piece in left:
                        chunks.append(refused.write(stored(piece)))
        except Error as error:
            failures.append(error)


@dataclass(frozen=True)
class _Task:
    """Of each share of spans what was read."""

    direct: Mapping[int, Direct]

    def __call__(self, shares: Iterator[list[tuple[int, Span]]]) -> Iterator[Part]:
        for share in shares:
            yield from _read_share(self.direct, share)


def _read_share(direct: Mapping[int, Direct], share: list[tuple[int, Span]]) -> Iterator[Part]:
    for relation in sorted({relation for relation, _ in share}):
        yield direct[relation](sorted(span for of, span in share if of == relation))


@dataclass(frozen=True)
class _Stored:
    """The function for `mapInArrow`: messages that were left to Spark."""

    place: str
    chunks: list[Chunk]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        segments = segments_at(self.place)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield segments.open(self.chunks[number], _STORED).select(MESSAGES.names)


@dataclass
class DirectReading:
    """Of a run. direct: by relation, the tables that are read so."""

    pipeline: Fed
    spark: SparkSession
    direct: dict[int, Direct] = field(default_factory=dict)

    def take(self, relation: int, table: Table) -> bool:
        """Whether the table is read so, from now on."""
        settings = _client_settings(table)
        wanted = read_columns(self.pipeline.program.circuit, table.name)
        fields = tuple(decoded_fields(table, wanted))
        if settings is None or not has_columns(table, fields) or not self._is_there():
            return False
        if self.spark.conf.get(_TIMES) == "LEGACY":  # of times that aren't those of today's parsers
            return False
        timezone = self.pipeline.program.timezone
        reader = Records(table, timezone) if table.changelog else Placed(PlainRows(table, 1, timezone))
        decoder = Decoder(
            RecordColumns(table, fields, timezone),
            Staging(self.pipeline.store.segments.place, relation, reader, keeping_of(table, wanted)),
            settings,
            float(table.option(_PATIENCE, str(PATIENCE * 1000))) / 1000,
        )
        self.direct[relation] = Direct(relation, decoder, wanted, subscribed(table, PLANNING))
        return True

    @property
    def is_planned_here(self) -> bool:
        """Whether the tables that it has need no query of Spark's to say what a step takes.

        On a cluster tasks read, each its share.
        """
        runner = self.pipeline.runner
        is_near = not isinstance(runner, SparkRunner) or runner.is_local
        return is_near and all(one.wanted is not None for one in self.direct.values())

    def rows(self, relation: int, taken: Taken) -> tuple[list[Rows], list[Rows]]:
        """Of what a feed has read the rows, in order, and what is none. Raises what Spark does."""
        parts: list[tuple[Order, Rows]] = [*taken.rows]
        bad: list[Rows] = [*taken.bad]
        for of, order, chunk in self._left(relation, taken.refused) if taken.refused else ():
            if of < 0:
                bad.append(chunk)
            else:
                parts.append((order, chunk))
        return [rows for _, rows in sorted(parts, key=itemgetter(0))], bad

    def _left(self, relation: int, refused: Sequence[Messages]) -> list[tuple[int, Order, Chunk]]:
        store = self.pipeline.store
        writer = store.segments.writer(f"staged-{secrets.token_hex(8)}.input", durable=False)
        chunks = [writer.write(stored(piece)) for piece in refused]
        writer.close()
        try:
            store.segments.settle({writer.name})
            return ordered(store, self._by_spark(relation, chunks))
        finally:
            store.discard({writer.name})

    def staged(self, spans: list[tuple[int, Span]]) -> list[tuple[int, bytes]]:
        """Rows of STAGED: what the spans of these tables bring. Raises what Spark does."""
        if sum(span.messages for _, span in spans) <= _SMALL:
            parts = [*_read_share(self.direct, spans)]
        else:
            context = self.spark.sparkContext
            shares = shared_out(spans, context.defaultParallelism)
            parts = context.parallelize(shares, len(shares)).mapPartitions(_Task(self.direct)).collect()
        staged = [row for part in parts for row in part.staged]
        refused = [chunk for part in parts for chunk in part.refused]
        try:
            for relation in sorted({of for of, _ in refused}):
                staged += self._by_spark(relation, [chunk for of, chunk in refused if of == relation])
        except BaseException:
            give_up(self.pipeline.store, staged)
            raise
        finally:
            self.pipeline.store.discard({chunk.segment for _, chunk in refused})
        return staged

    def _by_spark(self, relation: int, chunks: list[Chunk]) -> list[tuple[int, bytes]]:
        """What isn't vouched for."""
        direct = self.direct[relation]
        # a task a chunk: what is read between two of them has its place there
        numbers = self.spark.range(0, len(chunks), 1, len(chunks))
        messages = numbers.mapInArrow(_Stored(direct.staging.place, chunks), _DDL)
        rows = with_integers(
            decoded(direct.decoder.columns.table, messages, direct.read_columns, is_placed=True)
        )
        return [
            (row.relation, bytes(row.staged)) for row in rows.mapInArrow(direct.staging, STAGED).collect()
        ]

    def close(self) -> None:
        """Leave the brokers."""
        for direct in self.direct.values():
            close(direct.decoder.settings)

    def _is_there(self) -> bool:
        """Whether the client is, wherever tasks run."""
        if not can_read():
            return False
        context = self.spark.sparkContext
        if is_local(context.master):
            return True
        count = context.defaultParallelism
        return all(context.parallelize(range(count), count).map(can_read).collect())


def stored(messages: Messages) -> pa.RecordBatch:
    """As they are written for Spark."""
    return weighted(messages.to_arrow(), np.ones(len(messages), np.int64))


def nothing(relation: int, frame: DataFrame) -> DataFrame:
    """Of STAGED, for the plan of a query whose source is read otherwise: Spark stages none of it."""
    return frame.where("false").selectExpr(f"{relation} AS relation", "value AS staged")


def _client_settings(table: Table) -> dict[str, str] | None:
    """librdkafka's; None: OPTIONS say what it doesn't know, or has otherwise."""
    if (table.format or "").lower() != "kafka":
        return None
    settings = {}
    for name, value in table.options.items():
        option = name.lower()
        if option == "failondataloss" and value.lower() == "true":
            continue
        if option in _SETTINGS:
            spelled = _SETTINGS[option]
            if spelled is not None:
                settings[spelled] = value
        elif option not in PLANNING:
            return None
    return settings
