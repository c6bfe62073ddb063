"""One task of a step: all operators of some levels, for one partition of the hash space.

The same function runs in a Spark task and in process. It reads the state it was given through mmap,
writes what it adds into segment files of its own, and returns references; nothing is true until the
driver has applied the results of *all* tasks. So a task can fail, be retried or run twice.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import numpy as np
import pyarrow as pa

from circuits.arrow import concat, empty, take
from circuits.batch import Batch, Layout
from circuits.circuit import Circuit, Node
from circuits.hashing import hash_rows
from circuits.operator import Context, Value, delta_of
from circuits.operators.linear import SEQUENCE, Source
from circuits.operators.streams import Exchange, Remembered
from circuits.retain import out_of_reach, tops, unreachable, waterline_row
from circuits.segments import Chunk, Segments, SegmentWriter
from circuits.spine import Piece, Run
from circuits.state import State, TaskResult
from circuits.trace import Integral
from circuits.zset import WEIGHT, ZSet


@dataclass(frozen=True)
class Input:
    """Part of a table's delta: the table's columns and a last column `__weight`.

    ordinal: its place among the step's inputs. batch: the rows, or the chunk that holds them.
    """

    ordinal: int
    batch: pa.RecordBatch | Chunk


@dataclass(frozen=True)
class Task:
    """step: from 1. segment: base name of the files it may write. levels: consecutive.

    received: (node, blob) that tasks of the level before sent to this partition. pieces: merge work.
    """

    step: int
    clock: datetime | None
    levels: range
    partition: int
    partitions: int
    state: State
    segment: str
    inputs: Mapping[str, Sequence[Input]] = field(default_factory=dict)
    received: Sequence[tuple[int, bytes]] = ()
    pieces: Sequence[Piece] = ()
    durable: bool = True

    @property
    def bounds(self) -> tuple[int, int]:
        """The sort keys of the partition: low <= key < high."""
        return partition_start(self.partition, self.partitions), partition_start(
            self.partition + 1, self.partitions
        )


def partition_start(partition: int, partitions: int) -> int:
    """The least sort key whose high half h has ⌊h · partitions / 2³²⌋ >= partition."""
    return -(-(partition << 32) // partitions) << 32


def run_task(circuit: Circuit, task: Task, segments: Segments) -> TaskResult:
    """Run the task; see `TaskResult` for what it returns. Raises circuits.errors.Error."""
    return _Run(circuit, task, segments).run()


def run_step(
    circuit: Circuit,
    state: State,
    inputs: Mapping[str, Sequence[Input]],
    segments: Segments,
    step: int,
    segment: str,
    partitions: int = 1,
    clock: datetime | None = None,
    durable: bool = False,
) -> list[TaskResult]:
    """A whole step in process: one task, or one a level and partition."""
    if partitions == 1:
        levels = range(circuit.levels)
        task = Task(step, clock, levels, 0, 1, state, segment, inputs, (), state.pieces, durable)
        return [run_task(circuit, task, segments)]
    results: list[TaskResult] = []
    received: list[list[tuple[int, bytes]]] = [[] for _ in range(partitions)]
    for level in range(circuit.levels):
        sent: list[list[tuple[int, bytes]]] = [[] for _ in range(partitions)]
        for p in range(partitions):
            share = {table: parts[p::partitions] for table, parts in inputs.items()} if level == 0 else {}
            pieces = state.pieces[p::partitions] if level == 0 else ()
            name = f"{segment}-{level}-{p}"
            task = Task(
                step,
                clock,
                range(level, level + 1),
                p,
                partitions,
                state,
                name,
                share,
                received[p],
                pieces,
                durable,
            )
            result = run_task(circuit, task, segments)
            for node, to, blob in result.sent:
                sent[to].append((node, blob))
            results.append(result)
        received = sent
    return results


class _Run:
    """The evaluation of one task."""

    def __init__(self, circuit: Circuit, task: Task, segments: Segments) -> None:
        self.circuit, self.task, self.segments = circuit, task, segments
        owns = task.partition == 0
        self.context = Context(circuit.seed, task.step, task.clock, owns, task.state.waterlines)
        self.result = TaskResult()
        self.values: dict[int, Value] = {}
        # logs live as long as their view, trace batches until the next merge: different files
        self.traces = SegmentWriter(segments.root, f"{task.segment}.trace", task.durable)
        self.views = SegmentWriter(segments.root, f"{task.segment}.view", task.durable)

    def run(self) -> TaskResult:
        self._receive()
        for level in self.task.levels:
            began = time.perf_counter()
            for i, node in enumerate(self.circuit.nodes):
                if node.level == level and i not in self.values:
                    self.values[i] = self._evaluate(i, node)
            self._write(level)
            self.result.seconds[level] = time.perf_counter() - began
        if self.task.levels.stop < self.circuit.levels:
            self._send(self.task.levels.stop)
        for piece in self.task.pieces:
            self.result.merged.append((piece, self._merge(piece)))
        if owns_decisions(self.task):
            self._find_unreachable()
        self.result.candidates = self.context.candidates
        self.result.late = self.context.late
        self.traces.close()
        self.views.close()
        return self.result

    def _evaluate(self, i: int, node: Node) -> Value:
        operator = node.operator
        if isinstance(operator, Source):
            return self._source(operator)
        inputs = [self.values[j] for j in node.inputs]
        layout = self.circuit.layouts.get(i)
        if layout is None:
            return operator.step(self.context, *inputs)
        return operator.integrate(self.context, layout, self._before(i, layout), *inputs)

    def _source(self, source: Source) -> ZSet:
        keyed = source.columns.names[-1] == SEQUENCE
        stored = pa.schema([*source.columns][: len(source.columns) - keyed]).append(
            pa.field(WEIGHT, pa.int64(), nullable=False)
        )
        parts = []
        for part in self.task.inputs.get(source.table, ()):
            batch = part.batch
            opened = self.segments.open(batch, stored) if isinstance(batch, Chunk) else batch
            zset = ZSet.from_batch(opened)
            columns = zset.rows.columns
            if keyed:
                columns.append(pa.array((part.ordinal << 32) + np.arange(len(zset), dtype=np.int64)))
            rows = pa.RecordBatch.from_arrays(columns, schema=source.columns)
            parts.append(ZSet(rows, zset.weights))
        delta = ZSet.sum(source.columns, parts)
        self.result.rows_in[source.table] = self.result.rows_in.get(source.table, 0) + len(delta)
        return delta

    def _before(self, i: int, layout: Layout) -> tuple[Batch, ...]:
        spine = self.task.state.spines[i]
        return tuple(batch for run in spine.runs for batch in self._open(run, layout))

    def _open(self, run: Run, layout: Layout) -> list[Batch]:
        """The run's batches, cut to the partition."""
        low, high = self.task.bounds
        batches = []
        for chunk in run.chunks:
            if chunk.low < high and chunk.high >= low:
                batch = open_chunk(layout, chunk, self.segments)
                inside = low <= chunk.low and chunk.high < high
                batches.append(batch if inside else batch.between(low, high))
        return batches

    # -- between levels -----------------------------------------------------------------------------

    def _receive(self) -> None:
        """Turn blobs into values: deltas of nodes, or the batches of traces."""
        blobs: dict[int, list[pa.RecordBatch]] = {}
        for i, blob in self.task.received:
            blobs.setdefault(i, []).append(pa.ipc.read_record_batch(pa.py_buffer(blob), self._wire_schema(i)))
        first = self.task.levels.start
        for i, node in enumerate(self.circuit.nodes):
            crosses = any(level >= first for level in self.circuit.consumers[i])
            below = node.level < first or (node.level == first and isinstance(node.operator, Exchange))
            if not (crosses and below) or first == 0:
                continue
            received = concat(self._wire_schema(i), blobs.get(i, []))
            layout = self.circuit.layouts.get(i)
            if layout is None:
                self.values[i] = ZSet.from_batch(received)
            else:
                delta = Batch.from_stored(received, layout)
                self.values[i] = Integral(layout, self._before(i, layout), delta)

    def _wire_schema(self, i: int) -> pa.Schema:
        layout = self.circuit.layouts.get(i)
        if layout is not None:
            return layout.stored_schema
        return self.circuit.nodes[i].schema.append(pa.field(WEIGHT, pa.int64(), nullable=False))

    def _send(self, level: int) -> None:
        """Send what nodes of later levels read: through exchanges to its partition, else to our own."""
        for i, node in enumerate(self.circuit.nodes):
            if isinstance(node.operator, Exchange) and node.level == level and i not in self.values:
                self._scatter(i, node.operator, delta_of(self.values[node.inputs[0]]))
            elif i in self.values and any(
                reader >= level and not self._is_exchange_at(i, level) for reader in self.circuit.consumers[i]
            ):
                self._forward(i)

    def _is_exchange_at(self, i: int, level: int) -> bool:
        """Whether all that reads node i from `level` on are exchanges into `level`, which send it already."""
        readers = [n for n in self.circuit.nodes if i in n.inputs and n.level >= level]
        return all(isinstance(n.operator, Exchange) and n.level == level for n in readers)

    def _forward(self, i: int) -> None:
        value = self.values[i]
        assert not isinstance(value, Remembered), f"node {i}: a delay can't be read across levels"
        if isinstance(value, Integral):
            batch = value.delta.to_stored(value.layout)
        else:
            batch = value.to_batch()
        if batch.num_rows:
            self.result.sent.append((i, self.task.partition, batch.serialize().to_pybytes()))

    def _scatter(self, i: int, exchange: Exchange, delta: ZSet) -> None:
        if not len(delta):
            return
        hashes = hash_rows([delta.rows.column(c) for c in exchange.columns], len(delta), self.circuit.seed)
        # a 32-bit half times the partitions, without overflow
        to = ((hashes >> np.uint64(32)) * np.uint64(self.task.partitions) >> np.uint64(32)).astype(np.uint8)
        order = np.argsort(to, kind="stable")
        ends = np.searchsorted(to[order], np.arange(self.task.partitions + 1))
        for p in range(self.task.partitions):
            if ends[p] < ends[p + 1]:
                part = delta.take(order[ends[p] : ends[p + 1]]).to_batch()
                self.result.sent.append((i, p, part.serialize().to_pybytes()))

    # -- what is written ----------------------------------------------------------------------------

    def _write(self, level: int) -> None:
        for i, layout in self.circuit.layouts.items():
            if self.circuit.nodes[i].level == level:
                value = self.values[i]
                assert isinstance(value, Integral)
                self._insert(i, layout, value.delta, self.traces)
        for i, layout in self.circuit.logs.items():
            if self.circuit.nodes[i].level == level:
                self._insert(i, layout, _as_log(layout, delta_of(self.values[i])), self.views)
        for output in self.circuit.outputs:
            if self.circuit.nodes[_kept(output.node, output.trace)].level == level:
                self._record_changes(output.view, output.node, output.trace)

    def _insert(self, i: int, layout: Layout, delta: Batch, writer: SegmentWriter) -> None:
        self.result.inserted[i] = len(delta)
        spine = self.task.state.spines[i]
        absorbed = spine.absorbable(self.task.state.small)
        # tasks of one step agree: several of them always absorb, one alone only if it has something to add
        if len(delta) or (absorbed and self.task.partitions > 1):
            batches = [batch for run in absorbed for batch in self._open(run, layout)]
            if i in self.circuit.logs:
                merged = _concatenate(layout, [*batches, delta])
            else:
                merged = self._collect(i, Batch.merge(layout, [delta, *batches]))
            self.result.absorbed.add(i)
            self.result.written[i] = self._store(i, layout, merged, writer)

    def _store(self, i: int, layout: Layout, batch: Batch, writer: SegmentWriter) -> Chunk | None:
        if not len(batch):
            return None
        retention = self.circuit.retentions.get(i)
        greatest = tops(retention, batch.rows) if retention is not None else ()
        return writer.write(batch.to_stored(layout), int(batch.keys[0]), int(batch.keys[-1]), greatest)

    # -- retention ----------------------------------------------------------------------------------

    @cached_property
    def bounds(self) -> dict[int, list[pa.Scalar | None]]:
        """Per collected trace, the bound of each limit: by the waterlines as of the step before."""
        row = waterline_row(self.circuit.lateness, self.task.state.waterlines)
        return {i: [limit.bound(row) for limit in r.limits] for i, r in self.circuit.retentions.items()}

    def _collect(self, i: int, batch: Batch) -> Batch:
        """The batch without the rows that no future input can reach."""
        retention = self.circuit.retentions.get(i)
        if retention is None or not len(batch) or all(bound is None for bound in self.bounds[i]):
            return batch
        gone = out_of_reach(retention, self.bounds[i], batch.rows)
        if not gone.any():
            return batch
        kept = np.flatnonzero(~gone)
        self.result.collected[i] = self.result.collected.get(i, 0) + len(batch) - len(kept)
        return Batch(batch.keys[kept], take(batch.rows, kept), batch.weights[kept])

    def _find_unreachable(self) -> None:
        """Runs to drop unread."""
        for i, retention in self.circuit.retentions.items():
            spine = self.task.state.spines[i]
            absorbed = {run.id for run in spine.absorbable(self.task.state.small)}
            runs = {
                run.id: run.rows
                for run in spine.runs
                if run.id not in absorbed and unreachable(retention, self.bounds[i], run)
            }
            if runs:
                self.result.unreachable[i] = set(runs)
                self.result.collected[i] = self.result.collected.get(i, 0) + sum(runs.values())

    def _record_changes(self, view: str, node: int, trace: int | None) -> None:
        at = _kept(node, trace)
        value = self.values[at]
        if trace is None:
            layout = self.circuit.logs[node]
            delta = _as_log(layout, delta_of(value))
        else:
            assert isinstance(value, Integral)
            layout, delta = value.layout, value.delta
        if not len(delta):
            return
        written = self.result.written.get(at)
        collected = self.result.collected.get(at)
        if (
            written is not None
            and not collected
            and not self.task.state.spines[at].absorbable(self.task.state.small)
        ):
            self.result.changes[view] = written
            return
        chunk = self._store(at, layout, delta, self.views)
        assert chunk is not None
        self.result.changes[view] = chunk

    def _merge(self, piece: Piece) -> Chunk | None:
        layout = self.circuit.layouts.get(piece.node)
        is_log = layout is None
        if layout is None:
            layout = self.circuit.logs[piece.node]
        batches = [open_chunk(layout, chunk, self.segments) for chunk in piece.chunks]
        if is_log:
            return self._store(piece.node, layout, _concatenate(layout, batches), self.views)
        parts = [batch.between(piece.low, piece.high) for batch in batches]
        merged = self._collect(piece.node, Batch.merge(layout, parts))
        return self._store(piece.node, layout, merged, self.traces)


def owns_decisions(task: Task) -> bool:
    """Whether it is this task, of all tasks of the step, that decides what concerns them all."""
    return task.partition == 0 and 0 in task.levels


def contents(circuit: Circuit, state: State, view: str, segments: Segments) -> ZSet:
    """The view's rows now, consolidated. O(size of the view)."""
    output = circuit.output(view)
    at = _kept(output.node, output.trace)
    layout = circuit.logs[at] if output.trace is None else circuit.layouts[at]
    chunks = [chunk for run in state.spines[at].runs for chunk in run.chunks]
    return read_chunks(layout, chunks, segments)


def changes(circuit: Circuit, view: str, chunks: Sequence[Chunk], segments: Segments) -> ZSet:
    """A step's delta of a view, consolidated, from what its tasks recorded."""
    output = circuit.output(view)
    layout = circuit.logs[output.node] if output.trace is None else circuit.layouts[output.trace]
    return read_chunks(layout, chunks, segments)


def read_chunks(layout: Layout, chunks: Sequence[Chunk], segments: Segments) -> ZSet:
    """The sum of stored batches, consolidated."""
    parts = [open_chunk(layout, chunk, segments).zset for chunk in chunks]
    return ZSet.sum(layout.schema, parts).consolidate()


def open_chunk(layout: Layout, chunk: Chunk, segments: Segments) -> Batch:
    """A stored batch of a trace or log, mapped."""
    return segments.kept(chunk, layout.stored_schema, lambda stored: Batch.from_stored(stored, layout))


def _kept(node: int, trace: int | None) -> int:
    """The node whose spine holds a view: its trace, or the node itself where the contents are a log."""
    return node if trace is None else trace


def _as_log(layout: Layout, delta: ZSet) -> Batch:
    """Rows in arrival order: a log has no sort key."""
    return Batch(np.zeros(len(delta), np.uint64), delta.rows, delta.weights)


def _concatenate(layout: Layout, batches: list[Batch]) -> Batch:
    batches = [batch for batch in batches if len(batch)]
    if not batches:
        return _as_log(layout, ZSet(empty(layout.schema), np.zeros(0, np.int64)))
    return _as_log(layout, ZSet.sum(layout.schema, [batch.zset for batch in batches]))
