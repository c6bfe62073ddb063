"""A client waits for so long, and what it asked for holds its place until it has ended."""

from __future__ import annotations

import asyncio
import threading

import pytest

from dbsp.serving.answers import Refused
from dbsp.serving.evaluating import Evaluating


def test_what_takes_too_long_is_refused_and_ends_later() -> None:
    async def course() -> None:
        evaluating, go_on = Evaluating(seconds=0.1), threading.Event()
        for _ in range(2):
            with pytest.raises(Refused, match="no answer within 0 s"):
                await evaluating.done(go_on.wait)
        with pytest.raises(Refused):  # both places are taken
            await evaluating.done(lambda: 1)
        go_on.set()
        await asyncio.sleep(0.2)
        assert await evaluating.done(lambda: 1) == 1

    asyncio.run(course())
