"""A client waits for so long, and what it asked for ends with the wait."""

from __future__ import annotations

import asyncio
import threading

import pytest

from dbsp.circuits.allowance import may_go_on
from dbsp.circuits.errors import TooMuch
from dbsp.serving.answers import Refused
from dbsp.serving.evaluating import Evaluating


def busy() -> None:
    while True:
        may_go_on()


def test_what_takes_too_long_is_refused_and_ends() -> None:
    async def course() -> None:
        evaluating = Evaluating(seconds=0.1)
        for _ in range(3):  # more than there are places
            with pytest.raises(Refused, match="no answer within 0 s"):
                await evaluating.done(busy)
        evaluating.seconds = 60
        assert await evaluating.done(lambda: 1) == 1

    asyncio.run(course())


def test_what_cannot_be_ended_holds_its_place_until_it_has() -> None:
    async def course() -> None:
        evaluating, go_on = Evaluating(seconds=0.1), threading.Event()
        for _ in range(2):
            with pytest.raises(Refused, match="no answer within 0 s"):
                await evaluating.done(go_on.wait)
        with pytest.raises(Refused):  # both places are taken
            await evaluating.done(lambda: 1)
        go_on.set()
        evaluating.seconds = 60
        assert await evaluating.done(lambda: 1) == 1

    asyncio.run(course())


def test_what_is_cancelled_ends() -> None:
    async def course() -> None:
        evaluating, began, ended = Evaluating(), threading.Event(), threading.Event()

        def run() -> None:
            began.set()
            try:
                busy()
            finally:
                ended.set()

        asked = asyncio.create_task(evaluating.done(run))
        assert await asyncio.to_thread(began.wait, 60)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert await asyncio.to_thread(ended.wait, 60)

    asyncio.run(course())


def test_what_takes_too_much_is_refused() -> None:
    async def course() -> None:
        with pytest.raises(TooMuch, match="may take 1 MB"):
            await Evaluating(bytes=1 << 20).done(lambda: may_go_on(1 << 30))

    asyncio.run(course())
