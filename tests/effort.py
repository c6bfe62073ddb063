"""How many examples a law draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import settings

WHOLE = 25  # what the numbers that laws name are made for
QUICK = 8  # what a law without a number of its own draws
MINUTE = 4  # the same, in `make quick`


def is_long() -> bool:
    """Whether more is tried than in every run: `--hypothesis-profile=long`."""
    return settings.default.max_examples > WHOLE


def pool_of(count: int) -> int:
    """How many programs a law draws from, each of which is compiled once."""
    return 10_000 if is_long() else count


def examples(count: int) -> Callable[[Any], Any]:
    """A law that draws `count` examples, and with a profile of more or fewer than WHOLE in proportion."""
    return settings(max_examples=max(1, count * settings.default.max_examples // WHOLE))
