"""Which step is meant, against a look at every step."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import StateError
from dbsp.history.asked import step_of
from tests.dbsp.build import pipeline
from tests.effort import examples

BEGAN = datetime(2024, 1, 1, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return BEGAN + timedelta(minutes=minutes)


@given(st.lists(st.none() | st.integers(0, 3), min_size=1, max_size=6))
@examples(4)
def test_as_of_is_the_state_after_a_step_and_a_time_the_last_one_before(waits: list[int | None]) -> None:
    """waits: minutes between the clocks of steps; a step without a clock is as of the one before."""
    with pipeline() as p:
        p.store.durable = False
        clock, clocks, rows = 0, [], []
        for step, wait in enumerate(waits):
            p.insert("votes", [(step, 0)])
            p.delete("votes", rows[-1][:1] if rows and step % 2 else [])
            given_clock = wait is not None or step == 0
            clock += wait or 0
            p.step(clock=at(clock) if given_clock else None)
            clocks.append(clock)
            rows.append([tuple(row.values()) for row in p["all_votes"].rows()])
        for step, then in enumerate(rows, 1):
            assert [tuple(row.values()) for row in p.view("all_votes", as_of=step).rows()] == then
        for minute in range(clocks[0], clock + 2):
            wanted = max(i for i, time in enumerate(clocks, 1) if time <= minute)
            assert step_of(p.store, at(minute), "UTC") == wanted
            assert p.view("all_votes", as_of=str(at(minute) + timedelta(seconds=30))).rows() == [
                dict(zip(("user_id", "story_id"), row, strict=True)) for row in rows[wanted - 1]
            ]
        with pytest.raises(StateError, match=r"as of 2023.*; step 1 was made at 2024"):
            step_of(p.store, at(-9), "UTC")


def test_spellings_of_times_and_tags(tmp_path: Path) -> None:
    with pipeline(tmp_path / "s") as p:
        p.step(clock=at(0))
        p.step(clock=at(60))
        p.store.tags.add("noon", 1)
        for asked, step in [
            ("1", 1), (2, 2), ("noon", 1), ("2024-01-01", 1), ("2024-01-01T00:59:59.9Z", 1),
            ("2024-01-01 01:00", 2), (datetime(2024, 1, 1), 1),
            (datetime(2024, 1, 1, 2, 0, tzinfo=timezone(timedelta(hours=1))), 2),
        ]:  # fmt: skip
            assert step_of(p.store, asked, "UTC") == step
        assert step_of(p.store, "2024-01-01 02:30", "Europe/Berlin") == 2
        assert step_of(p.store, "2024-01-01 01:30", "Europe/Berlin") == 1
        for asked, said in [
            (
                "noom",
                r"of what is kept; steps 1 to 2 are, and tagged are 1 \('noon'\); did you mean 'noon'\?",
            ),
            (3, "step 3 is not kept; steps 1 to 2 are"),
            (0, "step 0 is not kept"),
            (True, "True is no step, time or tag"),
        ]:
            with pytest.raises(StateError, match=said):
                step_of(p.store, asked, "UTC")


def test_of_the_machine_s_clock_until_a_caller_gives_one() -> None:
    with pipeline() as p:
        before = datetime.now(UTC)
        p.step()
        p.step()
        after = datetime.now(UTC)
        assert step_of(p.store, after, "UTC") == 2
        with pytest.raises(StateError, match="no step is kept as of"):
            step_of(p.store, before - timedelta(seconds=1), "UTC")
        p.step(clock=at(0))
        p.step()
        assert step_of(p.store, at(5), "UTC") == 4
        with pytest.raises(StateError, match="step 3 was made at 2024-01-01 00:00:00 UTC"):
            step_of(p.store, at(-1), "UTC")
        assert p.view("all_votes", as_of=1).rows() == []


def test_before_any_step() -> None:
    with pipeline() as p, pytest.raises(StateError, match="there is no step yet"):
        step_of(p.store, at(0), "UTC")
