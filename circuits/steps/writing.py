"""What a task adds to the state: batches of traces and logs, changes of views, pieces of merges.

All of it goes into segments of the task's own. Small runs are merged into what is written; rows that no
future input can reach are left out.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from dbsp.circuits.circuit import Circuit, Output
from dbsp.circuits.progress.limits import out_of_reach, tops, unreachable, waterline_row
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.segments.writing import SegmentWriter
from dbsp.circuits.steps.contents import AS_WRITTEN, open_chunk
from dbsp.circuits.steps.state import TaskResult
from dbsp.circuits.steps.task import Task
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.narrow.merging import appended, merge, parts, to_narrow
from dbsp.circuits.traces.sorted_run import SortedRun, batches_of, sorted_runs
from dbsp.circuits.traces.spine import END, SMALL, Piece, Run
from dbsp.circuits.traces.zset import ZSet

# a chunk of so many bytes isn't put beside as many others: its file goes when it does, and not with the last
# of them. It takes a sync more.
_LARGE = 1 << 20


class Writing:
    """Writes for one task, and notes in its result what it wrote."""

    def __init__(self, circuit: Circuit, task: Task, segments: Segments, result: TaskResult) -> None:
        self.circuit, self.task, self.step = circuit, task, task.step
        self.segments, self.result = segments, result
        # logs live as long as their view, trace batches until the next merge: different files, except for
        # the few rows of a small step, which are soon merged into others wherever they lie
        self._traces, self._views = self._file("trace"), self._file("view")
        self._large: list[SegmentWriter] = []

    def close(self) -> None:
        """Make the segments visible."""
        for writer in (self._traces, self._views, *self._large):
            writer.close()

    def _file(self, name: str) -> SegmentWriter:
        return self.segments.writer(f"{self.task.segment}.{name}", self.step.durable)

    def insert(self, i: int, delta: Batch) -> None:
        """Add a step's batch to the trace or log of node i, together with its small runs."""
        self.result.inserted[i] = len(delta)
        absorbed = self.step.state.spines[i].absorbable(self.step.state.small)
        # tasks of one step agree: several of them always absorb, one alone only if it has something to add
        if len(delta) or (absorbed and self.step.partitions > 1):
            batches = [batch for run in absorbed for batch in batches_of(self.open(i, run))]
            self.result.absorbed.add(i)
            self.result.written[i] = self._store(i, self._merged(i, [*batches, delta]))
            for run in absorbed:
                self.segments.kept.let_go(run.chunks, self._bounds_of(i))

    def changes(self, output: Output, delta: Batch) -> None:
        """Record the delta of a view; where it was just written as it is, by reference."""
        if not len(delta):
            return
        i = output.changes
        written = self.result.written.get(i)
        if written is None or written.rows != len(delta) or self._absorbs(i) or i in self.result.collected:
            written = self._write(i, delta, lasting=True)
        self.result.changes[output.view] = written

    def pass_on(self, output: Output, delta: ZSet) -> None:
        """Write a delta as a table's is given."""
        if len(delta):
            self.result.changes[output.view] = self._views.write(delta.to_batch())

    def merge(self, piece: Piece) -> None:
        """Do one piece of a merge."""
        batches = [open_chunk(self.circuit, piece.node, chunk, self.segments) for chunk in piece.chunks]
        if piece.node not in self.circuit.logs:
            batches = [batch.between(piece.low, piece.high) for batch in batches]
        for part in parts(self._merged(piece.node, batches)):
            self.result.merged.append((piece, self._store(piece.node, part, piece.low)))

    def drop_unreachable(self) -> None:
        """Find the runs that go unread, since no future input can reach any of their rows."""
        for i, retention in self.circuit.retentions.items():
            spine = self.step.state.spines[i]
            absorbed = {run.id for run in spine.absorbable(self.step.state.small)}
            runs = {
                run.id: run.rows
                for run in spine.runs
                if run.id not in absorbed and unreachable(retention, self._bounds[i], run)
            }
            if runs:
                self.result.unreachable[i] = set(runs)
                self._count_collected(i, sum(runs.values()))

    def open(self, i: int, run: Run) -> tuple[SortedRun, ...]:
        """A run's batches, cut to the task's partition; kept from one step to the next."""
        low, high = self._bounds_of(i)
        return self.segments.kept.get(run.chunks, (low, high), lambda: self._sorted_runs(i, run, low, high))

    def _sorted_runs(self, i: int, run: Run, low: int, high: int) -> tuple[SortedRun, ...]:
        layout = self.circuit.stored(i)
        # a slot of a timeline is finer than a partition, so a sort key alone doesn't say whose a row is
        slack = (1 << 56) - 1 if layout.timeline else 0
        batches = []
        for chunk in run.chunks:
            if chunk.low < high + slack and chunk.high >= low - slack:
                batch = open_chunk(self.circuit, i, chunk, self.segments)
                inside = low <= chunk.low and chunk.high < high and not slack
                batches += [batch] if inside else batch.of_partition(layout, low, high, self.circuit.seed)
        return tuple(sorted_runs(batches))

    def _bounds_of(self, i: int) -> tuple[int, int]:
        """The sort keys of a trace that are the task's: low <= key < high."""
        if i in self.circuit.gathered:
            return (0, END) if self.task.partition == 0 else (0, 0)
        return self.task.bounds

    def _absorbs(self, i: int) -> bool:
        return bool(self.step.state.spines[i].absorbable(self.step.state.small))

    def _merged(self, i: int, batches: list[Batch]) -> Batch:
        layout = self.circuit.stored(i)
        if i in self.circuit.logs:
            return appended(layout, batches)
        return self._collect(i, merge(layout, batches))

    def _store(self, i: int, batch: Batch, of_log: int | None = None) -> Chunk | None:
        return self._write(i, batch, i in self.circuit.logs, of_log) if len(batch) else None

    def _write(self, i: int, batch: Batch, lasting: bool, of_log: int | None = None) -> Chunk:
        """of_log: where a log's chunk is; None: where the task's partition begins."""
        layout: Layout = self.circuit.stored(i)
        retention = self.circuit.retentions.get(i)
        greatest = tops(retention, batch.rows_of(retention.read)) if retention is not None else ()
        # the next step looks small runs up and merges them: what they cost is calls, and not bytes
        is_narrow = len(batch) >= self.step.state.small
        stored = to_narrow(batch, layout) if is_narrow else batch.to_stored(layout)
        low, high = int(batch.keys[0]), int(batch.keys[-1])
        if i in self.circuit.logs:
            low = high = self.task.bounds[0] if of_log is None else of_log
        writer = self._views if lasting and len(batch) >= SMALL else self._traces
        if writer.size >= _LARGE and is_narrow and stored.nbytes >= _LARGE:
            writer = self._file(f"{len(self._large)}.large")
            self._large.append(writer)
        chunk = writer.write(stored, low, high, greatest, described=is_narrow)
        if len(batch) < SMALL and not is_narrow and self.step.partitions == 1:
            # the next step reads a trace's, and who made the step its changes
            own = Batch.from_stored(stored, layout)
            if i not in self.circuit.logs:
                self.segments.kept.put([chunk], self._bounds_of(i), (SortedRun([own]),))
            # a log's rows may be slices, that keep more of memory than they are
            if i in self._left and stored.get_total_buffer_size() < 2 * chunk.length:
                self.segments.kept.put([chunk], AS_WRITTEN, own)
        return chunk

    @cached_property
    def _left(self) -> frozenset[int]:
        """The nodes whose batches are views' changes."""
        return frozenset(output.changes for output in self.circuit.outputs)

    @cached_property
    def _bounds(self) -> dict[int, list[pa.Scalar | None]]:
        """Per collected trace, the bound of each limit: by the waterlines as of the step before."""
        row = waterline_row(self.circuit.lateness, self.step.state.waterlines)
        return {i: [limit.bound(row) for limit in r.limits] for i, r in self.circuit.retentions.items()}

    def _collect(self, i: int, batch: Batch) -> Batch:
        """The batch without the rows that no future input can reach."""
        retention = self.circuit.retentions.get(i)
        if retention is None or not len(batch) or all(bound is None for bound in self._bounds[i]):
            return batch
        gone = out_of_reach(retention, self._bounds[i], batch.rows_of(retention.read))
        if not gone.any():
            return batch
        kept = np.flatnonzero(~gone)
        self._count_collected(i, len(batch) - len(kept))
        return batch.take(kept)

    def _count_collected(self, i: int, rows: int) -> None:
        self.result.collected[i] = self.result.collected.get(i, 0) + rows


def as_log(delta: ZSet) -> Batch:
    """Rows in arrival order: a log has no sort key."""
    return Batch(np.zeros(len(delta), np.uint64), delta.rows, delta.weights)
