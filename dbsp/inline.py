"""The runner without Spark: tasks one after the other in this process, and merges beside them."""

from __future__ import annotations

from collections.abc import Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

from circuits.segments import Chunk
from circuits.spine import Piece
from circuits.state import TaskResult
from circuits.step import run_step, run_task
from circuits.task import Task
from dbsp.runner import Work

# below, a file of its own costs more than the merge
_WORTH_A_THREAD = 1 << 14


class InlineRunner:
    """Merges are done ahead, in a thread: they spend their time in NumPy, Arrow and the disk.

    When a piece of a merge is due is a matter of the state alone. Here it has mostly been done by then, and
    of each merge the next piece is begun. So a merge seldom keeps a step waiting.
    """

    partitions = 1

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "dbsp-merge")
        self._begun: dict[Hashable, Future[TaskResult]] = {}

    def run(self, work: Work) -> list[TaskResult]:
        due = [piece for piece in work.state.pieces if _is_large(piece)]
        ahead = [piece for piece in work.state.ahead() if _is_large(piece)]
        self._begun = {_key(piece): self._merge(work, piece) for piece in (*due, *ahead)}
        small = tuple(piece for piece in work.state.pieces if not _is_large(piece))
        results = run_step(
            work.circuit,
            replace(work.state, pieces=small),
            work.inputs,
            work.segments,
            work.step,
            work.segment,
            work.partitions,
            work.clock,
            work.durable,
            work.ending,
        )
        return results + [self._merged(piece) for piece in due]

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)

    def _merge(self, work: Work, piece: Piece) -> Future[TaskResult]:
        """The piece's task: begun earlier, or now."""
        begun = self._begun.get(_key(piece))
        if begun is not None and not (begun.done() and begun.exception()):
            return begun
        # no attempt at a step owns the file, and none tells its clock: if this one fails, the piece is still
        # good for the next, whose clock may be an earlier one
        name = f"merge-{uuid4().hex}"
        task = Task(work.step, None, range(0), 0, 1, work.state, name, pieces=(piece,), durable=work.durable)
        return self._thread.submit(run_task, work.circuit, task, work.segments)

    def _merged(self, piece: Piece) -> TaskResult:
        result = self._begun[_key(piece)].result()
        ((_, chunk),) = result.merged
        # merges that ended since it began may have changed its place among them
        return replace(result, merged=[(piece, chunk)])


def _is_large(piece: Piece) -> bool:
    return sum(chunk.rows for chunk in piece.chunks) >= _WORTH_A_THREAD


def _key(piece: Piece) -> tuple[int, tuple[Chunk, ...], int]:
    return piece.node, piece.chunks, piece.low
