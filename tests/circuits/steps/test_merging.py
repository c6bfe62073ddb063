"""Merges cut at the bounds of partitions: the same rows, each merged once, by the task that owns it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.steps.merging import shares
from dbsp.circuits.steps.task import partition_start
from dbsp.circuits.traces import spine
from dbsp.circuits.traces.spine import END, Piece
from tests.circuits.steps.test_state import SCHEMA
from tests.dbsp.build import pipeline
from tests.laws.small_steps import set_small

STEPS = 9


def one_trace() -> tuple[Circuit, int]:
    builder = CircuitBuilder()
    return builder.build(), builder.add(
        Integrate((0,)), builder.add(Exchange((0,)), builder.add(Source("t", SCHEMA)))
    )


@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_parts_of_a_piece_are_its_range(partitions: int, pieces: int, data: st.DataObject) -> None:
    circuit, node = one_trace()
    at = data.draw(st.integers(0, pieces - 1))
    low, high = END * at // pieces, END * (at + 1) // pieces
    cuts = data.draw(st.lists(st.integers(low, high - 1), max_size=4, unique=True).map(sorted))
    edges = [low, *(cut for cut in cuts if cut > low), high]
    chunks = tuple(Chunk(f"{a}", 0, 1, 1, a, b - 1) for a, b in pairwise(edges))
    piece = Piece(node, 0, chunks, low, high)
    found = [(p, part) for p, given in enumerate(shares(circuit, [piece], partitions)) for part in given]
    assert [part.low for _, part in found] == [low, *(part.high for _, part in found[:-1])]
    assert found[-1][1].high == high
    for p, part in found:
        assert partition_start(p, partitions) <= part.low < part.high <= partition_start(p + 1, partitions)
        assert part.chunks == tuple(c for c in chunks if c.low < part.high and c.high >= part.low)


def test_what_has_no_range_stays_whole() -> None:
    circuit, node = one_trace()
    empty = Piece(node, 0, (), 0, END)
    assert shares(circuit, [empty, empty], 2) == [[empty], [empty]]


@given(st.integers(1, 9), st.integers(1, 9))
def test_a_log_s_chunks_go_to_who_wrote_them(wrote: int, partitions: int) -> None:
    builder = CircuitBuilder()
    node = builder.add(Source("t", SCHEMA))
    builder.output("v", node, None)
    circuit = builder.build()
    lows = [partition_start(p, wrote) for p in range(wrote)]
    chunks = tuple(Chunk(f"{low}", 0, 1, 1, low, low) for low in (*lows, *lows))
    found = shares(circuit, [Piece(node, 0, chunks, 0, END)], partitions)
    assert sorted(c.low for given_ in found for part in given_ for c in part.chunks) == sorted([*lows, *lows])
    for p, given_ in enumerate(found):
        for part in given_:
            assert part.low == partition_start(p, partitions)
            assert all(part.low <= c.low < part.high for c in part.chunks)
    if wrote == partitions:
        assert [[len(part.chunks) for part in given_] for given_ in found] == [[2]] * partitions


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [2, 3, 5])
def test_results_are_those_of_one_task(monkeypatch: pytest.MonkeyPatch, partitions: int) -> None:
    monkeypatch.setattr(spine, "PIECE", 40)
    monkeypatch.setattr(spine, "SMALL", 8)
    several = 0
    with pipeline() as one, pipeline(partitions=partitions) as many:
        for n in range(STEPS):
            for p in (one, many):
                set_small(p, 0)
                p.insert("votes", [(n * 100 + i, i % 37) for i in range(90)])
                p.insert("event", [(n * 30 + i, None) for i in range(30)])
                if n:
                    p.delete("votes", [((n - 1) * 100 + i, i % 37) for i in range(40)])
            assert many.step()["counts"].rows() == one.step()["counts"].rows()
            state = many._position.state
            several += sum(len(done) > 1 for s in state.spines.values() for m in s.merges for done in m.done)
            assert state.rows().keys() == one._position.state.rows().keys()
        assert many["all_votes"].rows() == one["all_votes"].rows()
        assert sorted(map(str, many["events"].rows())) == sorted(map(str, one["events"].rows()))
        log = many._position.state.spines[many.program.circuit.output("events").kept]
        assert {chunk.low for chunk in log.live} <= {
            partition_start(p, partitions) for p in range(partitions)
        }
    assert several
