"""Spines: merging loses nothing, keeps the runs few, and never does much at once."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.traces.spine import (
    CREDIT,
    END,
    FAN_IN,
    LOG_BYTES,
    LOG_LIMIT,
    PIECE,
    PIECE_BYTES,
    PIECES,
    SMALL,
    WIDE,
    Merge,
    Piece,
    Run,
    Spine,
)


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
            chunks = [(c,) if c else () for p, c in zip(self.pieces, done, strict=True) if p.merge == merge]
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
    # pieces of two merges come due at once, now and then
    assert max(driven.worked) <= 2 * max(total // PIECES, PIECE) + 8 * 3 * size


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


def whole(name: str, rows: int, low: int, high: int) -> Chunk:
    return Chunk(name, 0, 8 * rows, rows, low, high)


def merging(*chunks: Chunk, pieces: int = 2) -> Spine:
    """One run of these chunks, being merged in pieces that are all due."""
    return Spine((Run(0, chunks),), (Merge((0,), pieces, credit=1 << 40),), 1)


def test_a_chunk_that_ends_where_a_piece_begins_belongs_to_both() -> None:
    half = 1 << 63
    ends, opens = whole("ends", 3, 0, half), whole("opens", 3, half, half + 9)
    _, (first, second) = merging(ends, opens).due(0)
    assert (first.low, first.high, second.low, second.high) == (0, half, half, 1 << 64)
    assert first.chunks == (ends,)  # a piece ends before its high
    assert second.chunks == (ends, opens)
    below = whole("below", 3, 0, half - 1)
    _, (first, second) = merging(below, opens).due(0)
    assert (first.chunks, second.chunks) == ((below,), (opens,))


def test_credit_is_spent_on_the_pieces_that_are_due() -> None:
    run = Run(0, (whole("a", 40, 0, END - 1),))
    spine, pieces = Spine((run,), (Merge((0,), 4, credit=25),), 1).due(5)
    assert [(piece.node, piece.merge, piece.low) for piece in pieces] == [(5, 0, 0), (5, 0, END // 4)]
    assert spine.merges[0].credit == 5
    one = Spine((Run(0, (whole("a", 1, 0, END - 1),)),), (Merge((0,), 4, credit=2),), 1)
    assert len(one.due(5)[1]) == 2  # a piece costs a row at least
    done = Spine((run,), (Merge((0,), 4, ((), (), ()), 1000),), 1)
    assert [piece.low for piece in done.due(5)[1]] == [END * 3 // 4]
    assert [piece.low for piece in done.ahead(5, [])] == [END * 3 // 4]
    assert done.ahead(5, done.due(5)[1]) == []
    # a piece of another node's, or of another merge, isn't one of this merge
    assert done.ahead(6, done.due(5)[1]) != []
    assert done.ahead(5, [Piece(5, 1, (), 0, END)]) != []


def test_a_merge_replaces_its_runs_when_its_last_piece_is_done() -> None:
    a, b, c = whole("a", 4, 0, 9), whole("b", 2, 0, 4), whole("c", 2, 5, 9)
    other = Run(1, (whole("other", 1, 0, 0),))
    begun = Spine((Run(0, (a,)), other), (Merge((0,), 2),), 2)
    half = begun.finish(0, [(b,)])
    assert (half.runs, half.merges[0].done) == (begun.runs, ((b,),))
    assert half.chunks() == [a, *other.chunks, b]
    assert Spine.from_json(json.loads(json.dumps(half.to_json()))) == half
    for done in ((), (b, c)):
        some = begun.finish(0, [done])
        assert Spine.from_json(json.loads(json.dumps(some.to_json()))) == some
    assert half.finish(0, [(c,)]) == Spine((other, Run(2, (b, c))), (), 3)
    two = Spine(begun.runs, (*begun.merges, Merge((1,), 2), Merge((7,), 3)), 2)
    assert [m.done for m in two.finish(1, [(b,)]).merges] == [(), ((b,),), ()]
    assert [m.done for m in two.finish(0, [(b,)]).merges] == [((b,),), (), ()]
    assert [m.inputs for m in two.finish(0, [(b,), (c,)]).merges] == [(1,), (7,)]
    assert [m.inputs for m in two.finish(1, [(b,), (c,)]).merges] == [(0,), (7,)]


def test_runs_that_are_merged_stay_and_small_ones_are_absorbed() -> None:
    runs = tuple(Run(i, (whole(f"{i}", rows, 0, 9),)) for i, rows in enumerate([3, 4, 5]))
    spine = Spine(runs, (Merge((0,), 1),), 3)
    assert spine.absorbable(5) == (runs[1],)
    assert spine.without({0}) is spine
    assert spine.without({0, 1}).runs == (runs[0], runs[2])
    assert spine.insert([], (runs[1],)).runs == (runs[0], runs[2])
    assert spine.insert([], ()) is spine
    assert spine.insert([whole("x", 1, 0, 0)], ()).runs[-1].id == 3
    assert spine.insert([whole("x", 1, 0, 0)], ()).next_id == 4


@pytest.mark.parametrize(
    ("rows", "classes"), [((63, 63, 63, 64), 2), ((16, 32, 48, 63), 1), ((15, 16, 16, 16), 2)]
)
def test_runs_of_one_class_are_merged(rows: tuple[int, ...], classes: int) -> None:
    """Class c holds 4ᶜ·small ≤ rows < 4ᶜ⁺¹·small, all below the first."""
    runs = tuple(Run(i, (whole(f"{i}", count, 0, 9),)) for i, count in enumerate(rows))
    merges = Spine(runs, (), FAN_IN).schedule(7, 4, False).merges
    assert merges == ((Merge((0, 1, 2, 3), 1, credit=int(CREDIT * 7) + SMALL),) if classes == 1 else ())


@pytest.mark.parametrize(("rows", "merges"), [((1, 2, 3, 3), 1), ((3, 3, 3, 4), 0), ((4, 7, 15, 15), 1)])
def test_runs_have_classes_where_none_is_small(rows: tuple[int, ...], merges: int) -> None:
    runs = tuple(Run(i, (whole(f"{i}", count, 0, 9),)) for i, count in enumerate(rows))
    assert len(Spine(runs, (), FAN_IN).schedule(0, 0, False).merges) == merges


@pytest.mark.parametrize(
    ("width", "count", "merges"), [(1, 4, 1), (WIDE, 4, 1), (WIDE + 1, 7, 0), (WIDE + 1, 8, 1)]
)
def test_wide_rows_are_copied_less_often(width: int, count: int, merges: int) -> None:
    """Eight runs of 10 rows are of one class of 8·4 rows; so are four, of a class of 4·4."""
    runs = tuple(Run(i, (Chunk(f"{i}", 0, 10 * width, 10, 0, 9),)) for i in range(count))
    assert len(Spine(runs, (), count).schedule(0, 4, False).merges) == merges


@pytest.mark.parametrize("width", [WIDE, 10 * WIDE])
def test_pieces_of_wide_rows_have_fewer(width: int) -> None:
    """What a step writes of a merge is bounded in bytes, however few rows they are."""
    rows = PIECE // 16
    runs = tuple(Run(i, (Chunk(f"{i}", 0, rows * width, rows, 0, 9),)) for i in range(2 * FAN_IN))
    (merge,) = Spine(runs, (), 2 * FAN_IN).schedule(0, SMALL, False).merges
    assert merge.pieces == max(1, 2 * FAN_IN * rows * width // PIECE_BYTES)


def test_large_merges_are_in_pieces_and_long_logs_are_left() -> None:
    def of(rows: int, is_log: bool) -> tuple[Merge, ...]:
        runs = tuple(Run(i, (whole(f"{i}", rows, 0, 9),)) for i in range(FAN_IN))
        return Spine(runs, (), FAN_IN).schedule(0, SMALL, is_log).merges

    assert [merge.pieces for merge in of(PIECE, False)] == [FAN_IN]
    assert [merge.pieces for merge in of(100 * PIECE, False)] == [PIECES]
    assert [merge.pieces for merge in of(LOG_LIMIT - 1, True)] == [1]
    assert of(LOG_LIMIT, True) == ()


@given(st.integers(1, PIECES), st.data())
def test_a_sort_key_is_in_one_piece(pieces: int, data: st.DataObject) -> None:
    merge = Merge((0,), pieces)
    piece = data.draw(st.integers(0, pieces - 1))
    low, high = merge.low(piece), merge.low(piece + 1)
    assert (merge.low(0), merge.low(pieces)) == (0, END)
    assert {merge.piece_of(key) for key in (low, high - 1, data.draw(st.integers(low, high - 1)))} == {piece}


@pytest.mark.parametrize("size", [LOG_BYTES // 8, LOG_BYTES // 2 - 1, LOG_BYTES // 2, LOG_BYTES])
def test_a_step_writes_no_more_of_a_log_than_one_piece(size: int) -> None:
    """However many bytes each adds: their runs become fewer, or are as large already."""
    rows, steps = 20_000, 100
    spine, most, written = Spine(), 0, 0
    for step in range(steps):
        chunk = Chunk(f"s{step}", 0, size, rows)
        spine = spine.insert([chunk], ()).schedule(rows, SMALL, is_log=True)
        spine, due = spine.due(0)
        merged = [sum(chunk.length for chunk in piece.chunks) for piece in due]
        most, written = max(most, sum(merged)), written + sum(merged)
        for at, piece in sorted(enumerate(due), key=lambda each: each[1].merge, reverse=True):
            count = sum(chunk.rows for chunk in piece.chunks)
            spine = spine.finish(piece.merge, [(Chunk(f"m{step}-{at}", 0, merged[at], count),)])
    assert spine.rows == steps * rows
    assert sum(chunk.length for chunk in spine.live) == steps * size
    assert most <= LOG_BYTES
    whole = [run for run in spine.runs if 2 * run.bytes >= LOG_BYTES or run.rows >= LOG_LIMIT]
    assert len(spine.runs) - len(whole) < 4 * FAN_IN
    assert written <= steps * size  # each row once
    assert (written == 0) == (2 * size >= LOG_BYTES)
