"""How far beyond its row a function over a window looks, in an order of the partition.

    row_number, rank, dense_rank, lag                 no further
    lead(x, n), frames that end n ROWS FOLLOWING      n rows
    frames that end at the current row by RANGE       to the row's last peer

What is ordered the other way round looks as far as it looks back. Which of its peers come first there isn't
said by the order, so it may look at all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow.types as pt

from dbsp.circuits.expressions.partial import can_fail
from dbsp.sql.plans.calls import SortOrder, WindowCall

RANKINGS = ("row_number", "rank", "dense_rank")
# what a frame of rows of the partition is enough for, and no value of it makes fail
_OF_FRAMES = ("first", "last", "nth_value", "count", "min", "max", "max_by", "min_by", "collect_list")
_SUMS = ("sum", "avg")
# digits that a DECIMAL gets by being summed, so that no number of rows is too much for it
_DIGITS, _MOST_DIGITS = 10, 38


@dataclass(frozen=True, slots=True)
class Beyond:
    """rows: how many further ones. peers: whether all that are the row's peers, or one of those rows'."""

    rows: int
    peers: bool


def furthest_of(calls: Sequence[WindowCall], order: Sequence[SortOrder]) -> Beyond | None:
    """What is enough for each of them; see `beyond`."""
    each = [beyond(call, order) for call in calls]
    known = [one for one in each if one is not None]
    if len(known) < len(each):
        return None
    return Beyond(max(one.rows for one in known), any(one.peers for one in known))


def beyond(call: WindowCall, order: Sequence[SortOrder]) -> Beyond | None:
    """None: to the partition's end, for all that is known; or it may fail for a row that is further away."""
    if call.order == order:
        forward = True
    elif call.order == _reversed(order):
        forward = False
    else:
        return None
    if call.function in RANKINGS:
        return Beyond(0, False) if forward else None
    if any(map(can_fail, call.expressions)):
        return None
    if call.function == "lead":
        rows = call.number if forward else -call.number
        return None if rows > 0 and call.ignore_nulls else Beyond(max(rows, 0), not forward)
    edge = call.frame.upper if forward else call.frame.lower
    if not isinstance(edge, int) or not _is_total(call):
        return None
    if not call.frame.rows:
        return Beyond(0, True)
    return Beyond(max(edge if forward else -edge, 0), not forward)


def _reversed(order: Sequence[SortOrder]) -> tuple[SortOrder, ...]:
    return tuple(SortOrder(by.expression, not by.descending, not by.nulls_last) for by in order)


def _is_total(call: WindowCall) -> bool:
    """Whether it has a value of any frame."""
    if call.values is not None or call.function not in (*_OF_FRAMES, *_SUMS):
        return False
    if call.function in _OF_FRAMES or call.lenient:
        return True
    of = call.arguments[0].type
    if pt.is_decimal(of):
        return bool(of.precision + _DIGITS <= _MOST_DIGITS)
    return bool(pt.is_floating(of) or (pt.is_integer(of) and (call.function == "avg" or of.bit_width < 64)))
