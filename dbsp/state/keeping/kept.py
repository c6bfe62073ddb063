"""The steps of a state directory that are kept: what each needs, and which of them a rule lets go.

A segment that a step needs no more is never needed again, so that each lives for an interval of steps. What
goes with a step is what neither of its neighbours needs. A step costs O(log n + its segments), n being kept.
What a step needs whose record can't be read isn't known: it may be all that was begun by then.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from sortedcontainers import SortedDict

from dbsp.state.keeping.keep import Keep
from dbsp.state.records.commits import Commit


@dataclass(frozen=True)
class Known:
    """Of a step: its segments, and when it counts as made. segments: None of a record that can't be read."""

    segments: frozenset[str] | None
    instant: datetime | None = None
    driven: bool = False

    @staticmethod
    def of(commit: Commit) -> Known:
        return Known(commit.segments, commit.instant, commit.driven)

    @property
    def needs(self) -> frozenset[str]:
        """The segments that it is known to need."""
        return self.segments or frozenset()

    def is_after(self, other: Known, instant: datetime) -> bool:
        """Whether it is known to have been made after an instant, of the clock that `other` has."""
        return self.instant is not None and self.driven == other.driven and self.instant > instant


UNREAD = Known(None)


class Kept:
    """The kept steps, by number."""

    def __init__(self) -> None:
        self._known: SortedDict[int, Known] = SortedDict()
        self._unread: set[int] = set()

    def __contains__(self, step: int) -> bool:
        return step in self._known

    def __iter__(self) -> Iterator[int]:
        return iter(self._known)

    @property
    def steps(self) -> list[int]:
        """Ascending."""
        return list(self._known)

    @property
    def unread(self) -> int:
        """The last of those whose record can't be read; 0 where there is none."""
        return max(self._unread, default=0)

    @property
    def unbroken(self) -> int:
        """The step from which on none is missing, up to the last; 0 where there is none."""
        steps = self._known.keys()
        if not steps:
            return 0
        last, count = steps[-1], len(steps)
        first = bisect_left(range(count), True, key=lambda i: last - steps[i] == count - 1 - i)
        return int(steps[first])

    def add(self, step: int, known: Known) -> None:
        self._known[step] = known
        self._unread.discard(step)
        if known.segments is None:
            self._unread.add(step)

    def remove(self, step: int) -> Known:
        """Let go of a step."""
        self._unread.discard(step)
        known: Known = self._known.pop(step)
        return known

    def beside(self, step: int) -> set[str]:
        """What the kept steps around one are known to need."""
        at = self._known.bisect_left(step)
        values = self._known.values()
        return set().union(*(values[i].needs for i in (at - 1, at) if 0 <= i < len(values)))

    def segments(self) -> set[str]:
        """All that is known to be needed."""
        return set().union(*(known.needs for known in self._known.values()))

    def oldest(self, keep: Keep) -> int:
        """The first of the steps that a rule keeps, of those up to the last."""
        steps = self._known.keys()
        last = steps[-1]
        if keep.span is None:
            return max(int(last) - keep.steps + 1, 1)
        now: Known = self._known[last]
        limit = None if now.instant is None else now.instant - keep.span
        # a step was the current one until the next was made; what is of another clock, or none, is of old;
        # when one was made whose record can't be read isn't known, but that it was before the next
        first = bisect_left(
            range(len(steps) - 1),
            True,
            key=lambda i: limit is not None and self._read_from(i + 1).is_after(now, limit),
        )
        return min(int(steps[first]), max(int(last) - keep.steps + 1, 1))

    def _read_from(self, at: int) -> Known:
        """The first from a place on whose record could be read, as the last one's was."""
        values = self._known.values()
        read: Known = next(values[i] for i in range(at, len(values)) if values[i].segments is not None)
        return read

    def past(self, oldest: int, tagged: Collection[int]) -> list[int]:
        """The steps before one, but for the tagged ones."""
        return [step for step in self._known.irange(maximum=oldest - 1) if step not in tagged]


def begun_by(segment: str) -> int:
    """The step that a segment was begun by: no earlier one needs it. 0: its name doesn't say."""
    return int(segment[:12]) if segment[:12].isdigit() else 0


def oldest_with(kept: Kept, keep: Keep, step: int, known: Known) -> int:
    """`Kept.oldest` once a step is added."""
    first = max(kept.unbroken, 1)
    kept.add(step, known)
    try:
        return max(first, kept.oldest(keep))
    finally:
        kept.remove(step)


def gaps(steps: list[int], oldest: int) -> list[int]:
    """The steps that are missing between others, from the oldest on of which none was."""
    return [gone for one, two in pairwise(steps) for gone in range(max(one + 1, oldest), two)]
