"""How many examples a law draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import settings

QUICK = 25  # what a law without a number of its own draws


def examples(count: int) -> Callable[[Any], Any]:
    """A law that draws `count` examples, and with a profile of many more than QUICK as many times more."""
    return settings(max_examples=count * settings.default.max_examples // QUICK)
