"""One task of a step: all operators of some levels, for one partition of the hash space.

The same function runs in a Spark task and in process. It reads the state it was given through mmap,
writes what it adds into segment files of its own, and returns references; nothing is true until the
driver has applied the results of *all* tasks. So a task can fail, be retried or run twice.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.operator import Context, delta_of
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.evaluation import Evaluation, table_delta
from dbsp.circuits.steps.exchange import receive, received_nodes, send
from dbsp.circuits.steps.memory import keep_freed_memory
from dbsp.circuits.steps.merging import shares
from dbsp.circuits.steps.state import TaskResult
from dbsp.circuits.steps.task import Input, Step, Task
from dbsp.circuits.steps.writing import Writing, as_log
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


def run_task(circuit: Circuit, task: Task, segments: Segments) -> TaskResult:
    """Run the task; see `TaskResult` for what it returns. Raises dbsp.circuits.errors.Error."""
    keep_freed_memory()
    return _Run(circuit, task, segments).run()


def run_step(
    circuit: Circuit, step: Step, inputs: Mapping[str, Sequence[Input]], segments: Segments
) -> list[TaskResult]:
    """A whole step in process: one task, or one a level and partition."""
    pieces, partitions = step.state.pieces, step.partitions
    if partitions == 1:
        levels = range(circuit.levels)
        task = Task(step=step, levels=levels, segment=step.segment, inputs=inputs, pieces=pieces)
        return [run_task(circuit, task, segments)]
    results: list[TaskResult] = []
    received: list[list[tuple[int, bytes]]] = [[] for _ in range(partitions)]
    merges = shares(circuit, pieces, partitions)
    for level in range(circuit.levels):
        sent: list[list[tuple[int, bytes]]] = [[] for _ in range(partitions)]
        for p in range(partitions):
            task = Task(
                step=step,
                levels=range(level, level + 1),
                segment=f"{step.segment}-{level}-{p}",
                partition=p,
                inputs={table: parts[p::partitions] for table, parts in inputs.items()} if level == 0 else {},
                received=received[p],
                pieces=merges[p] if level == 0 else (),
            )
            result = run_task(circuit, task, segments)
            for node, to, blob in result.sent:
                sent[to].append((node, blob))
            results.append(result)
        received = sent
    return results


class _Given:
    """What the nodes of a task read beside each other's values.

    It knows of none of these: in a circle with them they would be there until Python looks for circles, and a
    step's memory isn't used again at once.
    """

    def __init__(self, task: Task, segments: Segments, writing: Writing, result: TaskResult) -> None:
        self.task, self.segments, self.writing, self.result = task, segments, writing, result

    def source(self, source: Source) -> ZSet:
        parts = []
        for part in self.task.inputs.get(source.table, ()):
            opened = part.open(self.segments, source.given, f"the input of '{source.table}'")
            parts.append((part.ordinal, ZSet.from_batch(opened)))
        delta = table_delta(source, parts)
        self.result.rows_in[source.table] = self.result.rows_in.get(source.table, 0) + len(delta)
        return delta

    def before(self, i: int) -> tuple[SortedRun, ...]:
        """The live runs of node i's trace."""
        runs = self.task.step.state.spines[i].runs
        return tuple(sorted_run for run in runs for sorted_run in self.writing.open(i, run))


class _Run:
    """The evaluation of one task."""

    def __init__(self, circuit: Circuit, task: Task, segments: Segments) -> None:
        self.circuit, self.task = circuit, task
        self.step = step = task.step
        context = Context(
            circuit.seed,
            step.number,
            step.clock,
            owns_empty_key=task.partition == 0,
            waterlines=step.state.waterlines,
            recent=step.state.recent,
            ending=step.ending,
            advances=step.advances,
        )
        self.result = TaskResult(candidates=context.candidates, recent=context.risen, late=context.late)
        self.writing = Writing(circuit, task, segments, self.result)
        self.given = _Given(task, segments, self.writing, self.result)
        self.evaluation = Evaluation(circuit, context, self.given.source, self.given.before)
        self.values = self.evaluation.values

    def run(self) -> TaskResult:
        self._receive()
        for level in self.task.levels:
            began = time.perf_counter()
            self.evaluation.run(level)
            self._write(level)
            self.result.seconds[level] = time.perf_counter() - began
        level = self.task.levels.stop
        if 0 < level < self.circuit.levels:
            self.result.sent += send(
                self.circuit, self.values, level, self.task.partition, self.step.partitions
            )
        for piece in self.task.pieces:
            self.writing.merge(piece)
        if self.task.partition == 0 and 0 in self.task.levels:  # one task of the step decides for all
            self.writing.drop_unreachable()
        self.writing.close()
        self._count()
        return self.result

    def _count(self) -> None:
        """What each node put out, and took: once, where it was evaluated."""
        for i, value in self.values.items():
            if self.circuit.nodes[i].level in self.task.levels:
                self.result.put_out[i] = len(value.delta if isinstance(value, Integral) else value)
        self.result.spent |= self.evaluation.seconds

    def _receive(self) -> None:
        messages: dict[int, list[bytes]] = {}
        for i, message in self.task.received:
            messages.setdefault(i, []).append(message)
        for i in received_nodes(self.circuit, self.task.levels.start):
            before = self.given.before(i) if i in self.circuit.layouts else ()
            self.values[i] = receive(self.circuit, i, messages.get(i, []), before)

    def _write(self, level: int) -> None:
        """Add this level's deltas to traces, logs and the changes of views."""
        batches: dict[int, Batch] = {}
        for i in (*self.circuit.layouts, *self.circuit.logs):
            if self.circuit.nodes[i].level == level:
                value = self.values[i]
                is_trace = isinstance(value, Integral) and i in self.circuit.layouts
                batches[i] = value.delta if is_trace else as_log(delta_of(value))  # type: ignore[union-attr]
                self.writing.insert(i, batches[i])
        for output in self.circuit.outputs:
            if output.passed_on:
                if self.circuit.nodes[output.node].level == level:
                    self.writing.pass_on(output, delta_of(self.values[output.node]))
            elif output.changes in batches:
                self.writing.changes(output, batches[output.changes])
