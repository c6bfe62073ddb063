"""CalendarInterval: months, days and microseconds side by side, of which none makes up another.

Spark's INTERVAL without parts, which `make_interval` gives and a string is cast to: 32, 32 and 64 bits. The
parts have names that no struct of a user's has, to be told from it. What others are given instead is Arrow's
interval of months, days and nanoseconds, or text that Spark casts back: see `outside.py`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import child_arrays, validity
from dbsp.circuits.columns.forms.months import CALENDAR, PARTS

CALENDAR_INTERVAL = pa.struct(
    [
        ("calendar months", pa.int32()),
        ("calendar days", pa.int32()),
        ("calendar microseconds", pa.int64()),
    ]
)
_MOST = (2**63 - 1) // 1000  # microseconds, of which Arrow has nanoseconds
_HOUR, _MINUTE, _SECOND = 3_600_000_000, 60_000_000, 1_000_000
# a unit: the part that it counts, and how many of it
_UNITS = {"year": (0, 12), "month": (0, 1), "week": (1, 7), "day": (1, 1), "hour": (2, _HOUR)}
_UNITS |= {"minute": (2, _MINUTE), "second": (2, _SECOND), "millisecond": (2, 1000), "microsecond": (2, 1)}
_TERM = re.compile(
    r"(?P<sign>[+-]?)\s*(?P<whole>[0-9]*)(?P<fraction>\.[0-9]*)?\s+(?P<unit>[a-z]+)(?:\s+|$)", re.ASCII
)


def holds_calendar(data_type: pa.DataType) -> bool:
    """Whether the type, or one inside of it, is CALENDAR_INTERVAL."""
    if data_type == CALENDAR_INTERVAL or not pa.types.is_nested(data_type):
        return bool(data_type == CALENDAR_INTERVAL)
    return any(holds_calendar(data_type.field(i).type) for i in range(data_type.num_fields))


def in_arrow(intervals: pa.Array) -> pa.Array:
    """As CALENDAR. Raises ValueError for more than 292 years of time, which has none: Spark fails, too."""
    valid, (months, days, micros) = validity(intervals), _parts(intervals)
    if (valid & ((micros > _MOST) | (micros < -_MOST))).any():
        raise ValueError("an INTERVAL of more than 292 years of time has no form in Arrow; CAST it AS STRING")
    made = np.zeros(len(intervals), PARTS)
    made["months"], made["days"] = months, days
    made["nanoseconds"] = np.where(valid, micros, 0) * 1000
    return pa.Array.from_buffers(CALENDAR, len(intervals), [pa.array(valid).buffers()[1], pa.py_buffer(made)])


def from_arrow(given: pa.Array) -> pa.Array:
    """CALENDAR as CALENDAR_INTERVAL; what is below a microsecond is dropped, as Spark does."""
    parts = np.frombuffer(given.buffers()[1] or b"", PARTS, len(given), given.offset * PARTS.itemsize)
    columns = [parts["months"], parts["days"], parts["nanoseconds"] // 1000]
    arrays = [pa.array(np.ascontiguousarray(column)) for column in columns]
    return pa.StructArray.from_arrays(arrays, fields=list(CALENDAR_INTERVAL), mask=pa.array(~validity(given)))


def from_texts(given: pa.Array) -> pa.Array:
    """NULL of what is none; each distinct text is read once."""
    encoded = given.dictionary_encode()
    values = [None if text is None else read(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(values, CALENDAR_INTERVAL).take(encoded.indices)


@lru_cache(maxsize=1 << 12)
def read(text: str) -> tuple[int, int, int] | None:
    """Months, days, microseconds; None of what is no interval."""
    rest = text.strip("".join(map(chr, range(33))) + "\x7f").lower()
    if rest.startswith("interval"):
        if not rest[8:9].isspace():
            return None
        rest = rest[8:].lstrip()
    total, at = [0, 0, 0], 0
    while at < len(rest):
        term = _TERM.match(rest, at)
        unit = None if term is None else _UNITS.get(term["unit"].removesuffix("s"))
        if term is None or unit is None or int(term["whole"] or 0) >= 2**63:
            return None
        fraction = (term["fraction"] or ".")[1:]
        if term["fraction"] is not None and (unit != _UNITS["second"] or len(fraction) > 9):
            return None
        if not term["whole"] and not fraction:
            return None
        at = term.end()
        part, size = unit
        count = int(term["whole"] or 0) * size + int(fraction[:6].ljust(6, "0"))
        total[part] += -count if term["sign"] == "-" else count
        limit = 2 ** (63 if part == 2 else 31)
        if not -limit <= total[part] < limit:
            return None
    return (total[0], total[1], total[2]) if at else None


def texts(intervals: pa.Array) -> pa.StringArray:
    """`1 years 2 months -3 days 4.5 seconds`; each distinct interval is spelled once."""
    distinct, places = np.unique(np.stack(_parts(intervals), axis=1), axis=0, return_inverse=True)
    spelt = pa.array([spelled(*row) for row in distinct.tolist()], pa.string())
    return spelt.take(pa.array(places.ravel(), mask=~validity(intervals)))


def _parts(intervals: pa.Array) -> list[np.ndarray]:
    return [
        child.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        for child in child_arrays(intervals)
    ]


def spelled(months: int, days: int, micros: int) -> str:
    """Each part that isn't 0, with its sign."""
    years, month = _divided(months, 12)
    hours, rest = _divided(micros, _HOUR)
    minutes, rest = _divided(rest, _MINUTE)
    named = ((years, "years"), (month, "months"), (days, "days"), (hours, "hours"), (minutes, "minutes"))
    shown = [f"{count} {name}" for count, name in named if count]
    if rest:
        text = f"{Decimal(rest).scaleb(-6):f}"
        shown.append(f"{text.rstrip('0').rstrip('.')} seconds")
    return " ".join(shown) or "0 seconds"


def _divided(value: int, unit: int) -> tuple[int, int]:
    """Towards zero."""
    quotient, rest = divmod(abs(value), unit)
    return (-quotient, -rest) if value < 0 else (quotient, rest)
