"""CAST among dates, timestamps, numbers and strings, in the session's time zone.

A TIMESTAMP is an instant, microseconds since 1970 UTC; what it prints as, and on which date it lies, is what
the clocks of the session's zone show. A TIMESTAMP_NTZ is what the clocks show.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.hashing import byte_ranges
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.vectors import decimals
from dbsp.circuits.expressions.vectors.cursor import Cursor
from dbsp.circuits.expressions.vectors.decimals import unscaled
from dbsp.circuits.expressions.vectors.modes import checked
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, Vector, both, result, vector
from dbsp.circuits.expressions.vectors.plain import read_plain
from dbsp.circuits.functions.casts.numbers import cast_result, float_to_integer, presence, to_scale
from dbsp.circuits.functions.times.dates import local_micros, month_lengths, month_starts
from dbsp.circuits.functions.times.time_zones import DAY, SECOND, TimeZone, time_zone

_INVALID = "CAST_INVALID_INPUT"
_LAST_DAY = (2**63 - 1) // DAY  # of those all of whose microseconds an int64 holds
_YEAR_10000, _YEAR_0 = 2932897, -719528


def _zone(call: Call) -> TimeZone:
    return time_zone(str(call.option("timeZoneId", "UTC")))


# --- among dates and timestamps


def timestamp_to_timestamp(call: Call, source: pa.Array) -> pa.Array:
    """Between the instant and what the clocks show."""
    x = vector(source)
    zone = _zone(call)
    return result(call, zone.to_utc(x.values) if source.type.tz is None else zone.to_local(x.values), x)


def timestamp_to_date(call: Call, source: pa.Array) -> pa.Array:
    local, x = local_micros(call, source)
    return result(call, local // DAY, x)


def date_to_timestamp(call: Call, source: pa.Array) -> pa.Array:
    """The day's first instant."""
    x = vector(source)
    good = np.abs(x.values.astype(np.int64)) <= _LAST_DAY
    days = np.where(good, x.values, 0).astype(np.int64)
    values = days * DAY if call.type.tz is None else _zone(call).start_of_day(days)
    return cast_result(call, values, good, "DATETIME_OVERFLOW", source, x)


# --- numbers


def timestamp_to_integer(call: Call, source: pa.Array) -> pa.Array:
    """Whole seconds, rounded down."""
    x = vector(source)
    seconds = x.values // SECOND
    limits = np.iinfo(call.type.to_pandas_dtype())
    good = np.asarray((seconds >= limits.min) & (seconds <= limits.max))
    return cast_result(call, seconds, good, "CAST_OVERFLOW", source, x)


def timestamp_to_float(call: Call, source: pa.Array) -> pa.Array:
    """Seconds with a fraction."""
    x = vector(source)
    return result(call, (x.values / 1e6).astype(call.type.to_pandas_dtype()), x)


def timestamp_to_decimal(call: Call, source: pa.Array) -> pa.Array:
    """Seconds with a fraction, exactly."""
    x = vector(source)
    return to_scale(call, x.values, 6, source, x)


def integer_to_timestamp(call: Call, source: pa.Array) -> pa.Array:
    """Seconds since 1970, the last representable instant for more."""
    x = vector(source)
    most = (2**63 - 1) // SECOND
    seconds = x.values.astype(np.int64)
    micros = np.where(
        seconds > most, 2**63 - 1, np.where(seconds < -most, -(2**63), np.clip(seconds, -most, most) * SECOND)
    )
    return result(call, micros, x)


def float_to_timestamp(call: Call, source: pa.Array) -> pa.Array:
    """Seconds since 1970; microseconds are cut off."""
    x = vector(source)
    finite = np.isfinite(x.values)
    valid = both(x.valid, checked(call, finite, _INVALID, lambda row: f"{source[row]} is no time.", x))
    with np.errstate(all="ignore"):
        micros = pa.array(
            np.where(finite, x.values.astype(np.float64) * 1e6, 0.0), mask=None if valid is None else ~valid
        )
    as_integer = Call(call.function, call.arguments, pa.int64(), options=call.options)
    return float_to_integer(as_integer, micros).view(call.type)


def decimal_to_timestamp(call: Call, source: pa.Array) -> pa.Array:
    """Seconds since 1970; microseconds are cut off, and so are high bits."""
    x = unscaled(source)
    scaled = decimals.multiply(x.values, decimals.power_of_ten(max(6 - source.type.scale, 0)))
    micros, _ = decimals.divide_truncated(scaled, decimals.power_of_ten(max(source.type.scale - 6, 0)))
    if micros.dtype == object:
        micros = ((micros + 2**63) % 2**64 - 2**63).astype(np.int64)
    return result(call, micros, x)


# --- to strings


def date_to_string(call: Call, source: pa.Array) -> pa.Array:
    x = vector(source)
    return _with_nulls(_date_text(x.values), x)


def timestamp_to_string(call: Call, source: pa.Array) -> pa.Array:
    """yyyy-MM-dd HH:mm:ss, and the fraction without its trailing zeros."""
    local, x = local_micros(call, source)
    days = local // DAY
    if len(days) and (days.max() >= _YEAR_10000 or days.min() < _YEAR_0):
        time = pc.utf8_slice_codeunits(_clock_text(local - days * DAY), 10)
        return _with_nulls(pc.binary_join_element_wise(_date_text(days), time, ""), x)
    return _with_nulls(_clock_text(local), x)


def _clock_text(local: Numbers) -> pa.Array:
    """For the years 0 to 9999."""
    if (local % SECOND == 0).all():
        return pc.cast(pa.array(local // SECOND).view(pa.timestamp("s")), pa.string())
    text = pc.cast(pa.array(local).view(pa.timestamp("us")), pa.string())
    return pc.ascii_rtrim(pc.ascii_rtrim(text, characters="0"), characters=".")


def _date_text(days: Numbers) -> pa.Array:
    """Years after 9999 have a sign +, those before 0 a sign −."""
    usual = (days >= _YEAR_0) & (days < _YEAR_10000)
    text = pc.cast(pa.array(np.where(usual, days, 0).astype(np.int32)).view(pa.date32()), pa.string())
    if usual.all():
        return text
    rows = days[~usual].astype(np.int64)
    months = rows.astype("M8[D]").astype("M8[M]").astype(np.int64)
    year = months // 12 + 1970
    parts = [
        pc.utf8_lpad(pc.cast(pa.array(part), pa.string()), width, "0")
        for part, width in ((np.abs(year), 4), (months % 12 + 1, 2), (rows - month_starts(months) + 1, 2))
    ]
    signs = pa.array(np.where(year < 0, "-", "+"))
    unusual = pc.binary_join_element_wise(signs, pc.binary_join_element_wise(*parts, "-"), "")
    return pc.replace_with_mask(text, pa.array(~usual), unusual)


def _with_nulls(text: pa.Array, x: Vector) -> pa.Array:
    return text if x.valid is None else pc.if_else(pa.array(x.valid), text, pa.scalar(None, pa.string()))


# --- from strings


class _Days(NamedTuple):
    days: Numbers
    good: Mask
    has_day: Mask


def _read_days(text: Cursor, max_year_digits: int) -> _Days:
    """[+-]yyyy[-[m]m[-[d]d]]"""
    sign = text.take(b"+-")
    year, year_digits = text.digits()
    good = (year_digits >= 4) & (year_digits <= max_year_digits)
    dash = text.take(b"-", where=good) > 0
    month, month_digits = text.digits(where=dash)
    good &= ~dash | ((month_digits > 0) & (month_digits <= 2))
    has_day = text.take(b"-", where=dash & good) > 0
    day, day_digits = text.digits(where=has_day)
    good &= ~has_day | ((day_digits > 0) & (day_digits <= 2))
    month, day = np.where(dash, month, 1), np.where(has_day, day, 1)
    good &= (month >= 1) & (month <= 12)
    year = np.where(sign == ord("-"), -year, year)
    months = np.where(good, (year - 1970) * 12 + month - 1, 0)
    good &= (day >= 1) & (day <= month_lengths(months))
    return _Days(month_starts(months) + day - 1, good, has_day)


def string_to_date(call: Call, source: pa.Array) -> pa.Array:
    """yyyy, yyyy-[m]m or yyyy-[m]m-[d]d, the last with anything after a blank or T."""
    x = presence(source)
    days, good = _iso_dates(source)
    if days is None:
        text = Cursor(source)
        text.trim()
        days, good, has_day = _read_days(text, max_year_digits=7)
        good &= text.at_end | (has_day & (text.take(b" T") > 0))
        good &= np.abs(days) < 2**31
    return cast_result(call, np.where(good, days, 0), good, _INVALID, source, x)


def _iso_dates(source: pa.Array) -> tuple[Numbers | None, Mask]:
    """If Arrow reads all of them, as years of four digits, it means the same and is faster."""
    good = np.ones(len(source), dtype=np.bool_)
    length = pc.min_max(pc.binary_length(source))
    if length["min"].as_py() == length["max"].as_py() == 10:
        days = read_plain(source, pa.date32(), b"0123456789-")
        return None if days is None else vector(days).values, good
    return None, good


def string_to_timestamp(call: Call, source: pa.Array) -> pa.Array:
    """A date as in `string_to_date`, then maybe [T| ]h[h][:m[m][:s[s][.fraction][zone]]].

    Digits after the microseconds are cut off. A time without a date, which Spark puts on the day of the
    query, has no value here. For TIMESTAMP_NTZ the zone is read and ignored.
    """
    x = presence(source)
    in_utc = bool(pc.all(pc.ends_with(source, "Z")).as_py())
    local = _iso_timestamps(pc.utf8_slice_codeunits(source, 0, -1) if in_utc else source)
    if local is not None:
        good = np.ones(len(local), dtype=np.bool_)
        utc = local if call.type.tz is None or in_utc else _zone(call).to_utc(local)
        return cast_result(call, utc, good, _INVALID, source, x)
    text = Cursor(source)
    text.trim()
    days, good, has_day = _read_days(text, max_year_digits=6)
    good &= np.abs(days) <= _LAST_DAY + 1
    has_hour = (text.take(b" T", where=has_day & good) > 0) & good
    hour, has_minute = _two_digits(text, has_hour, good, 24)
    minute, has_second = _two_digits(text, has_minute, good, 60)
    second, _ = _two_digits(text, has_second, good, 60, separator=b"")
    point = text.take(b".", where=has_second) > 0
    micros = _fraction(text, point)
    at_end = text.at_end
    zoned = np.asarray(good & has_second & ~at_end)
    good &= at_end | zoned
    local = np.where(good, days * DAY + ((hour * 60 + minute) * 60 + second) * SECOND + micros, 0)
    good &= (local >= 0) == (days >= 0)
    utc = local if call.type.tz is None else _zone(call).to_utc(local)
    _apply_zones(text, np.flatnonzero(zoned), local, utc, good, keep_local=call.type.tz is None)
    good &= (np.abs(local) < 2**62) | ((local < 0) == (utc < 0))  # beyond the last instant it wraps around
    return cast_result(call, utc, good, _INVALID, source, x)


def _iso_timestamps(source: pa.Array) -> Numbers | None:
    """Local microseconds, if all are yyyy-MM-dd[ T]HH:mm:ss with at most six digits of fraction."""
    length = pc.min_max(pc.binary_length(source))
    shortest, longest = length["min"].as_py(), length["max"].as_py()
    if shortest is None or shortest < 19 or longest > 26 or shortest == 20:
        return None
    # Arrow reads HHmmss too, Spark doesn't
    starts, lengths, data = byte_ranges(source)
    if not (data[starts[lengths > 0] + 13] == ord(":")).all():
        return None
    micros = read_plain(source, pa.timestamp("us"), b"0123456789-:. T")
    return None if micros is None else vector(micros).values


def _two_digits(
    text: Cursor, there: Mask, good: Mask, limit: int, separator: bytes = b":"
) -> tuple[Numbers, Mask]:
    """(one or two digits below `limit`, whether the separator follows); makes `good` false where not so."""
    value, count = text.digits(where=there)
    good &= ~there | ((count > 0) & (count <= 2) & (value < limit))
    if not separator:
        return value, there
    return value, np.asarray((text.take(separator, where=there & good) > 0) & good)


def _fraction(text: Cursor, there: Mask) -> Numbers:
    """Microseconds of the digits after the point."""
    value, count = text.digits(where=there, keep=6)
    return np.asarray(value * 10 ** (6 - np.minimum(count, 6)))


def _apply_zones(
    text: Cursor, rows: Numbers, local: Numbers, utc: Numbers, good: Mask, keep_local: bool
) -> None:
    """Redo the rows that name their own zone; there are few different names."""
    names = text.rest(rows).dictionary_encode()
    codes = names.indices.to_numpy()
    for code, name in enumerate(names.dictionary.to_pylist()):
        chosen = rows[codes == code]
        zone = _zone_named(name.strip())
        if zone is None:
            good[chosen] = False
        elif not keep_local:
            utc[chosen] = zone.to_utc(local[chosen])


def _zone_named(name: str) -> TimeZone | None:
    """Spark also takes +h:mm and +hh:m, which java.time doesn't."""
    if name == "z":  # only the great letter is one
        return None
    name = re.sub(r"([+-])(\d):", r"\g<1>0\2:", name, count=1)
    name = re.sub(r"([+-])(\d\d):(\d)$", r"\1\2:0\3", name)
    try:
        return time_zone(name)
    except EvaluationError:
        return None
