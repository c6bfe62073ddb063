"""Spines: which batches of a trace are live, and which of them are to be merged.

A spine is a value: a set of *runs*. A run is one sorted batch, stored as chunks that cover ascending,
disjoint ranges of the sort key (several tasks, or several pieces of a merge, wrote them).

    invariant: fewer than f runs of one size class that aren't being merged;  class(r) = ⌊log_f(r / SMALL)⌋
    f = FAN_IN; 2 · FAN_IN where a stored row takes more than WIDE bytes

Runs of fewer than SMALL rows are absorbed: the next batch is merged with them before it is written.
f runs of a class become one *merge*, done in pieces (ranges of the sort key) so that a step merges
about CREDIT rows for each row it inserted, and never more than 1/PIECES of a large merge at once. A piece is
of about PIECE rows, or PIECE_BYTES where rows are wide: merges of several traces begin with the same step. A
merge of S rows lasts S/CREDIT inserted rows, and where steps are alike the next one of its class is not due
before S (else it waits): so CREDIT is as small as leaves a margin, and each step's share of merges is about
the same.
A larger f copies a row less often and has a lookup go through more runs: what a copy costs follows from the
row's width, what a lookup costs doesn't.
So a row is merged O(log n) times, a trace of n rows has O(log n) runs, and a merge never blocks a step.
The order of merging can't change any result: addition of Z-sets is associative and commutative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from dbsp.circuits.segments.chunk import Chunk

SMALL = 2048
FAN_IN = 4
WIDE = 96
CREDIT = 1.25
PIECE = 1 << 17
PIECE_BYTES = 1 << 23
PIECES = 64
# logs are only concatenated, so beyond so many rows a merge buys nothing
LOG_LIMIT = 1 << 18
# and in one piece, so that a step may wait for all of it: of so many bytes at most
LOG_BYTES = 1 << 25

END = 1 << 64


@dataclass(frozen=True, slots=True)
class Run:
    """id: unique within the spine."""

    id: int
    chunks: tuple[Chunk, ...]

    @property
    def rows(self) -> int:
        if len(self.chunks) == 1:  # of small steps, which ask often
            return self.chunks[0].rows
        return sum(chunk.rows for chunk in self.chunks)

    @property
    def bytes(self) -> int:
        return sum(chunk.length for chunk in self.chunks)


@dataclass(frozen=True, slots=True)
class Merge:
    """inputs: run ids. pieces: how many there are; done: of those that are done, in order, the chunks.

    A piece has no chunk where no row is left, and several where several tasks did it, or its text is long.
    """

    inputs: tuple[int, ...]
    pieces: int
    done: tuple[tuple[Chunk, ...], ...] = ()
    credit: int = 0

    def low(self, piece: int) -> int:
        """The least sort key of a piece."""
        return END * piece // self.pieces

    def piece_of(self, low: int) -> int:
        """The piece that a sort key is in."""
        return (low * self.pieces + self.pieces - 1) // END


@dataclass(frozen=True, slots=True)
class Piece:
    """One unit of merge work: the rows of `chunks` with low <= key < high, as one batch."""

    node: int
    merge: int
    chunks: tuple[Chunk, ...]
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Spine:
    runs: tuple[Run, ...] = ()
    merges: tuple[Merge, ...] = ()
    next_id: int = 0

    @property
    def rows(self) -> int:
        """Rows stored, of which some may cancel when they are merged."""
        return sum(run.rows for run in self.runs)

    @property
    def live(self) -> list[Chunk]:
        """The chunks whose sum it is."""
        return [chunk for run in self.runs for chunk in run.chunks]

    def chunks(self) -> list[Chunk]:
        """Every chunk the spine needs, those of unfinished merges included."""
        return self.live + [chunk for merge in self.merges for piece in merge.done for chunk in piece]

    def absorbable(self, small: int) -> tuple[Run, ...]:
        """The runs to merge into the next batch."""
        merging = self._merging()
        return tuple(run for run in self.runs if run.id not in merging and run.rows < small)

    def insert(self, chunks: list[Chunk], absorbed: tuple[Run, ...]) -> Spine:
        """The spine with a new run in place of the absorbed ones."""
        gone = {run.id for run in absorbed}
        runs = tuple(run for run in self.runs if run.id not in gone)
        if not any(chunk.rows for chunk in chunks):
            return Spine(runs, self.merges, self.next_id) if gone else self
        ordered = tuple(sorted((chunk for chunk in chunks if chunk.rows), key=lambda chunk: chunk.low))
        return Spine((*runs, Run(self.next_id, ordered)), self.merges, self.next_id + 1)

    def without(self, gone: set[int]) -> Spine:
        """The spine less the runs with these ids; a run that is being merged stays until it has been."""
        merging = self._merging()
        if not gone - merging:
            return self
        return replace(self, runs=tuple(r for r in self.runs if r.id not in gone or r.id in merging))

    def finish(self, merge_at: int, pieces: Sequence[tuple[Chunk, ...]]) -> Spine:
        """The spine after the next pieces of a merge; with the last one the inputs are replaced."""
        merge = self.merges[merge_at]
        done = (*merge.done, *pieces)
        others = self.merges[:merge_at] + self.merges[merge_at + 1 :]
        if len(done) < merge.pieces:
            return replace(
                self,
                merges=(*self.merges[:merge_at], replace(merge, done=done), *self.merges[merge_at + 1 :]),
            )
        left = tuple(run for run in self.runs if run.id not in merge.inputs)
        merged = Spine(left, others, self.next_id)
        return merged.insert([chunk for piece in done for chunk in piece], ())

    def schedule(self, inserted: int, small: int, is_log: bool) -> Spine:
        """Start the merges that are due, and credit the running ones with the rows inserted."""
        if not self.merges and len(self.runs) < FAN_IN:
            return self
        merging = self._merging()
        classes: dict[int, list[Run]] = {}
        fan_in = self._fan_in()
        for run in self.runs:
            if run.id not in merging and not (is_log and _is_whole(run)):
                classes.setdefault(_size_class(run.rows, small, fan_in), []).append(run)
        merges = list(self.merges)
        for alike in classes.values():
            if len(alike) >= fan_in:
                runs = _in_one_piece(alike) if is_log else alike
                rows, size = sum(run.rows for run in runs), sum(run.bytes for run in runs)
                pieces = 1 if is_log else min(PIECES, max(1, rows // PIECE, size // PIECE_BYTES))
                merges.append(Merge(tuple(run.id for run in runs), pieces))
        if not merges:
            return self
        credited = tuple(replace(m, credit=m.credit + int(CREDIT * inserted) + SMALL) for m in merges)
        return replace(self, merges=credited)

    def due(self, node: int) -> tuple[Spine, list[Piece]]:
        """The pieces whose credit has been earned, and the spine with that credit spent."""
        pieces: list[Piece] = []
        merges = list(self.merges)
        for at, merge in enumerate(self.merges):
            cost = max(1, sum(run.rows for run in self._inputs(merge)) // merge.pieces)
            count = min(merge.credit // cost, merge.pieces - len(merge.done))
            merges[at] = replace(merge, credit=merge.credit - count * cost)
            pieces += [self._piece(node, at, i) for i in range(len(merge.done), len(merge.done) + count)]
        return replace(self, merges=tuple(merges)), pieces

    def ahead(self, node: int, due: Sequence[Piece]) -> list[Piece]:
        """The piece of each merge that comes after those due: what can be done before it is."""
        pieces = []
        for at, merge in enumerate(self.merges):
            next_ = len(merge.done) + sum(piece.node == node and piece.merge == at for piece in due)
            if next_ < merge.pieces:
                pieces.append(self._piece(node, at, next_))
        return pieces

    def _fan_in(self) -> int:
        """How many runs of a size class become one: of wide rows, which are dear to copy, twice as many."""
        stored = sum(chunk.length for chunk in self.live)
        return 2 * FAN_IN if stored > WIDE * self.rows else FAN_IN

    def _piece(self, node: int, at: int, i: int) -> Piece:
        """Piece i of merge `at`."""
        merge = self.merges[at]
        low, high = merge.low(i), merge.low(i + 1)
        chunks = [c for run in self._inputs(merge) for c in run.chunks if c.low < high and c.high >= low]
        return Piece(node, at, tuple(chunks), low, high)

    def _inputs(self, merge: Merge) -> list[Run]:
        return [run for run in self.runs if run.id in merge.inputs]

    def _merging(self) -> set[int]:
        return {run for merge in self.merges for run in merge.inputs} if self.merges else set()

    def to_json(self) -> dict[str, object]:
        runs = [[run.id, [chunk.to_json() for chunk in run.chunks]] for run in self.runs]
        merges = [
            [list(m.inputs), m.pieces, [_done_to_json(chunks) for chunks in m.done], m.credit]
            for m in self.merges
        ]
        return {"runs": runs, "merges": merges, "next": self.next_id}

    @staticmethod
    def from_json(value: dict[str, list]) -> Spine:  # type: ignore[type-arg]
        runs = tuple(Run(i, tuple(Chunk.from_json(c) for c in chunks)) for i, chunks in value["runs"])
        merges = tuple(
            Merge(tuple(inputs), pieces, tuple(map(_done_from_json, done)), credit)
            for inputs, pieces, done, credit in value["merges"]
        )
        return Spine(runs, merges, value["next"])  # type: ignore[arg-type]


def _done_to_json(chunks: tuple[Chunk, ...]) -> object:
    """None; a chunk; or several."""
    if len(chunks) < 2:
        return chunks[0].to_json() if chunks else None
    return [chunk.to_json() for chunk in chunks]


def _done_from_json(value: list[Any] | None) -> tuple[Chunk, ...]:
    if not value:
        return ()
    return tuple(map(Chunk.from_json, value if isinstance(value[0], list) else [value]))


def _is_whole(run: Run) -> bool:
    """Whether a log's run stays as it is. Two that don't fit into one piece."""
    return run.rows >= LOG_LIMIT or 2 * run.bytes >= LOG_BYTES


def _in_one_piece(runs: list[Run]) -> list[Run]:
    """The first of a log's runs, as many as one piece may have: two or more. Their next ones' turn comes with
    the next run.
    """
    ends = accumulate(run.bytes for run in runs)
    return [run for run, end in zip(runs, ends, strict=True) if end <= LOG_BYTES]


def _size_class(rows: int, small: int, fan_in: int) -> int:
    size, edge = 0, max(small, 1) * fan_in
    while rows >= edge:
        size, edge = size + 1, edge * fan_in
    return size
