"""Near windows: functions that see a few places before and after each row, and so change only near a change.

With frames from l places before a row to u places after it, and T = l + u:

    a change at place x changes what rows at places x − u … x + l see
    and these see no place but x − T … x + T

So T rows before and after each changed row are all that has to be listed, on either side of the step: of a
row that goes, T more beyond it take its place. What lies further out may be listed or not, as long as both
sides have the same of it: it sees no change, and is put out on neither side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dbsp.circuits.operators.groups.windows.calls import Frame


class Seeing(Protocol):
    """What says how far a function sees, as a `WindowFunction` does."""

    @property
    def function(self) -> str: ...
    @property
    def order(self) -> tuple[object, ...]: ...
    @property
    def frame(self) -> Frame: ...
    @property
    def number(self) -> int: ...
    @property
    def ignore_nulls(self) -> bool: ...


def places_seen(functions: Sequence[Seeing]) -> int | None:
    """T; None where some function sees rows by more than their place, or all of a side."""
    if len({function.order for function in functions}) != 1 or not functions[0].order:
        return None
    before, after = 0, 0
    for function in functions:
        seen = _seen(function)
        if seen is None:
            return None
        before, after = max(before, -seen[0]), max(after, seen[1])
    return before + after


def _seen(function: Seeing) -> tuple[int, int] | None:
    """The first and the last place that it sees, from the row's own."""
    if function.function == "lead":
        return None if function.ignore_nulls else (function.number, function.number)
    frame = function.frame
    if function.function in _OF_PARTITIONS or not frame.rows:
        return None
    if not isinstance(frame.lower, int) or not isinstance(frame.upper, int):
        return None
    return frame.lower, frame.upper


# whatever their frame
_OF_PARTITIONS = frozenset({"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"})
