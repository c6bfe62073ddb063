"""The fewest items that still fail, and the fewest steps that they still fail in.

Source: Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", TSE 28(2): the part of ddmin
that takes complements. What is left fails, and no more without any one of its items, unless trials ran out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class Shrinking(Generic[T]):
    """fails: whether a list of steps, each of items, still does. trials: how often it may be asked."""

    fails: Callable[[list[list[T]]], bool]
    trials: int = 200

    def shrink(self, steps: Sequence[Sequence[T]]) -> list[list[T]]:
        """steps: which fail."""
        found, before = [list(step) for step in steps], None
        while found != before:
            before = found
            found = self._joined(self._thinned(found))
        return found

    def _fails(self, steps: list[list[T]]) -> bool:
        self.trials -= 1
        return self.trials >= 0 and self.fails(steps)

    def _thinned(self, steps: list[list[T]]) -> list[list[T]]:
        """Without items, and without the steps that have none then."""
        items = [(number, item) for number, step in enumerate(steps) for item in step]
        size = max(len(items) // 2, 1)
        while items and self.trials > 0:
            at, smaller = 0, False
            while at < len(items) and self.trials > 0:
                rest = items[:at] + items[at + size :]
                if rest and self._fails(_stepped(rest)):
                    items, smaller = rest, True
                else:
                    at += size
            if size == 1 and not smaller:
                break
            size = max(size // 2, 1)
        return _stepped(items)

    def _joined(self, steps: list[list[T]]) -> list[list[T]]:
        """With steps made one with the one before."""
        at = 1
        while at < len(steps) and self.trials > 0:
            joined = [*steps[: at - 1], steps[at - 1] + steps[at], *steps[at + 1 :]]
            if self._fails(joined):
                steps = joined
            else:
                at += 1
        return steps


def _stepped(items: Sequence[tuple[int, T]]) -> list[list[T]]:
    steps: dict[int, list[T]] = {}
    for number, item in items:
        steps.setdefault(number, []).append(item)
    return list(steps.values())
