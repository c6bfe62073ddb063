"""From names to what is stored: which views can be read, as of which step, and what is said of the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import dbsp
from dbsp.circuits.errors import DamagedChunk, StateError
from dbsp.sql.plans.program import Ordered
from dbsp.views.changes import UnknownView
from dbsp.views.outputs import (
    changes_of,
    check_state,
    contents_of,
    is_there,
    output_view,
    output_views,
    state_of,
    written_order,
)
from tests.dbsp.build import STEPS, feed, pipeline, votes_program

NAMES = ["all_votes", "counts", "customers", "events"]


@pytest.fixture
def p(tmp_path: Path) -> Iterator[dbsp.Pipeline]:
    with pipeline(tmp_path / "s") as opened:
        opened.store.durable = False
        feed(opened)
        yield opened


def test_views_go_by_name_in_any_case_and_local_ones_are_not_kept() -> None:
    program = votes_program()
    assert output_views(program) == NAMES
    assert output_view(program, "COUNTS") == "counts"
    with pytest.raises(UnknownView, match=r"^view 'Hidden' is LOCAL and not kept; declare it with CREATE"):
        output_view(program, "Hidden")
    with pytest.raises(UnknownView, match=r"unknown view 'count'; views: all_votes, .*mean 'counts'"):
        output_view(program, "count")


def test_a_record_gives_the_state_after_its_step(p: dbsp.Pipeline) -> None:
    for step in range(1, STEPS + 1):
        state = state_of(p.program, p.store.commit_of(step))
        for view in NAMES:
            assert is_there(p.program, state, view)
            found = contents_of(p.program, state, view, p.store).rows()
            assert found == p.view(view, as_of=step).rows()
    before = state_of(p.program, None)
    assert contents_of(p.program, before, "counts", p.store).rows() == []


def test_a_steps_changes_lead_from_one_state_to_the_next(p: dbsp.Pipeline) -> None:
    held: dict[tuple[object, ...], int] = {}
    for step in range(1, STEPS + 1):
        for row, weight in changes_of(p.program, p.store.commit_of(step), "counts", p.store).rows():
            key = tuple(row.values())
            held[key] = held.get(key, 0) + weight
    assert {key for key, weight in held.items() if weight} == {
        tuple(row.values()) for row in p["counts"].rows()
    }


def test_of_another_program_s_step_nothing_is_guessed(p: dbsp.Pipeline) -> None:
    commit = p.store.commit_of(STEPS)
    other = replace(commit, views={**commit.views, "counts": "another layout"})
    with pytest.raises(StateError, match=f"step {STEPS}: what it changed in view 'counts' can't be told"):
        changes_of(p.program, other, "counts", p.store)
    state = state_of(p.program, commit)
    kept = p.program.circuit.output("counts").kept
    without = replace(state, spines={node: one for node, one in state.spines.items() if node != kept})
    assert not is_there(p.program, without, "counts")
    with pytest.raises(StateError, match="view 'counts' is not there as of that step"):
        contents_of(p.program, without, "counts", p.store)


def test_damage_is_found(p: dbsp.Pipeline, tmp_path: Path) -> None:
    commit = p.store.commit_of(STEPS)
    check_state(p.program, state_of(p.program, commit), p.store.segments)
    p.close()
    needed = [tmp_path / "s" / "segments" / name for name in commit.segments]
    largest = max((path for path in needed if path.is_file()), key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    with pipeline(tmp_path / "s", verify="never") as opened, pytest.raises((DamagedChunk, StateError)):
        check_state(opened.program, state_of(opened.program, commit), opened.store.segments)


def test_only_a_stream_s_changes_have_its_order() -> None:
    view = votes_program().views["counts"]
    order = view.order
    assert written_order(view) == ()
    once = replace(view, emission=Ordered(None, None, True, "p.sql:1:1", once=True, by=None))  # type: ignore[arg-type]
    assert written_order(once) == order
