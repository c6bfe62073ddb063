"""What a callback may rely on: every step after its position, in order, at least once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import dbsp
from dbsp.circuits.errors import StateError
from dbsp.errors import CallbackError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.views.changes import Changes, UnknownView, ViewChanges
from tests.dbsp.build import pipeline


def step(p: Pipeline) -> Changes:
    p.insert("votes", [(p.last_step, 1)])
    return p.step()


class Subscriber:
    """Remembers the steps it had, and what they changed; raises as it is told."""

    def __init__(
        self, p: Pipeline, raises: type[BaseException] | None = None, since: int | None = None
    ) -> None:
        self.pipeline, self.raises = p, raises
        self.seen: list[int] = []
        self.subscribe(p, since)

    def subscribe(self, p: Pipeline, since: int | None) -> None:
        p.subscribe("counts", self, since=since)

    def __call__(self, number: int, changes: ViewChanges) -> None:
        assert self.pipeline.last_step >= number
        assert changes.rows()[-1] == ({"story_id": 1, "n": number}, 1)
        self.seen.append(number)
        if self.raises is not None:
            raise self.raises("no mail today")


def test_a_callback_that_raises_undoes_nothing_and_keeps_no_other_from_its_call() -> None:
    with pipeline() as p:
        first, second = Subscriber(p, ValueError), Subscriber(p)
        p.insert("votes", [(0, 1)])
        with pytest.raises(CallbackError) as caught:
            p.step()
        assert str(caught.value) == (
            "step 1 is committed; a callback of view 'counts' raised ValueError: no mail today"
        )
        assert (caught.value.step, caught.value.view) == (1, "counts")
        assert caught.value.changes["counts"].rows() == p.changes_of("counts", 1).rows()
        assert isinstance(caught.value, dbsp.Error)
        assert isinstance(caught.value.__cause__, ValueError)
        assert (p.last_step, p.queued, second.seen) == (1, {}, [1])
        first.raises = None
        step(p)
        assert (first.seen, second.seen) == ([1, 1, 2], [1, 2])


def test_a_callback_that_is_interrupted_is_called_again() -> None:
    with pipeline() as p:
        first, second = Subscriber(p, KeyboardInterrupt), Subscriber(p)
        with pytest.raises(KeyboardInterrupt):
            step(p)
        assert (p.last_step, second.seen) == (1, [])
        first.raises = None
        step(p)
        assert (first.seen, second.seen) == ([1, 1, 2], [1, 2])


def test_a_restart_catches_up_from_a_position(tmp_path: Path) -> None:
    with pipeline(tmp_path) as p:
        for _ in range(4):
            step(p)
    with pipeline(tmp_path) as p:
        assert Subscriber(p, since=2).seen == [3, 4]
        assert Subscriber(p, since=0).seen == [1, 2, 3, 4]
        assert Subscriber(p).seen == []
        caught_up = Subscriber(p, since=4)
        step(p)
        assert caught_up.seen == [5]


def test_a_callback_that_raises_while_it_catches_up_isn_t_subscribed() -> None:
    with pipeline() as p:
        step(p)
        seen: list[int] = []

        def fail(number: int, _: object) -> None:
            seen.append(number)
            raise ValueError

        with pytest.raises(CallbackError, match=r"step 1 is committed; .* raised ValueError$") as caught:
            p.subscribe("counts", fail, since=0)
        assert caught.value.changes is None
        step(p)
        assert seen == [1]


@pytest.mark.parametrize(
    ("since", "said"),
    [(1, r"step 2 is not kept; steps 3 to 4 are \(keep_steps=2\)"), (5, "the last step is 4"), (-1, "or 0")],
)
def test_a_position_that_can_t_be_caught_up_from(since: int, said: str) -> None:
    with pipeline(keep_steps=2) as p:
        for _ in range(4):
            step(p)
        with pytest.raises(StateError, match=said):
            p.subscribe("counts", lambda *_: None, since=since)


def test_a_callback_that_never_returned_is_given_up_when_its_step_is() -> None:
    with pipeline(keep_steps=2) as p:
        never = Subscriber(p, ValueError)
        for _ in range(2):
            with pytest.raises(CallbackError, match="raised ValueError"):
                step(p)
        with pytest.raises(CallbackError, match=r"step 1 is not kept; .* isn't called any more"):
            step(p)
        step(p)
        assert never.seen == [1, 1]


def test_a_callback_may_make_a_step() -> None:
    with pipeline() as p:
        seen: list[int] = []

        def again(number: int, _: object) -> None:
            seen.append(number)
            if number < 3:
                step(p)

        p.subscribe("counts", again)
        step(p)
        assert (seen, p.last_step) == ([1, 2, 3], 3)


def test_an_asynchronous_reader_gets_each_step_in_order_until_the_end() -> None:
    async def read(p: Pipeline, since: int | None, wanted: int) -> list[tuple[int, int]]:
        found = []
        async for changes in p.subscribe("all_votes", since=since):
            found.append((changes.step, len(changes)))
            if len(found) == wanted:
                break
        return found

    async def both(p: Pipeline) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        def write() -> None:
            for step in range(3, 6):
                p.insert("votes", [(user, step) for user in range(step)])
                p.step()

        some = asyncio.create_task(read(p, 1, 3))
        every = asyncio.create_task(read(p, None, 99))
        await asyncio.sleep(0.05)
        await asyncio.to_thread(write)
        first = await asyncio.wait_for(some, 60)
        await asyncio.sleep(0.05)
        await asyncio.to_thread(p.close)
        return first, await asyncio.wait_for(every, 60)

    p = pipeline()
    for step in range(1, 3):
        p.insert("votes", [(user, step) for user in range(step)])
        p.step()
    p.step()  # without changes
    first, rest = asyncio.run(both(p))
    assert first == [(2, 2), (4, 3), (5, 4)]
    assert rest == [(4, 3), (5, 4), (6, 5)]


def test_an_asynchronous_reader_of_what_is_not_kept_is_told(tmp_path: Path) -> None:
    with pipeline(tmp_path / "s", keep_steps=2) as p:
        for step in range(5):
            p.insert("votes", [(step, step)])
            p.step()
        with pytest.raises(StateError, match="step 2"):
            p.subscribe("all_votes", since=1)
        with pytest.raises(UnknownView, match="unknown view 'votez'"):
            p.subscribe("votez")


def test_a_stopped_callback_is_called_no_more() -> None:
    with pipeline() as p:
        seen: list[tuple[str, int]] = []
        first = p.subscribe("counts", lambda step, _: seen.append(("first", step)))

        def ends_all(number: int, changes: ViewChanges) -> None:
            seen.append(("second", number))
            if number == 2:
                second.stop()
                third.stop()

        second = p.subscribe("counts", ends_all)
        third = p.subscribe("counts", lambda step, _: seen.append(("third", step)))
        step(p)
        first.stop()
        first.stop()
        step(p)
        step(p)
    assert seen == [("first", 1), ("second", 1), ("third", 1), ("second", 2)]


def test_a_callback_that_always_raises_can_be_stopped_and_its_error_names_the_step_that_was_made() -> None:
    def fail(number: int, changes: ViewChanges) -> None:
        raise ValueError("no")

    with pipeline() as p:
        failing = p.subscribe("counts", fail)
        with pytest.raises(CallbackError, match=r"^step 1 is committed; .* raised ValueError: no$"):
            step(p)
        with pytest.raises(
            CallbackError, match=r"^step 2 is committed; .*; it was called with step 1"
        ) as caught:
            step(p)
        assert caught.value.step == 1 and caught.value.changes is not None and caught.value.changes.step == 2
        failing.stop()
        assert step(p).step == 3
