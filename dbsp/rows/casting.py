"""Arrow values as values of a column's type, unchanged or not at all.

Allowed are casts within numbers, within strings, within times, from a date to a timestamp, and from integers
and intervals of months alone to INTERVAL YEAR TO MONTH. Whether
something would be lost is asked of the values, not of the types: a DOUBLE of 3.0 is a BIGINT.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.forms.months import CALENDAR, MONTHS, holds_months
from dbsp.circuits.columns.forms.outside import from_outside, has_outside, outside_type, to_outside
from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.circuits.columns.variants.type import VARIANT, holds_variant

_KINDS = (
    ("variant", lambda type_: type_ == VARIANT),
    ("boolean", pt.is_boolean),
    ("integer", pt.is_integer),
    ("float", pt.is_floating),
    ("decimal", pt.is_decimal),
    ("date", pt.is_date),
    ("timestamp", pt.is_timestamp),
    ("time", pt.is_time),
    ("months", lambda type_: type_ in (MONTHS, CALENDAR)),
    ("duration", pt.is_duration),
    ("struct", pt.is_struct),
    ("map", pt.is_map),
)
_FROM = {
    "integer": {"integer", "float", "decimal"},
    "float": {"integer", "float", "decimal"},
    "decimal": {"integer", "float", "decimal"},
    "timestamp": {"timestamp", "date"},
}
_OUT_OF_RANGE = re.compile(r"too large|not in range|out of bounds|DivisionImpossible")
_NOT_FINITE = re.compile(r"\b(nan|inf|infinity)\b", re.IGNORECASE)
_ANY_INTEGER = pa.decimal128(20, 0)


class Refused(Exception):
    """A value doesn't fit; the message says why, and what would."""


def kind(type_: pa.DataType) -> str:
    """What family of types it belongs to."""
    for name, belongs in _KINDS:
        if belongs(type_):
            return name
    if pt.is_string(type_) or pt.is_large_string(type_) or str(type_) == "string_view":
        return "string"
    if pt.is_binary(type_) or pt.is_large_binary(type_) or pt.is_fixed_size_binary(type_):
        return "binary"
    if pt.is_list(type_) or pt.is_large_list(type_) or pt.is_fixed_size_list(type_):
        return "array"
    return str(type_)


def cast_array(array: pa.Array, target: pa.DataType, timezone: str = "UTC", own: bool = False) -> pa.Array:
    """The same values as `target`. timezone: of timestamps that have none, for a target that has one. own:
    the array is of this project's types, as rows of a query are: a duration of seconds is of months there.

    Raises Refused.
    """
    if own and holds_months(array.type):
        if array.type == target:
            return array
        array = to_outside(array)
    if has_outside(target):
        return _with_outside(array, target, timezone)
    is_same = array.type == target and target != TIME  # one of outside may be finer
    return array if is_same else _cast(array, target, timezone)


def _cast(array: pa.Array, target: pa.DataType, timezone: str) -> pa.Array:
    if pt.is_null(array.type):
        return pa.nulls(len(array), target)
    if pt.is_dictionary(array.type):
        return cast_array(array.dictionary_decode(), target, timezone)
    given, wanted = _given_kind(array.type), kind(target)
    if given != wanted and given not in _FROM.get(wanted, set()):
        raise Refused(f"{array.type} is no {wanted}; cast it")
    if pt.is_nested(target):
        _check_fields(array.type, target)
    try:
        if wanted == "timestamp":
            return _timestamp(array, target, timezone)
        if wanted == "time":
            array = array.cast(pa.time64("us"))  # an error where it is finer
        if wanted == "decimal" and given == "integer":
            array = array.cast(_ANY_INTEGER)
        cast, back = array.cast(target), None
        if {given, wanted} == {"decimal", "float"}:
            # by text: the arithmetic of Arrow's own cast to a float is off by an ulp now and then
            cast = array.cast(pa.string()).cast(target) if wanted == "float" else cast
            back = cast.cast(pa.string()).cast(array.type) if given == "float" else cast.cast(array.type)
        elif given == wanted == "float":
            back = cast.cast(array.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise Refused(reason(error, target)) from None
    if back is not None:
        same = pc.fill_null(pc.or_kleene(pc.equal(back, array), _both_nan(back, array)), True)
        if not pc.all(same, min_count=0).as_py():
            raise Refused(f"{array.type} would be rounded; cast it")
    return cast


def _given_kind(type_: pa.DataType) -> str:
    """A duration of seconds is one, where it comes from outside."""
    return "duration" if pt.is_duration(type_) else kind(type_)


def _with_outside(array: pa.Array, target: pa.DataType, timezone: str) -> pa.Array:
    """`target` holds a type of this project: what is given has integers or intervals in place of MONTHS, and
    Spark's struct in place of VARIANT.
    """
    if array.type == target and not holds_months(target):
        return array
    if holds_variant(array.type) and not holds_months(array.type):  # which no type of outside's is
        array = to_outside(array)
    months = pa.int32() if _integers_for_months(array.type, target) else CALENDAR
    outside = outside_type(target, months)
    if target == VARIANT and not pt.is_struct(array.type) and not pt.is_null(array.type):
        raise Refused(f"{array.type} is no VARIANT; give what Spark's toArrow makes of one, or parse_json it")
    if pt.is_duration(array.type):
        raise Refused(f"{array.type} is no interval of months; cast it")
    try:
        return from_outside(cast_array(array, outside, timezone), target)
    except ValueError as error:
        raise Refused(str(error)) from None


def _integers_for_months(given: pa.DataType, target: pa.DataType) -> bool:
    """Whether integers stand where `target` has months."""
    if not pt.is_nested(target):
        return bool(target == MONTHS and pt.is_integer(given))
    if not pt.is_nested(given) or given.num_fields != target.num_fields:
        return False
    if pt.is_struct(target):
        there = {field.name: field.type for field in given} if pt.is_struct(given) else {}
        return any(f.name in there and _integers_for_months(there[f.name], f.type) for f in target)
    return any(
        _integers_for_months(given.field(i).type, target.field(i).type) for i in range(given.num_fields)
    )


def first_refused(
    array: pa.Array, target: pa.DataType, timezone: str = "UTC", own: bool = False
) -> int | None:
    """The position of the first value that `cast_array` refuses, by bisection; None: the type as such."""
    low, high = 0, len(array)  # array[:low] fits, array[:high] doesn't
    while high - low > 1:
        middle = (low + high) // 2
        try:
            cast_array(array.slice(low, middle - low), target, timezone, own)
        except Refused:
            high = middle
        else:
            low = middle
    return low if high > low else None


def _check_fields(given: pa.DataType, target: pa.DataType) -> None:
    """Arrow would fill a struct's missing fields with NULL, and drop those it doesn't know."""
    if kind(given) != kind(target):
        raise Refused(f"{given} is no {kind(target)}; cast it")
    if pt.is_struct(target):
        have, want = [field.name for field in given], [field.name for field in target]
        if sorted(have) != sorted(want):
            raise Refused(f"it has the fields {', '.join(have)}, not {', '.join(want)}")
        for field in target:
            _check_fields_if_nested(given.field(field.name).type, field.type)
    elif pt.is_map(target):
        _check_fields_if_nested(given.key_type, target.key_type)
        _check_fields_if_nested(given.item_type, target.item_type)
    else:
        _check_fields_if_nested(given.value_type, target.value_type)


def _check_fields_if_nested(given: pa.DataType, target: pa.DataType) -> None:
    if pt.is_nested(target) and not pt.is_null(given):
        _check_fields(given, target)


def _both_nan(a: pa.Array, b: pa.Array) -> pa.Array:
    if pt.is_floating(a.type):
        return pc.and_(pc.is_nan(a), pc.is_nan(b))
    return pa.array([False] * len(a))


def _timestamp(array: pa.Array, target: pa.DataType, timezone: str) -> pa.Array:
    if pt.is_date(array.type):
        array = array.cast(pa.timestamp("s")).cast(pa.timestamp("us"))
    has_zone = array.type.tz is not None
    if has_zone and target.tz is None:
        raise Refused("it has a time zone, a TIMESTAMP_NTZ has none; drop the zone")
    array = array.cast(pa.timestamp("us", array.type.tz))
    if target.tz is not None and not has_zone:
        array = pc.assume_timezone(array, timezone, ambiguous="earliest", nonexistent="latest")
    return array.cast(target)


def reason(error: Exception, target: pa.DataType) -> str:
    """Why pyarrow or Python refused, in one line."""
    message = str(error).split("\n", 1)[0]
    if pt.is_integer(target):
        if "truncated" in message:
            return f"it has a fraction, or is beyond {limits(target)}"
        if _OUT_OF_RANGE.search(message):
            return f"it is beyond {limits(target)}"
    if pt.is_decimal(target):
        if "Rescaling" in message:
            return f"it has more than {target.scale} digits after the point"
        if "precision" in message.lower():
            return f"it has more than {target.precision - target.scale} digits before the point"
        if _NOT_FINITE.search(message):
            return "a DECIMAL has no NaN and no infinity"
    if pt.is_nested(target) and _OUT_OF_RANGE.search(message):
        return "a number in it is beyond the range of its type"
    return message


def limits(integer: pa.DataType) -> str:
    """`-128 to 127`"""
    highest = (1 << (integer.bit_width - 1)) - 1
    return f"{-highest - 1} to {highest}"
