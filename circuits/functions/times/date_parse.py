"""TO_TIMESTAMP, UNIX_TIMESTAMP and their kin: text as timestamps by a datetime pattern.

A pattern is one regular expression with a group per field, matched against the whole column; then the
fields are numbers and a date is arithmetic. Missing fields are those of 1970-01-01 00:00:00. Matching
ignores case and is strict: 30 February is not a date.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, Vector, require, result, strict, vector
from dbsp.circuits.functions.times.date_format import MONTHS
from dbsp.circuits.functions.times.date_parts import valid_date
from dbsp.circuits.functions.times.date_patterns import Field, read_pattern, refuse_parse
from dbsp.circuits.functions.times.time_zones import DAY, SECOND, time_zone

_HOUR, _MINUTE = 3600 * SECOND, 60 * SECOND


def _refuse(call: Call) -> str | None:
    pattern = call.arguments[1]
    if not pa.types.is_string(call.arguments[0].type):
        return None
    if not isinstance(pattern, Literal):
        return "a datetime pattern that is not a constant"
    return None if pattern.value is None else refuse_parse(str(pattern.value))


@strict("get_timestamp", refuse=_refuse)
def get_timestamp(call: Call, value: pa.Array, pattern: Value) -> Value:
    """Of text. A date or timestamp needs no pattern, and keeps its microseconds."""
    zone = time_zone(str(call.option("timeZoneId", "UTC")))
    if not pa.types.is_string(value.type):
        return _timed(call, value, zone.start_of_day, lambda micros: micros)
    local, good, source = _parse(call, value, pattern.as_py())
    return result(call, local if call.type.tz is None else zone.to_utc(local), source, valid=good)


def _timed(
    call: Call,
    value: pa.Array,
    of_days: Callable[[Numbers], Numbers],
    of_micros: Callable[[Numbers], Numbers],
) -> Value:
    source = vector(value)
    made = of_days(source.values) if pa.types.is_date(value.type) else of_micros(source.values)
    return result(call, made, source)


def _seconds(call: Call, value: pa.Array, pattern: Value) -> Value:
    """Seconds since 1970 UTC of text, a date or a timestamp (of TIMESTAMP_NTZ as if its clock were UTC's)."""
    zone = time_zone(str(call.option("timeZoneId", "UTC")))
    if pa.types.is_string(value.type):
        local, good, source = _parse(call, value, pattern.as_py())
        return result(call, _whole_seconds(zone.to_utc(local)), source, valid=good)
    return _timed(call, value, lambda days: zone.start_of_day(days) // SECOND, _whole_seconds)


def _whole_seconds(micros: Numbers) -> Numbers:
    """Towards zero, as Spark divides here (UNIX_SECONDS rounds down)."""
    seconds: Numbers = np.sign(micros) * (np.abs(micros) // SECOND)
    return seconds


strict("unix_timestamp", refuse=_refuse)(_seconds)
strict("to_unix_timestamp", refuse=_refuse)(_seconds)


def _parse(call: Call, text: pa.Array, pattern: str) -> tuple[Numbers, Mask, Vector]:
    """Local microseconds, which rows are timestamps, and the validity of the text."""
    fields = read_pattern(pattern)
    assert not isinstance(fields, str), fields
    valid = text.is_valid().to_numpy(zero_copy_only=False) if text.null_count else None
    source = Vector(np.zeros(len(text), np.int64), valid, is_constant=False)
    found = pc.extract_regex(text, _regex(fields))
    good: Mask = found.is_valid().to_numpy(zero_copy_only=False)
    numbers = {
        field.letter: _number(field, found.field(f"f{at}"), good)
        for at, field in enumerate(fields)
        if field.letter
    }
    zero = np.zeros(len(text), np.int64)
    month = numbers.get("M", numbers.get("L", zero + 1))
    is_date, days = valid_date(numbers.get("y", zero + 1970), month, numbers.get("d", zero + 1))
    hour, hour_fits = _hour(numbers, zero)
    minute, second = numbers.get("m", zero), numbers.get("s", zero)
    good = good & is_date & hour_fits & (minute < 60) & (second < 60) & (np.abs(days) < 2**63 // DAY - 1)
    if call.option("failOnError", True):
        require(
            good,
            "CANNOT_PARSE_TIMESTAMP",
            lambda row: f"'{text[row]}' is not of the form '{pattern}'",
            source,
        )
    fraction = numbers.get("S", zero)
    micros = np.where(good, days, 0) * DAY + hour * _HOUR + minute * _MINUTE + second * SECOND + fraction
    return np.where(good, micros, 0), good, source


def _regex(fields: tuple[Field, ...]) -> str:
    pieces = []
    for at, field in enumerate(fields):
        pieces.append(f"(?P<f{at}>{_group(field)})" if field.letter else re.escape(field.text))
    # RE2 wants at least one group
    return r"(?i)\A(?P<whole>" + "".join(pieces) + r")\z"


def _group(field: Field) -> str:
    count = field.count
    match field.letter:
        case "y" if count == 2:
            return r"\d{2}"
        case "y" if count < 4:
            return rf"-?\d{{{count},9}}"
        case "y":
            return rf"\d{{{count}}}|\+\d{{{count + 1},9}}|-\d{{{count},9}}"
        case "M" | "L" if count > 2:
            return "|".join(name[:3] if count == 3 else name for name in MONTHS)
        case "a":
            return "AM|PM"
        case "S":
            return rf"\d{{1,{count}}}"
    return r"\d{2}" if count == 2 else r"\d{1,18}"


def _number(field: Field, text: pa.Array, good: Mask) -> Numbers:
    """The value of a field; anything where the row isn't good."""
    filled = pc.if_else(pa.array(good), text, "0")
    if field.letter == "a":
        return vector(pc.equal(pc.ascii_upper(filled), "PM")).values.astype(np.int64)
    if field.letter in "ML" and field.count > 2:
        table = pa.array([(name[:3] if field.count == 3 else name).lower() for name in MONTHS])
        return vector(pc.index_in(pc.ascii_lower(filled), table)).values.astype(np.int64) + 1
    if field.letter == "S":
        filled = pc.utf8_slice_codeunits(pc.utf8_rpad(filled, 6, "0"), 0, 6)
    numbers: Numbers = pc.utf8_ltrim(filled, "+").cast(pa.int64()).to_numpy()
    return numbers + 2000 if field.letter == "y" and field.count == 2 else numbers


def _hour(numbers: dict[str, Numbers], zero: Numbers) -> tuple[Numbers, Mask]:
    """Hour of the day from H, k, or h and K with a (AM where it is missing)."""
    if "k" in numbers:
        return numbers["k"] % 24, (numbers["k"] >= 1) & (numbers["k"] <= 24)
    half = 12 * numbers.get("a", zero)
    if "h" in numbers:
        return numbers["h"] % 12 + half, (numbers["h"] >= 1) & (numbers["h"] <= 12)
    if "K" in numbers:
        return numbers["K"] % 12 + half, numbers["K"] < 12
    hour = numbers.get("H", zero)
    return hour, hour < 24
