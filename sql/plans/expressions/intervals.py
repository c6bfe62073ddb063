"""Constants that are intervals of the calendar."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.expressions.nodes import Literal

_DAY = 86_400_000_000
_MOST_DAYS = 2**63 // _DAY - 1


def day_time(literal: Literal) -> Literal:
    """A CalendarInterval as an interval of days to seconds, where that says the same: no months, and less
    than a day beside the days. (Of 25 hours that kind of interval makes a day of the calendar and an hour.)
    """
    value = literal.value
    if literal.type != CALENDAR_INTERVAL or not isinstance(value, tuple):
        return literal
    months, days, microseconds = value
    is_less = -_DAY < microseconds < _DAY and microseconds * days >= 0
    if months or not is_less or abs(days) > _MOST_DAYS:
        return literal
    return Literal(timedelta(days=days, microseconds=microseconds), pa.duration("us"))
