"""Who waits is woken, and what a step changed is spelled once."""

from __future__ import annotations

import asyncio
import threading

import pytest

from dbsp.circuits.errors import StateError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.feed import Feed
from dbsp.views.changes import ViewChanges
from tests.dbsp.serving.served import PROGRAM


def test_a_step_of_another_thread_wakes_all_who_wait() -> None:
    with Pipeline(sql=PROGRAM, runner="inline") as pipeline:
        feed = Feed(pipeline)
        calls = []

        def make() -> None:
            pipeline.insert("visits", [{"shop": "a"}])
            feed.made(pipeline.step())

        def spell(step: int, changes: ViewChanges) -> int:
            calls.append(step)
            return len(changes)

        async def wait() -> None:
            feed.attach(asyncio.get_running_loop())
            assert not await feed.after(0, 0.01)
            assert not await feed.told(0.01)
            told = asyncio.create_task(feed.told(60))
            waiting = [asyncio.create_task(feed.after(0, 60)) for _ in range(20)]
            await asyncio.sleep(0)
            threading.Thread(target=make).start()
            assert await asyncio.gather(*waiting) == [True] * 20
            assert await told
            spelled = [feed.spelled("visitors", 1, "n", spell) for _ in range(20)]
            assert await asyncio.gather(*spelled) == [1] * 20
            assert calls == [1]
            for _ in range(2):  # what fails is asked again
                with pytest.raises(StateError, match="step 7 is not kept"):
                    await feed.spelled("visitors", 7, "n", spell)
            ending = asyncio.create_task(feed.after(1, 60))
            await asyncio.sleep(0)
            feed.end()
            assert not await ending

        asyncio.run(wait())
