"""Where random decisions come from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """A seeded generator, or hypothesis (`strategies.py`), which shrinks them."""

    def integer(self, low: int, high: int) -> int: ...

    def choice(self, options: Sequence[T]) -> T: ...


class Seeded:
    """Decisions by a seed alone: what was drawn once is drawn again."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def choice(self, options: Sequence[T]) -> T:
        return self.random.choice(options)


def chance(choices: Choices, one_in: int) -> bool:
    """True once in so many times; the shrunk answer is False."""
    return choices.integer(0, one_in - 1) == one_in - 1
