"""TO_TIMESTAMP, UNIX_TIMESTAMP and their kin: text as timestamps by a datetime pattern.

A pattern is one regular expression with a group per field, matched against the whole column; then the
fields are numbers and a date is arithmetic. Missing fields are those of 1970-01-01 00:00:00. Matching
ignores case and is strict: 30 February is not a date. An offset in the text says the instant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Kernel, Value
from dbsp.circuits.expressions.vectors.by_value import by_value
from dbsp.circuits.expressions.vectors.numbers import Mask, Numbers, Vector, require, result, strict, vector
from dbsp.circuits.functions.times.date_format import MONTHS
from dbsp.circuits.functions.times.date_parts import valid_date
from dbsp.circuits.functions.times.date_patterns import (
    OFFSETS,
    Field,
    Optional,
    Part,
    check_parse,
    read_pattern,
    refuse_parse,
    sections,
)
from dbsp.circuits.functions.times.dates import years
from dbsp.circuits.functions.times.time_zones import DAY, SECOND, TimeZone, time_zone

_HOUR, _MINUTE = 3600 * SECOND, 60 * SECOND


def _refuse(call: Call) -> str | None:
    pattern = call.arguments[1]
    if not pa.types.is_string(call.arguments[0].type):
        return None
    if not isinstance(pattern, Literal) or pattern.value is None:
        return None
    return refuse_parse(str(pattern.value))


def _of_text(run: Kernel) -> Kernel:
    """Patterns are for text: a date or timestamp is what it is, whatever pattern stands beside it."""
    by_pattern = by_value(1, check_parse)(run)

    def whole(call: Call, value: pa.Array, pattern: Value) -> Value:
        return (by_pattern if pa.types.is_string(value.type) else run)(call, value, pattern)

    return whole


@strict("get_timestamp", refuse=_refuse)
@_of_text
def get_timestamp(call: Call, value: pa.Array, pattern: Value) -> Value:
    """Of text. A date or timestamp needs no pattern, and keeps its microseconds."""
    zone = time_zone(str(call.option("timeZoneId", "UTC")))
    if not pa.types.is_string(value.type):
        return _timed(call, value, zone.start_of_day, lambda micros: micros)
    parsed = _parse(call, value, pattern.as_py())
    made = parsed.local if call.type.tz is None else parsed.instants(zone)
    return result(call, made, parsed.source, valid=parsed.good)


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
        parsed = _parse(call, value, pattern.as_py())
        return result(call, _whole_seconds(parsed.instants(zone)), parsed.source, valid=parsed.good)
    return _timed(call, value, lambda days: zone.start_of_day(days) // SECOND, _whole_seconds)


def _whole_seconds(micros: Numbers) -> Numbers:
    """Towards zero, as Spark divides here (UNIX_SECONDS rounds down)."""
    seconds: Numbers = np.sign(micros) * (np.abs(micros) // SECOND)
    return seconds


strict("unix_timestamp", refuse=_refuse)(_of_text(_seconds))
strict("to_unix_timestamp", refuse=_refuse)(_of_text(_seconds))


@dataclass(frozen=True)
class _Parsed:
    """local: microseconds, of the rows that are good. offset: seconds that the text gives, where it does."""

    local: Numbers
    good: Mask
    source: Vector
    offset: Numbers | None = None
    has_offset: Mask | None = None

    def instants(self, zone: TimeZone) -> Numbers:
        local = zone.to_utc(self.local)
        if self.offset is None or self.has_offset is None:
            return local
        return np.where(self.has_offset, self.local - self.offset * SECOND, local)


def _parse(call: Call, text: pa.Array, pattern: str) -> _Parsed:
    fields = read_pattern(pattern)
    assert not isinstance(fields, str), fields
    valid = text.is_valid().to_numpy(zero_copy_only=False) if text.null_count else None
    source = Vector(np.zeros(len(text), np.int64), valid, is_constant=False)
    if any(field.bracket for field in fields):
        good, rest, texts = _sections(sections(fields), text)
        good = good & vector(pc.fill_null(pc.equal(rest, ""), False)).values.astype(np.bool_)
    else:
        good, texts = _extracted(fields, text, r"\z")
    numbers = {letter: _filled(*found, good) for letter, found in texts.items()}
    zero = np.zeros(len(text), np.int64)
    year, month = numbers.get("y", zero + 1970), numbers.get("M", numbers.get("L", zero + 1))
    is_date, days = valid_date(year, month, numbers.get("d", zero + 1))
    if "D" in numbers:
        of_year = numbers["D"]
        days = days + of_year - 1
        is_date = is_date & (of_year >= 1) & (years(days) == year)
    hour, hour_fits = _hour(numbers, zero)
    minute, second = numbers.get("m", zero), numbers.get("s", zero)
    good = good & is_date & hour_fits & (minute < 60) & (second < 60) & (np.abs(days) < 2**63 // DAY - 1)
    offset = next((numbers[letter] for letter in OFFSETS if letter in numbers), None)
    if offset is not None:
        good = good & (np.abs(offset) <= 18 * 3600)
    if call.option("failOnError", True):
        require(
            good,
            "CANNOT_PARSE_TIMESTAMP",
            lambda row: f"'{text[row]}' is not of the form '{pattern}'",
            source,
        )
    fraction = numbers.get("S", zero)
    micros = np.where(good, days, 0) * DAY + hour * _HOUR + minute * _MINUTE + second * SECOND + fraction
    local = np.where(good, micros, 0)
    if offset is None:
        return _Parsed(local, good, source)
    present = next(found for letter, (_, found) in texts.items() if letter in OFFSETS)
    return _Parsed(local, good, source, offset, present.is_valid().to_numpy(zero_copy_only=False))


_Texts = dict[str, tuple[Field, pa.Array]]  # by letter: the field, and its text, NULL where it has none


def _extracted(fields: Sequence[Field], text: pa.Array, end: str) -> tuple[Mask, _Texts]:
    """Which texts the fields match, and theirs. end: of the regular expression."""
    found = pc.extract_regex(text, _regex(fields, end))
    good: Mask = found.is_valid().to_numpy(zero_copy_only=False)
    texts = {field.letter: (field, found.field(f"f{i}")) for i, field in enumerate(fields) if field.letter}
    if end != r"\z":
        texts["rest"] = (Field("", 0), found.field("rest"))
    return good, texts


def _sections(parts: Sequence[Part], text: pa.Array) -> tuple[Mask, pa.Array, _Texts]:
    """As java.time does: an optional section that matches is taken, and what follows never undoes it.

    Which texts match, what is left of them, the fields' texts.
    """
    good: Mask = text.is_valid().to_numpy(zero_copy_only=False)
    rest = text
    texts: _Texts = {}
    for is_section, run in groupby(parts, lambda part: isinstance(part, Optional)):
        if not is_section:
            fields = [part for part in run if isinstance(part, Field)]
            matches, found = _extracted(fields, rest, _rest(fields))
            rest = found.pop("rest")[1]
            good = good & matches
            texts |= found
            continue
        for part in run:
            assert isinstance(part, Optional)
            matches, after, found = _sections(part.parts, rest)
            taken = pa.array(matches)
            rest = pc.if_else(taken, after, rest)
            null = pa.scalar(None, pa.string())
            texts |= {name: (field, pc.if_else(taken, one, null)) for name, (field, one) in found.items()}
    return good, rest, texts


def _rest(fields: Sequence[Field]) -> str:
    """What may follow: no digit, where a year stands before numbers of fixed width: it would take it."""
    numbers = takewhile(lambda field: field.letter in _NUMBERS, reversed(fields))
    greedy = any(field.letter == "y" and field.count > 3 for field in numbers)
    return r"(?P<rest>(?:[^0-9](?s:.*))?)\z" if greedy else r"(?P<rest>(?s:.*))\z"


_NUMBERS = frozenset("yMLdDHhkKmsS")
# what a field is that a text hasn't: 1970-01-01 00:00:00
_MISSING = {"y": 1970, "M": 1, "L": 1, "d": 1, "D": 1, "h": 12, "k": 24}


def _filled(field: Field, text: pa.Array, good: Mask) -> Numbers:
    """The values of a field, where it has any."""
    present = good & text.is_valid().to_numpy(zero_copy_only=False)
    return np.where(present, _number(field, text, present), _MISSING.get(field.letter, 0))


def _regex(fields: Sequence[Field], end: str) -> str:
    pieces = []
    for i, field in enumerate(fields):
        pieces.append(f"(?P<f{i}>{_group(field)})" if field.letter else re.escape(field.text))
    # RE2 wants at least one group
    return r"(?i)\A(?P<whole>" + "".join(pieces) + r")" + end


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
        case "D" if count > 1:
            return r"\d{3}" if count == 3 else r"\d{2,3}"
        case "X" | "x" | "Z":
            zero = "|Z" if field.letter == "X" else ""
            if field.letter == "Z" or count == 2:
                return r"[+-]\d{2}[0-5]\d" + zero
            return (r"[+-]\d{2}(?:[0-5]\d)?" if count == 1 else r"[+-]\d{2}:[0-5]\d") + zero
    return r"\d{2}" if count == 2 else r"\d{1,18}"


def _number(field: Field, text: pa.Array, good: Mask) -> Numbers:
    """The value of a field; anything where the row isn't good."""
    filled = pc.if_else(pa.array(good), text, "0")
    if field.letter in OFFSETS:
        return _offset_seconds(filled)
    if field.letter == "a":
        return vector(pc.equal(pc.ascii_upper(filled), "PM")).values.astype(np.int64)
    if field.letter in "ML" and field.count > 2:
        table = pa.array([(name[:3] if field.count == 3 else name).lower() for name in MONTHS])
        return vector(pc.index_in(pc.ascii_lower(filled), table)).values.astype(np.int64) + 1
    if field.letter == "S":
        filled = pc.utf8_slice_codeunits(pc.utf8_rpad(filled, 6, "0"), 0, 6)
    numbers: Numbers = pc.utf8_ltrim(filled, "+").cast(pa.int64()).to_numpy()
    return numbers + 2000 if field.letter == "y" and field.count == 2 else numbers


def _offset_seconds(texts: pa.Array) -> Numbers:
    """±hh[[:]mm], or Z; 0 of anything shorter."""
    digits = pc.utf8_rpad(pc.replace_substring(pc.utf8_slice_codeunits(texts, 1, 6), ":", ""), 4, "0")
    hours = pc.utf8_slice_codeunits(digits, 0, 2).cast(pa.int64()).to_numpy()
    minutes = pc.utf8_slice_codeunits(digits, 2, 4).cast(pa.int64()).to_numpy()
    sign = np.where(vector(pc.starts_with(texts, "-")).values.astype(np.bool_), -1, 1)
    seconds: Numbers = sign * (hours * 3600 + minutes * 60)
    return seconds


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
