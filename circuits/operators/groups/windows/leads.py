"""Leading rows: functions that have one value a partition, which the rows that come first in an order tell.

    min(x)                 of the whole partition: the first by x, NULLs last       max(x): by x descending
    min_by(v, x)           the same rows, all that tie                              max_by(v, x)
    first_value(v)         the first in the function's own order, of a frame that begins with the partition
    last_value(v)          of the whole partition: the first in the opposite order

So a change below them, by far the most in a large partition, changes the value of no row that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dbsp.circuits.operators.groups.windows.calls import Calling


@dataclass(frozen=True)
class Lead:
    """The rows that come first by a value."""

    value: Any
    descending: bool
    nulls_last: bool

    @property
    def nulls_greatest(self) -> bool:
        """Where the order has NULLs."""
        return self.nulls_last != self.descending


def leading(functions: Sequence[Calling], of: Callable[[Any], object]) -> tuple[Lead, ...]:
    """By what the rows come first that tell all functions; none where none do, or by several values.

    of: what an item of an order is of. A trace has NULLs on one side: that of the first.
    """
    leads = [_lead(function, of) for function in functions]
    found = [lead for lead in dict.fromkeys(leads) if lead is not None]
    if None in leads or len({lead.value for lead in found}) != 1:
        return ()
    # NULLs that come first are looked for on their side alone
    found.sort(key=lambda lead: lead.nulls_last)
    same_side = all(lead.nulls_last or lead.nulls_greatest == found[0].nulls_greatest for lead in found)
    return tuple(found) if same_side else ()


def _lead(function: Calling, of: Callable[[Any], object]) -> Lead | None:
    frame = function.frame
    if function.function in _EXTREMES:
        descending = function.function.startswith("max")
        return Lead(function.arguments[0], descending, True) if frame.is_whole else None
    if function.ignore_nulls or function.filtered or not function.order:
        return None
    first = function.order[0]
    if function.function == "last" and frame.is_whole:
        return Lead(of(first), not first.descending, not first.nulls_last)
    ahead = frame.upper is None or (isinstance(frame.upper, int) and frame.upper >= 0)
    if function.function == "first" and frame.lower is None and ahead:
        return Lead(of(first), first.descending, first.nulls_last)
    return None


_EXTREMES = frozenset({"min", "max", "min_by", "max_by"})
