"""Who follows is told of every step, and what steps changed is spelled once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from dbsp.circuits.errors import StateError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.following import feed as feeds
from dbsp.serving.following.feed import Feed
from dbsp.views.changes import ViewChanges
from tests.dbsp.serving.served import PROGRAM


def steps_of(made: Sequence[tuple[int, ViewChanges]]) -> list[tuple[int, int]]:
    return [(step, len(changes)) for step, changes in made]


def test_a_step_of_another_thread_is_spelled_once_for_all_who_wait() -> None:
    with Pipeline(sql=PROGRAM, runner="inline") as pipeline:
        feed = Feed(pipeline)
        calls = []

        def make() -> None:
            pipeline.insert("visits", [{"shop": "a"}])
            feed.made(pipeline.step())

        def spell(made: Sequence[tuple[int, ViewChanges]]) -> list[tuple[int, int]]:
            calls.append(steps_of(made))
            return calls[-1]

        async def wait() -> None:
            feed.rounds.attach(asyncio.get_running_loop())
            waiting = [asyncio.create_task(feed.rounds.after(0)) for _ in range(20)]
            await asyncio.sleep(0)
            threading.Thread(target=make).start()
            assert await asyncio.gather(*waiting) == [True] * 20
            spelled = [feed.spelled("visitors", 0, None, "n", spell) for _ in range(20)]
            assert await asyncio.gather(*spelled) == [(1, [(1, 1)])] * 20
            assert calls == [[(1, 1)]]
            for _ in range(2):  # what fails is asked again
                feed.rounds.seen = 7
                with pytest.raises(StateError, match="step 7 is not kept"):
                    await feed.spelled("visitors", 6, None, "n", spell)
            feed.rounds.end()
            feed.rounds.seen = 1
            assert not await feed.rounds.after(1)

        asyncio.run(wait())


def test_many_small_steps_are_spelled_at_once_and_a_large_one_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "ROWS", 5)
    with Pipeline(sql=PROGRAM, runner="inline") as pipeline:
        feed = Feed(pipeline)
        for rows in (1, 0, 2, 3, 9, 1, 1):
            pipeline.insert("visits", [{"shop": str(n)} for n in range(rows)])
            feed.made(pipeline.step())

        async def read() -> list[list[tuple[int, int]]]:
            feed.rounds.attach(asyncio.get_running_loop())
            found, step = [], 0
            while step < 6:
                assert await feed.rounds.after(step)
                step, some = await feed.spelled("visitors", step, 6, "n", steps_of)
                found.append(some)
            return found

        assert asyncio.run(read()) == [[(1, 1), (2, 0), (3, 2)], [(4, 3)], [(5, 9)], [(6, 1)]]


@pytest.mark.slow
def test_steps_that_nobody_was_told_of_yet_are_at_hand_though_none_is_kept() -> None:
    """A pause is cut short before they are too many."""
    with Pipeline(sql=PROGRAM, runner="inline", keep_steps=1) as pipeline:
        feed = Feed(pipeline)

        def make() -> None:
            for _ in range(300):
                feed.made(pipeline.step())

        async def read() -> int:
            feed.rounds.attach(asyncio.get_running_loop())
            feed.rounds.sent(10**9)  # a pause of a second
            maker = threading.Thread(target=make)
            maker.start()
            step = rounds = 0
            while step < 300:
                if await feed.rounds.after(step):
                    step, _ = await feed.spelled("visitors", step, None, "n", steps_of)
                    rounds += 1
            maker.join()
            return rounds

        assert asyncio.run(read()) > 3
