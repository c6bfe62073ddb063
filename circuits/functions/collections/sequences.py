"""SEQUENCE(start, stop, step): start, start + step, start + 2 step ... up to stop, which may be the last.

Months and days are added to the start on the calendar, times their number, as in Spark: a sequence of months
from January 31st has February 28th, then March 31st. One row of output numbers serves all rows at once.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import validity
from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, from_numbers, require, vector
from dbsp.circuits.expressions.vectors.spread import columnar
from dbsp.circuits.functions.collections.lists import Lists, all_of, list_array
from dbsp.circuits.functions.times.date_arithmetic import add_months_to_days, zone_of
from dbsp.circuits.functions.times.time_zones import DAY

_MOST = 2**31 - 15
_SHORTEST_MONTH, _SHORTEST_DAY = 28 * DAY, 22 * DAY // 24


def _refused(call: Call) -> str | None:
    if len(call.arguments) == 3 and call.arguments[2].type == CALENDAR_INTERVAL:
        return "an interval of both months and days; use INTERVAL DAY TO SECOND or YEAR TO MONTH"
    return None


@columnar("sequence", refuse=_refused)
def sequence(call: Call, start: pa.Array, stop: pa.Array, step: pa.Array | None = None) -> Value:
    """step: by default 1 (a day), or −1 where stop is below start."""
    given = [start, stop] if step is None else [start, stop, step]
    valid = all_of([validity(each) for each in given])
    data_type = call.type.value_type
    first, last = (vector(each).values.astype(np.int64) for each in given[:2])
    unit = DAY if pt.is_timestamp(data_type) else 1
    by = np.where(first <= last, unit, -unit) if step is None else vector(step).values.astype(np.int64)
    if step is not None and pt.is_temporal(data_type):
        if step.type == MONTHS:
            return _calendar(call, start, first, last, by, np.zeros_like(by), np.zeros_like(by), valid)
        days = np.sign(by) * (np.abs(by) // DAY)
        rest = by - days * DAY
        whole_days = pt.is_date(data_type) & (rest == 0)
        require(
            ~valid | ~(pt.is_date(data_type) & (days == 0)),
            "_LEGACY_ERROR_TEMP_3242",
            lambda row: "the step of a sequence of dates is at least a day",
        )
        if not (whole_days if pt.is_date(data_type) else days == 0)[valid].all():
            return _calendar(call, start, first, last, np.zeros_like(by), days, rest, valid)
        by = days if pt.is_date(data_type) else by
    elif step is None and pt.is_timestamp(data_type):
        return _calendar(call, start, first, last, np.zeros_like(by), by // DAY, np.zeros_like(by), valid)
    _check_bounds(first, last, by, valid)
    counts = np.where(valid, _count(first, last, by), 0)
    _check_size(counts)
    lists = Lists(pa.nulls(int(counts.sum())), counts, valid)
    values = first[lists.owner] + lists.within * by[lists.owner]
    return list_array(call.type, Lists(from_numbers(values, data_type), counts, valid))


def _count(first: Numbers, last: Numbers, by: Numbers) -> Numbers:
    """int64[n]: how many numbers there are from first to last; at most 2⁶³ − 1, of a span of 64 bits."""
    span = np.maximum(first, last).view(np.uint64) - np.minimum(first, last).view(np.uint64)
    steps = span // np.maximum(np.abs(by).view(np.uint64), np.uint64(1))
    return np.asarray(np.minimum(steps, np.uint64(2**63 - 2)).astype(np.int64) + 1)


def _check_bounds(first: Numbers, last: Numbers, by: Numbers, valid: Mask) -> None:
    good = ((by > 0) & (first <= last)) | ((by < 0) & (first >= last)) | ((by == 0) & (first == last))
    require(
        ~valid | good, "ILLEGAL_SEQUENCE_BOUNDARIES", lambda row: "a sequence's step leads away from its end"
    )


def _check_size(counts: Numbers) -> None:
    if len(counts) and (longest := int(counts.max())) > _MOST:
        row = int(np.argmax(counts))
        raise EvaluationError(
            "COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER", f"an array can't have {longest} elements", row
        )


def _calendar(
    call: Call,
    start: pa.Array,
    first: Numbers,
    last: Numbers,
    months: Numbers,
    days: Numbers,
    micros: Numbers,
    valid: Mask,
) -> Value:
    """Of dates or timestamps, by months, days and microseconds."""
    is_date = pt.is_date(start.type)
    zone = zone_of(call, pa.scalar(None, pa.timestamp("us")) if is_date else start)
    begin, end = (first * DAY, last * DAY) if is_date else (first, last)
    rough = micros + months * (31 * DAY) + days * DAY  # as Spark estimates
    _check_bounds(begin, end, rough, valid)
    least = np.abs(months) * _SHORTEST_MONTH + np.abs(days) * _SHORTEST_DAY + np.abs(micros)
    most = np.where(valid, np.abs(end - begin) // np.maximum(least, 1) + 2, 0)
    most = np.where(valid & (rough == 0), 1, most)
    _check_size(most)
    lists = Lists(pa.nulls(int(most.sum())), most, valid)
    owner, nth = lists.owner, lists.within
    local_day, time = np.divmod(zone.to_local(begin)[owner], DAY)
    moved = add_months_to_days(local_day, nth * months[owner]) + nth * days[owner]
    at = zone.moved(begin[owner], moved * DAY + time) + nth * micros[owner]
    inside = np.where(rough[owner] >= 0, at <= end[owner], at >= end[owner])
    values = from_numbers(at // DAY if is_date else at, call.type.value_type)
    kept = Lists(values, most, valid).chosen(inside)
    return list_array(call.type, kept)
