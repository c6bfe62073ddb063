"""Which steps a rule keeps, against the rule said of every step; and what goes with a step."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from dbsp.state.keeping.keep import Keep
from dbsp.state.keeping.kept import UNREAD, Kept, Known, gaps, oldest_with
from tests.effort import examples

BEGAN = datetime(2024, 1, 1, tzinfo=UTC)


def made(seconds: int | None, driven: bool = True) -> Known:
    instant = None if seconds is None else BEGAN + timedelta(seconds=seconds)
    return Known(frozenset(), instant, driven)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.integers(1, 5),
    st.integers(1, 8),
    st.integers(0, 3),
    st.sets(st.integers(1, 11), max_size=3),
)
@examples(60)
def test_a_step_is_kept_while_it_was_the_current_one(
    waits: list[int], steps: int, span: int, older: int, unread: set[int]
) -> None:
    """older: how many of the first steps are of another clock. unread: those whose records can't be read: one
    before them may have been the current one until the next that can be.
    """
    kept, at, times = Kept(), 0, []
    for step, wait in enumerate(waits, 1):
        at += wait
        times.append(at)
        is_read = step not in unread or step == len(waits)
        kept.add(step, made(at, step > older or len(waits) <= older) if is_read else UNREAD)
    last = len(waits)
    until = [
        next(n for n in range(step, last + 1) if n not in unread or n == last) for step in range(2, last + 1)
    ]
    driven = [step > older or last <= older for step in range(1, last + 1)]
    wanted = [
        step
        for step in range(1, last + 1)
        if step > last - steps
        or (driven[until[step - 1] - 1] == driven[-1] and times[until[step - 1] - 1] > times[-1] - span)
    ]
    assert kept.oldest(Keep(steps, timedelta(seconds=span))) == wanted[0]
    assert wanted == list(range(wanted[0], last + 1))


@given(st.sets(st.integers(1, 14), min_size=1))
@examples(25)
def test_the_unbroken_end(steps: set[int]) -> None:
    kept = Kept()
    for step in steps:
        kept.add(step, made(step))
    first = max(steps)
    while first - 1 in steps:
        first -= 1
    assert kept.unbroken == first
    assert gaps(kept.steps, 0) == sorted({*range(min(steps), max(steps))} - steps)
    assert gaps(kept.steps, first) == []
    assert oldest_with(kept, Keep(100), max(steps) + 1, made(99)) == first
    assert kept.steps == sorted(steps)


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=8), st.lists(st.integers(1, 6)))
@examples(40)
def test_what_only_a_step_needed_goes_with_it(lives: list[tuple[int, int]], gone: list[int]) -> None:
    """lives: of segments, their first step and their last."""
    kept = Kept()
    for step in range(1, 7):
        needed = {
            f"{n}" for n, (first, last) in enumerate(lives) if min(first, last) <= step <= max(first, last)
        }
        kept.add(step, Known(frozenset(needed)))
    for step in dict.fromkeys(gone):
        segments = kept.remove(step).segments
        assert segments - kept.beside(step) == segments - kept.segments()


def test_without_instants_only_numbers_count() -> None:
    kept = Kept()
    for step in range(1, 6):
        kept.add(step, made(None))
    assert kept.oldest(Keep(2, timedelta(days=9))) == 4
    assert kept.past(4, {2}) == [1, 3]
    assert Kept().unbroken == 0
