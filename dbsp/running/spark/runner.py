"""The runner on Spark: a step is one job.

    small delta   on a cluster one stage: one task runs all levels of all partitions, so nothing moves; merge
                  work that is due goes to tasks of its own beside it. Where that task would be on this
                  machine there is no job: the step is made here, unless it calls functions of the user's
    large delta   one stage per level, one task per partition; blobs go from level to level in the shuffle

On a cluster a partition's tasks of all levels prefer one host, whose copies of segments are what they read.
Small and large give the same results, since results never depend on the number of partitions.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import RDD, Broadcast
from pyspark.sql import SparkSession

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import Error
from dbsp.circuits.segments.writing import SegmentWriter
from dbsp.circuits.steps.merging import shares
from dbsp.circuits.steps.reads import read_columns, without_unread
from dbsp.circuits.steps.state import TaskResult
from dbsp.circuits.steps.task import Input
from dbsp.running.dealing import dealt
from dbsp.running.inline import InlineRunner
from dbsp.running.runner import Work
from dbsp.running.spark.hosts.placed import Hosts
from dbsp.running.spark.messages import SparkFailure, first_line, foreseen, worker_died
from dbsp.running.spark.session import session as default_session
from dbsp.running.spark.session import share_keys, share_packages
from dbsp.running.spark.settings import is_local
from dbsp.running.spark.tasks import FirstStage, NextStage, Record, Share, Shared

# What stages and shuffles cost, in rows that a core makes meanwhile. Nexmark q4 on two cores, one of
# them busy: a step of 100 000 rows takes 207 ms as one task, 560 ms as a stage per level with two tasks
# each; one of 500 000 rows 443 ms and 878 ms.
ROWS_OF_STAGES = 500_000
# Rows that one task of a level is given, about; of a comparison those of the stored range, too. TPC-H's take
# 600 bytes each while they are sorted and written: a process has 1.3 GB then, and 2.1 of 3.6 million.
LARGE_TASK = 2_000_000
# A pipeline's own circuit, and those that compare its tables with what they are to hold.
BROADCASTS = 16
# Beyond this a delta goes to the tasks in a file: what is in the closure passes py4j as base64.
INLINE_BYTES = 1 << 18
# A step is safe to repeat, and a worker that was killed once (out of memory, by hand) may not be again.
ATTEMPTS = 2

log = logging.getLogger("dbsp")


class SparkRunner:
    """session: default the active one, or a new one.

    small: rows up to which a step is one task; default `one_task` of the cores.
    """

    def __init__(self, session: SparkSession | None = None, small: int | None = None) -> None:
        self.session = session if session is not None else default_session()
        self._context = self.session.sparkContext
        self._small = small
        self._here = InlineRunner()
        self._hosts = Hosts(self._context)
        self._seeds: dict[int, tuple[tuple[str, ...], RDD[int]]] = {}
        self._circuits: list[tuple[Circuit, Broadcast[Circuit]]] = []  # the last one used last
        share_packages(self._context)

    @property
    def partitions(self) -> int:
        """The cores there are now: executors come and go."""
        return int(self._context.defaultParallelism)

    @property
    def is_local(self) -> bool:
        """See `is_local`."""
        return is_local(self._context.master)

    def run(self, work: Work) -> list[TaskResult]:
        rows = sum(part.rows for parts in work.inputs.values() for part in parts)
        step = replace(work.step, partitions=self._tasks(work, rows))
        if step.partitions == 1 and self._stays(work):
            return self._here.run(replace(work, step=step))
        if work.segments.origin is not None:
            share_keys(self._context)
        inputs = _placed(work, step.partitions)
        shared = Shared(
            self._broadcast(work.circuit),
            work.segments.place,
            work.segments.verify,
            step,
            work.scanned is not None,
        )
        outcomes = self._collect(shared, work, inputs)
        failures = [o for _, o in outcomes if isinstance(o.result, Error)]
        if failures:
            raise min(failures, key=lambda failure: (failure.level, failure.partition)).result
        return [
            o.result for _, o in sorted(outcomes, key=lambda record: (record[1].level, record[1].partition))
        ]

    def _stays(self, work: Work) -> bool:
        """Whether one task of it is run by this process, and no job.

        Nexmark on two busy cores, CPU of a step here and as a job: 100 rows through ten views 23 and 119 ms,
        500 000 events of q9 756 and 1,286. What reads tables to compare them is a worker's: nobody here wants
        their rows.
        """
        return self.is_local and work.scanned is None and not work.circuit.calls_python

    def _tasks(self, work: Work, rows: int) -> int:
        """Into how many the step's levels are cut, that is given so many rows."""
        rows += work.scanned or 0
        return 1 if rows <= self._most(work) else max(work.step.partitions, -(-rows // LARGE_TASK))

    def _most(self, work: Work) -> int:
        """Rows up to which a step is one task."""
        if self._small is not None:
            return self._small
        return one_task(min(self.partitions, work.step.partitions))

    def close(self) -> None:
        self._here.close()
        while self._circuits:
            _, broadcast = self._circuits.pop()
            with suppress(Py4JError, OSError):  # of a JVM that has ended nothing is left to give back
                broadcast.destroy()

    def _collect(
        self, shared: Shared, work: Work, inputs: Sequence[Mapping[str, Sequence[Input]]]
    ) -> list[tuple[int, Any]]:
        """The job's records. One whose worker died runs once more, as Spark's local mode doesn't."""
        for attempt in range(ATTEMPTS):
            try:
                records: list[tuple[int, Any]] = self._job(shared, work, inputs).collect()
                return records
            except (*SparkFailure, Py4JError, OSError) as error:
                if attempt < ATTEMPTS - 1 and worker_died(error):
                    log.warning("step %d: %s; trying it again", work.step.number, first_line(error))
                    continue
                known = foreseen(error)
                if known is None:
                    raise
                raise Error(f"step {work.step.number}: {known}") from error
        raise AssertionError("no attempt was made")

    def _job(
        self, shared: Shared, work: Work, inputs: Sequence[Mapping[str, Sequence[Input]]]
    ) -> RDD[Record]:
        pieces, step = work.step.state.pieces, shared.step
        if step.partitions == 1:
            beside = min(len(pieces), max(1, self.partitions - 1))
            given = [Share(inputs[0], ())]
            given += [Share({}, pieces[i::beside], merge_only=True) for i in range(beside)]
            where = self._hosts.homes(1) * len(given)
            return self._seed(where, len(given)).mapPartitionsWithIndex(
                FirstStage(shared, range(work.circuit.levels), given)
            )
        count = step.partitions
        where = self._hosts.homes(count)
        merges = shares(work.circuit, pieces, count)
        given = [Share(inputs[p], merges[p]) for p in range(count)]
        records = self._seed(where, count).mapPartitionsWithIndex(FirstStage(shared, range(1), given))
        for level in range(1, work.circuit.levels):
            moved = self._hosts.placed(records.partitionBy(count, _itself), where)
            records = moved.mapPartitionsWithIndex(NextStage(shared, level))
        return records

    def _seed(self, where: tuple[str, ...], tasks: int) -> RDD[int]:
        """An RDD of that many partitions; making it anew costs 5 ms of py4j and a file."""
        if tasks not in self._seeds or self._seeds[tasks][0] != where:
            made = self._context.parallelize(range(tasks), tasks)
            self._seeds[tasks] = where, self._hosts.placed(made, where)
        return self._seeds[tasks][1]

    def _broadcast(self, circuit: Circuit) -> Broadcast[Circuit]:
        known = next((one for one in self._circuits if one[0] is circuit), None)
        if known is None:
            known = circuit, self._context.broadcast(circuit)
        else:
            self._circuits.remove(known)
        self._circuits.append(known)
        if len(self._circuits) > BROADCASTS:
            self._circuits.pop(0)[1].destroy()
        return known[1]


def one_task(cores: int) -> int:
    """Rows that take one core as long as `cores` with their stages.

    n = o + n / P, so n = o · P / (P − 1): a million for two, 508,000 for 64.
    """
    return ROWS_OF_STAGES * cores // max(cores - 1, 1)


def _itself(partition: int) -> int:
    return partition


def _placed(work: Work, partitions: int) -> list[Mapping[str, Sequence[Input]]]:
    """The inputs of every task, put into a file where they are large."""
    needed = {table: _without_unread(work.circuit, table, parts) for table, parts in work.inputs.items()}
    parts = [part for table in needed.values() for part in table]
    size = sum(part.batch.nbytes for part in parts if isinstance(part.batch, pa.RecordBatch))
    if partitions == 1 and size <= INLINE_BYTES:
        return [needed]
    writer = work.segments.writer(f"{work.step.segment}.input", durable=False)
    placed = [
        {table: [_written(part, writer) for part in given] for table, given in share.items()}
        for share in dealt(needed, partitions)
    ]
    writer.close()
    work.segments.settle({writer.name})
    return [*placed]


def _written(part: Input, writer: SegmentWriter) -> Input:
    rows = part.batch
    return Input(part.ordinal, writer.write(rows)) if isinstance(rows, pa.RecordBatch) else part


def _without_unread(circuit: Circuit, table: str, parts: Sequence[Input]) -> list[Input]:
    """The parts, without what no operator reads; what is stored was written so."""
    read = read_columns(circuit, table)
    return [
        Input(part.ordinal, without_unread(part.batch, read))
        if isinstance(part.batch, pa.RecordBatch)
        else part
        for part in parts
    ]
