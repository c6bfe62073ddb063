"""Near windows: functions that see a stretch of rows around each row, and so change only near a change.

With frames from l before a row to u after it, in places (ROWS) or in values (RANGE), and T = l + u:

    a change at x changes what rows at x − u … x + l see
    and these see nothing but x − T … x + T

So what lies as far as T before and after each changed row is all that has to be listed, on either side of the
step: of a row that goes, T more beyond it take its place. What lies further out may be listed or not, as long
as both sides have the same of it: it sees no change, and is put out on neither side.

A function that passes over NULLs (IGNORE NULLS) sees as far as the next values are: there T is a number of
rows with a value, too.

A running sum or extreme, or a row's number, sees all that is before it, and changes wherever a change is
before it. So all rows are listed from T before the first change on. Of what is in front of them sums and
extremes are made (`heads.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pyarrow.types as pt

from dbsp.circuits.columns.order_codes import has_order_bits
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.operators.groups.windows.calls import Calling, Edge
from dbsp.circuits.operators.groups.windows.leads import leading

_DAY = timedelta(days=1)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Sight:
    """T: so many places, and so much of the only column of the order: of times microseconds, of dates days.
    onward: and all before. known: arguments of which so many values, too. extremes: of which arguments the
    greatest of all before, or the least (true).
    """

    places: int = 0
    values: int = 0
    onward: bool = False
    known: tuple[Any, ...] = ()
    extremes: tuple[tuple[Any, bool], ...] = ()


def sight(functions: Sequence[Calling]) -> Sight | None:
    """None where some function sees all of a side, of which no sum or extreme is made, or it isn't known how
    far it sees by value.
    """
    if len({function.order for function in functions}) != 1 or not functions[0].order:
        return None
    places, values, known = (0, 0), (0, 0), []
    for function in functions:
        seen = _seen(function)
        if seen is None:
            return None
        if function.function in _BY_PLACE or function.frame.rows:
            places = _further(places, seen)
        else:
            values = _further(values, seen)
        if _passes_over(function):
            known.append(function.arguments[0])
            places = _further(places, (-1, 0))
    extremes = [(f.arguments[0], f.function == "min") for f in functions if is_extreme_so_far(f)]
    return Sight(
        sum(places),
        sum(values),
        any(map(is_running, functions)),
        tuple(dict.fromkeys(known)),
        tuple(dict.fromkeys(extremes)),
    )


def _further(far: tuple[int, int], seen: tuple[int, int]) -> tuple[int, int]:
    """How far before the own row, and behind it."""
    return max(far[0], *(-edge for edge in seen)), max(far[1], *seen)


def listed_of(functions: Sequence[Calling], of: Callable[[Any], object]) -> str:
    """What of a partition a step lists, in words. of: what an item of an order is of."""
    if leading(functions, of):
        return "partitions of which another row comes first"
    seen = sight(functions)
    if seen is None:
        return "touched partitions"
    return "rows from the first changed one on" if seen.onward else "rows near the changed ones"


def is_running(function: Calling) -> bool:
    """Whether it sees all before, and what lies further ahead needs not be listed."""
    if function.function in _NUMBERS or is_extreme_so_far(function):
        return True
    from_start = function.frame.lower is None and function.values is None
    return from_start and function.function in ("count", "sum", "avg")


def is_extreme_so_far(function: Calling) -> bool:
    """Whether it is the extreme of all before, of a type whose values are told apart by their order bits."""
    return (
        function.function in ("min", "max") and function.frame.lower is None and has_order_bits(function.type)
    )


def _passes_over(function: Calling) -> bool:
    """Whether it looks for a value as far as there is none."""
    return function.ignore_nulls and (function.function == "lead" or _end_of(function) is not None)


def _end_of(function: Calling) -> Edge:
    """The end of a frame that has no other, of which the function looks for the nearest value alone."""
    lower, upper = function.frame.lower, function.frame.upper
    if function.filtered or (lower is None) == (upper is None):
        return None
    looks_from_it = function.function == ("last" if lower is None else "first")
    return (upper if lower is None else lower) if looks_from_it else None


def _seen(function: Calling) -> tuple[int, int] | None:
    """The first and the last place, or value, that it sees, from the row's own; of a running one the last,
    of one that looks for the nearest value where it begins to.
    """
    if function.function == "lead":
        return (function.number, function.number)
    if function.function in _NUMBERS:
        return (0, 0)
    if function.function in _OF_PARTITIONS:
        return None
    lower, upper = function.frame.lower, function.frame.upper
    if is_running(function):
        lower = upper
    elif (end := _end_of(function)) is not None:
        lower = upper = end
    edges = _distance(lower), _distance(upper)
    return None if edges[0] is None or edges[1] is None else (edges[0], edges[1])


def _distance(edge: Edge) -> int | None:
    """From the row's own place, or value."""
    if not isinstance(edge, Call):
        return edge if isinstance(edge, int) else None
    _, amount = edge.arguments
    if not isinstance(amount, Literal):
        return None
    if edge.function == "timestamp_add_interval" and isinstance(amount.value, timedelta):
        # days are the zone's, which may be some hours longer, or leave one out
        slack = 2 * _DAY if abs(amount.value) >= _DAY else timedelta()
        return (amount.value + (slack if amount.value > timedelta() else -slack)) // _MICROSECOND
    is_whole = edge.function in ("add", "date_add") and pt.is_signed_integer(amount.type)
    return amount.value if is_whole and isinstance(amount.value, int) else None


# whatever their frame
_NUMBERS = frozenset({"row_number", "rank"})
_BY_PLACE = _NUMBERS | {"lead"}
_OF_PARTITIONS = frozenset({"dense_rank", "percent_rank", "cume_dist", "ntile"})
