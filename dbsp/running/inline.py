"""The runner without Spark: tasks one after the other in this process, and merges beside them."""

from __future__ import annotations

import logging
import os
from collections.abc import Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.state import TaskResult
from dbsp.circuits.steps.step import run_step, run_task
from dbsp.circuits.steps.task import Task
from dbsp.circuits.traces.spine import Piece
from dbsp.running.runner import Work
from dbsp.state.records.places import delete

log = logging.getLogger("dbsp")

# below, a file of its own costs more than the merge
_WORTH_A_THREAD = 1 << 14


@dataclass(frozen=True)
class _Merge:
    """A piece of a merge that was begun. name: what the names of its segments begin with."""

    future: Future[TaskResult]
    name: str


class InlineRunner:
    """Merges are done ahead, in a thread: they spend their time in NumPy, Arrow and the disk.

    When a piece of a merge is due is a matter of the state alone. Here it has mostly been done by then, and
    of each merge the next piece is begun. So a merge seldom keeps a step waiting. What was begun in vain,
    since the run that was to be merged has been collected, or merged elsewhere, is deleted. What a step has
    been given is the state's: steps that are kept may read it when the last one doesn't any more.
    """

    partitions = 1

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "dbsp-merge")
        self._begun: dict[Hashable, _Merge] = {}
        self._given: frozenset[Hashable] = frozenset()  # of what is begun, to the last step
        self._past: list[_Merge] = []
        self._segments: Segments | None = None  # in which the merges are

    def run(self, work: Work) -> list[TaskResult]:
        if work.scanned is not None:
            return run_step(work.circuit, work.step, work.inputs, work.segments)
        due = [piece for piece in work.step.state.pieces if _is_large(piece)]
        ahead = [piece for piece in work.step.state.ahead() if _is_large(piece)]
        self._segments = work.segments
        self._put_aside({_key(piece): self._merge(work, piece) for piece in (*due, *ahead)})
        self._tidy(work.segments)
        small = tuple(piece for piece in work.step.state.pieces if not _is_large(piece))
        step = replace(work.step, state=replace(work.step.state, pieces=small))
        results = run_step(work.circuit, step, work.inputs, work.segments)
        results += [self._merged(piece) for piece in due]
        self._given = frozenset(map(_key, due))
        return results

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)
        self._put_aside({})
        if self._segments is not None:
            self._tidy(self._segments)

    def _put_aside(self, begun: dict[Hashable, _Merge]) -> None:
        """These are what is begun now: of the others, what no step was given is past."""
        before, self._begun = self._begun, begun
        left = [(key, merge) for key, merge in before.items() if begun.get(key) is not merge]
        self._past += [merge for key, merge in left if key not in self._given]

    def _tidy(self, segments: Segments) -> None:
        """Delete what was begun in vain, once it has ended."""
        ended = [merge for merge in self._past if merge.future.cancel() or merge.future.done()]
        if not ended:
            return
        self._past = [merge for merge in self._past if merge not in ended]
        names = tuple(merge.name for merge in ended)
        try:
            vain = {entry.name for entry in os.scandir(segments.root) if entry.name.startswith(names)}
            segments.forget(vain)
            if segments.origin is not None:
                segments.origin.delete(vain)
        except OSError as error:
            self._past += ended
            log.warning("%s: can't be swept (%s); tried again later", segments.place, error)
            return
        for name in vain:
            delete(Path(segments.root) / name)

    def _merge(self, work: Work, piece: Piece) -> _Merge:
        """The piece's task: begun earlier, or now."""
        begun = self._begun.get(_key(piece))
        if begun is not None and not (begun.future.done() and begun.future.exception()):
            return begun
        # no attempt at a step owns the file, and none tells its clock: if this one fails, the piece is still
        # good for the next, whose clock may be an earlier one
        name = f"merge-{uuid4().hex}"
        step = replace(work.step, clock=None, partitions=1)
        task = Task(step=step, levels=range(0), segment=name, pieces=(piece,))
        return _Merge(self._thread.submit(_run_whole, work.circuit, task, work.segments), name)

    def _merged(self, piece: Piece) -> TaskResult:
        result = self._begun[_key(piece)].future.result()
        # merges that ended since it began may have changed its place among them
        return replace(result, merged=[(piece, chunk) for _, chunk in result.merged])


def _run_whole(circuit: Circuit, task: Task, segments: Segments) -> TaskResult:
    """run_task, and what it wrote is where the state is: a step that is tried again takes what has ended."""
    result = run_task(circuit, task, segments)
    segments.settle(frozenset(result.segments))
    return result


def _is_large(piece: Piece) -> bool:
    return sum(chunk.rows for chunk in piece.chunks) >= _WORTH_A_THREAD


def _key(piece: Piece) -> tuple[int, tuple[Chunk, ...], int]:
    return piece.node, piece.chunks, piece.low
