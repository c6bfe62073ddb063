"""Who waits is told of all there is, at once where that is rare, and together where it costs much."""

from __future__ import annotations

import asyncio
import random
import threading
import time

from dbsp.serving.following.rounds import LONGEST, SHARE, Rounds


class Counter:
    """What there is to tell: a number."""

    def __init__(self, **options: float) -> None:
        self.value = 0
        self.rounds = Rounds(lambda: self.value, **options)

    def add(self) -> None:
        self.value += 1
        self.rounds.tell()


def test_whoever_waits_sees_all_that_another_thread_tells() -> None:
    counter, rng, last = Counter(), random.Random(1), 2000

    async def follow() -> list[int]:
        seen = [0]
        while seen[-1] < last:
            if await counter.rounds.after(seen[-1]):
                seen.append(counter.rounds.seen)
            if rng.random() < 0.1:
                await asyncio.sleep(0)
        return seen

    async def run() -> None:
        counter.rounds.attach(asyncio.get_running_loop())
        teller = threading.Thread(target=lambda: [counter.add() for _ in range(last)])
        following = [asyncio.create_task(follow()) for _ in range(5)]
        await asyncio.sleep(0)
        teller.start()
        for seen in await asyncio.wait_for(asyncio.gather(*following), 60):
            assert seen[-1] == last and seen == sorted(set(seen))
        teller.join()

    asyncio.run(run())


def test_the_pause_pays_for_the_messages() -> None:
    counter = Counter()

    async def run() -> list[float]:
        loop = asyncio.get_running_loop()
        counter.rounds.attach(loop)
        pauses = []
        for cost in (0.0, 0.002, 0.004, 100.0):
            counter.add()
            await counter.rounds.after(counter.value - 1)
            began = counter.rounds._began  # of the round, however late this task is told of it
            counter.rounds._cost = cost
            counter.add()
            await counter.rounds.after(counter.value - 1)
            pauses.append(counter.rounds._began - began)
            counter.rounds._cost = 0.0
            await asyncio.sleep(LONGEST if cost > 1 else 2 * cost / SHARE)
        return pauses

    free, small, twice, most = asyncio.run(run())
    early = time.get_clock_info("monotonic").resolution + 1e-4  # a loop's timers may be early by so much
    assert free < LONGEST and small >= 0.002 / SHARE - early and twice >= 0.004 / SHARE - early
    assert LONGEST - early <= most < LONGEST + 5


def test_a_sign_of_life_and_the_end() -> None:
    counter = Counter(beat=0.01)

    async def run() -> None:
        counter.rounds.attach(asyncio.get_running_loop())
        assert await asyncio.gather(*[counter.rounds.after(0) for _ in range(3)]) == [False] * 3
        assert not counter.rounds.ended
        counter.rounds.beat = 60
        waiting = asyncio.create_task(counter.rounds.after(0))
        await asyncio.sleep(0)
        counter.rounds.end()
        assert not await waiting
        assert not await counter.rounds.after(0)  # nor does anybody wait after it

    asyncio.run(run())


def test_nobody_is_called_where_nobody_waits() -> None:
    counter = Counter()

    async def run() -> None:
        loop = asyncio.get_running_loop()
        counter.rounds.attach(loop)
        for _ in range(10):
            counter.add()
            counter.rounds.tell(at_once=True)
        await asyncio.sleep(0.01)
        assert counter.rounds.seen == 0

    asyncio.run(run())
