"""Spines: merging loses nothing, keeps the runs few, and never does much at once."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.segments import Chunk
from dbsp.circuits.traces.spine import FAN_IN, PIECE, PIECES, SMALL, Piece, Spine


class Log:
    """What chunks stand for: each chunk is a set of rows."""

    def __init__(self) -> None:
        self.rows: dict[str, frozenset[int]] = {}

    def chunk(self, rows: frozenset[int], low: int = 0, high: int = (1 << 64) - 1) -> Chunk:
        name = f"s{len(self.rows)}"
        self.rows[name] = rows
        return Chunk(name, 0, 8 * len(rows), len(rows), low, high)

    def of(self, spine: Spine) -> list[int]:
        return sorted(row for run in spine.runs for chunk in run.chunks for row in self.rows[chunk.segment])


def key_of(row: int) -> int:
    """Rows spread over all sort keys."""
    return row * 0x9E3779B97F4A7C15 % (1 << 64)


class Driven:
    """A spine under insertions, as a state drives it; `worked` is the rows merged in each step."""

    def __init__(self, small: int) -> None:
        self.log, self.spine, self.small = Log(), Spine(), small
        self.pieces: list[Piece] = []
        self.inserted: list[int] = []
        self.worked: list[int] = []

    def insert(self, count: int) -> None:
        new = frozenset(range(len(self.inserted), len(self.inserted) + count))
        self.inserted += sorted(new)
        done = [self.merge(piece) for piece in self.pieces]
        self.worked.append(sum(chunk.rows for chunk in done if chunk))
        before = self.spine
        for merge in sorted({piece.merge for piece in self.pieces}, reverse=True):
            chunks = [c for p, c in zip(self.pieces, done, strict=True) if p.merge == merge]
            self.spine = self.spine.finish(merge, chunks)
        if count:
            absorbed = before.absorbable(self.small)
            rows = new.union(*(self.log.rows[c.segment] for run in absorbed for c in run.chunks))
            self.spine = self.spine.insert([self.log.chunk(rows)], absorbed)
        self.spine = self.spine.schedule(count, self.small, False)
        self.spine, self.pieces = self.spine.due(0)

    def merge(self, piece: Piece) -> Chunk | None:
        rows = frozenset(
            row
            for chunk in piece.chunks
            for row in self.log.rows[chunk.segment]
            if piece.low <= key_of(row) < piece.high
        )
        keys = [key_of(row) for row in rows]
        return self.log.chunk(rows, min(keys), max(keys)) if rows else None


@given(st.lists(st.integers(0, 40), max_size=60), st.sampled_from([0, 1, 8, 1 << 62]))
def test_every_row_is_there_once(counts: list[int], small: int) -> None:
    driven = Driven(small)
    for count in counts:
        driven.insert(count)
        assert driven.log.of(driven.spine) == driven.inserted
        assert driven.spine.rows == len(driven.inserted)
        saved = json.loads(json.dumps(driven.spine.to_json()))
        assert Spine.from_json(saved) == driven.spine


@given(st.lists(st.integers(1, 40), max_size=60))
def test_absorbing_everything_leaves_one_run(counts: list[int]) -> None:
    driven = Driven(1 << 62)
    for count in counts:
        driven.insert(count)
        assert len(driven.spine.runs) == 1


@pytest.mark.slow
def test_runs_stay_logarithmic_and_merges_bounded() -> None:
    driven = Driven(SMALL)
    steps, size = 600, 2 * SMALL
    for _ in range(steps):
        driven.insert(size)
        assert len(driven.spine.runs) <= 8 * FAN_IN
    total = steps * size
    # every row is merged once a size class, and there are log₄(total / SMALL) of them
    assert sum(driven.worked) <= 7 * total
    assert max(driven.worked) <= max(total // PIECES, PIECE) + 8 * 3 * size


def test_a_piece_needs_only_the_chunks_of_its_range() -> None:
    log = Log()
    spine = Spine()
    half = 1 << 63
    for _ in range(FAN_IN):
        chunks = [log.chunk(frozenset(), 0, half - 1), log.chunk(frozenset(), half, 2 * half - 1)]
        chunks = [Chunk(c.segment, 0, 0, PIECE, c.low, c.high) for c in chunks]
        spine = spine.insert(chunks, ())
    spine = spine.schedule(1 << 40, SMALL, False)
    _, pieces = spine.due(3)
    assert pieces and all(piece.node == 3 for piece in pieces)
    for piece in pieces:
        assert len(piece.chunks) == FAN_IN
        assert all(chunk.low < piece.high and chunk.high >= piece.low for chunk in piece.chunks)


@pytest.mark.parametrize("small", [0, SMALL])
def test_empty_deltas_add_no_runs(small: int) -> None:
    driven = Driven(small)
    driven.insert(3)
    runs = driven.spine.runs
    for _ in range(50):
        driven.insert(0)
    assert driven.spine.runs == runs


@given(st.lists(st.integers(0, 2 * FAN_IN * SMALL), min_size=20, max_size=60))
def test_the_piece_ahead_is_the_next_one_due(counts: list[int]) -> None:
    driven = Driven(SMALL)
    begun: dict[tuple[Chunk, ...], Piece] = {}
    for count in counts:
        driven.insert(count)
        for piece in driven.pieces:
            first = begun.pop(piece.chunks, piece)
            assert (first.low, first.high) == (piece.low, piece.high)
        begun = {piece.chunks: piece for piece in driven.spine.ahead(0, driven.pieces)}
