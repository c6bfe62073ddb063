"""Python values as an Arrow array of a column's type, unchanged or not at all.

pyarrow alone is too kind: it makes dates of datetimes, timestamps of integers and strings of bytes.
"""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.forms.months import LEAST, MONTHS, MOST
from dbsp.circuits.columns.variants.binary import VERSION
from dbsp.circuits.columns.variants.type import VARIANT, Variant
from dbsp.rows.casting import Refused, kind, reason

_FRACTIONS = (float, Decimal)
_NUMBERS = (int, *_FRACTIONS)
_CLASSES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": _NUMBERS,
    "float": _NUMBERS,
    "decimal": _NUMBERS,
    "string": (str,),
    "binary": (bytes, bytearray, memoryview),
    "date": (date,),
    "timestamp": (datetime,),
    "time": (time,),
    "duration": (timedelta,),
    "months": (int, pa.MonthDayNano),
    "variant": (Variant, dict),
    "array": (list, tuple, np.ndarray),
    "struct": (dict, tuple),
    "map": (dict, list, tuple),
}
_EXAMPLES = {
    "boolean": "True or False",
    "integer": "an int",
    "float": "a float",
    "decimal": "a Decimal",
    "string": "a str",
    "binary": "bytes",
    "date": "a datetime.date",
    "timestamp": "a datetime.datetime",
    "time": "a datetime.time",
    "duration": "a datetime.timedelta",
    "months": "an int of months or a pyarrow.MonthDayNano",
    "variant": "a VariantVal of Spark's, or a dict of its value and metadata",
    "array": "a list",
    "struct": "a dict",
    "map": "a dict",
}


def array_of(values: list[Any], type_: pa.DataType, timezone: str = "UTC") -> pa.Array:
    """One value per row; None is NULL. timezone: of datetimes that have none, where the type has one.

    Raises Refused.
    """
    classes = set(map(type, values)) - {type(None)}
    wanted = kind(type_)
    try:
        if any(issubclass(one, np.generic) for one in classes):
            values = [_plain(v) if isinstance(v, np.generic) else v for v in values]
            classes = set(map(type, values)) - {type(None)}
        if any(one.__module__.startswith("pandas.") for one in classes):
            values = [_of_pandas(value) for value in values]
            classes = set(map(type, values)) - {type(None)}
        if any(one.__name__ == "VariantVal" for one in classes):
            values = [_of_spark(value) for value in values]
            classes = set(map(type, values)) - {type(None)}
        for one in classes:
            _check_class(one, wanted)
        whole = [isinstance(value, int) for value in values] if pt.is_float32(type_) else []
        values = _prepare(values, classes, type_, timezone)
        array = pa.array(values, type_)
    except (pa.ArrowInvalid, pa.ArrowTypeError, ArithmeticError, ValueError, TypeError) as error:
        raise Refused(reason(error, type_)) from None
    if pt.is_float32(type_):
        given = pa.array(values, pa.float64())
        if any(whole) and array.cast(pa.float64()).filter(whole) != given.filter(whole):
            raise Refused("it would be rounded")
        if not pc.all(pc.or_(pc.is_finite(array), pc.invert(pc.is_finite(given))), min_count=0).as_py():
            raise Refused("it is beyond the range of a FLOAT")
    return array


def _check_class(one: type, wanted: str) -> None:
    is_bool = issubclass(one, bool)
    fits = issubclass(one, _CLASSES[wanted]) and (wanted == "boolean" or not is_bool)
    if wanted == "date" and issubclass(one, datetime):
        fits = False
    if wanted == "timestamp" and issubclass(one, date) and not issubclass(one, datetime):
        fits = True
    if not fits:
        raise Refused(f"give {_EXAMPLES[wanted]}, not {one.__name__}")


def _prepare(values: list[Any], classes: set[type], type_: pa.DataType, timezone: str) -> list[Any]:
    """What pyarrow gets wrong about some classes, in its own terms."""
    if pt.is_decimal(type_) and any(issubclass(c, float) for c in classes):
        # the shortest spelling of a float is what its author meant
        return [Decimal(repr(v)) if isinstance(v, float) else v for v in values]
    if pt.is_floating(type_) and any(issubclass(c, Decimal | int) for c in classes):
        return [_as_float(v) if isinstance(v, Decimal | int) else v for v in values]
    if pt.is_integer(type_) and any(issubclass(c, _FRACTIONS) for c in classes):
        return [_integral(v) if isinstance(v, _FRACTIONS) else v for v in values]
    if pt.is_timestamp(type_) and any(issubclass(c, date) for c in classes):
        return [_moment(v, type_.tz, timezone) if isinstance(v, date) else v for v in values]
    if pt.is_time(type_) and any(v is not None and v.tzinfo is not None for v in values):
        raise ValueError("it has a time zone, a TIME has none; drop the zone")
    if type_ == MONTHS:
        return [None if v is None else _months(v) for v in values]
    if type_ == VARIANT:
        return [None if v is None else _variant(v) for v in values]
    if pt.is_nested(type_):
        return [None if v is None else nested(v, type_, timezone) for v in values]
    return values


def _plain(value: np.generic) -> Any:
    """The Python value of a NumPy scalar."""
    if isinstance(value, np.datetime64 | np.timedelta64) and not np.isnat(value):
        if np.datetime_data(value.dtype)[0] == "D" and isinstance(value, np.datetime64):
            return value.item()
        micros = value.astype(f"{value.dtype.kind}8[us]")
        if micros != value:
            raise ValueError("it is finer than a microsecond")
        return micros.item()
    return value.item()


def _of_pandas(value: Any) -> Any:
    """NaT and NA are NULL; a Timestamp and a Timedelta can be finer than a datetime."""
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        raise ValueError("it is finer than a microsecond")
    return value


def _of_spark(value: Any) -> Any:
    return Variant(value.value, value.metadata) if type(value).__name__ == "VariantVal" else value


def _variant(value: Any) -> dict[str, bytes]:
    """As Arrow has it within."""
    given = value._asdict() if isinstance(value, Variant) else value
    if given.keys() != {"value", "metadata"}:
        raise ValueError(
            f"a VARIANT has a value and metadata; found {', '.join(map(str, given)) or 'nothing'}"
        )
    if not given["value"] or not given["metadata"] or given["metadata"][0] & 15 != VERSION:
        raise ValueError("these bytes are no variant's")
    return {"variant value": bytes(given["value"]), "variant metadata": bytes(given["metadata"])}


def _as_float(value: Decimal | int) -> float:
    """A Decimal is meant as the nearest float, an int as itself."""
    nearest = nearest_float(value)
    if isinstance(value, int) and nearest != value:
        raise ValueError("it would be rounded")
    return nearest


def nearest_float(value: Decimal | int) -> float:
    """Raises ValueError where that would be an infinity that wasn't given."""
    try:
        nearest = float(value)
    except OverflowError:
        nearest = math.inf
    if math.isinf(nearest) and (isinstance(value, int) or value.is_finite()):
        raise ValueError("it is beyond the range of a DOUBLE")
    return nearest


def _integral(value: Any) -> int:
    if not isinstance(value, int) and not math.isfinite(value):
        raise ValueError("it is no finite number")
    if value % 1 != 0:
        raise ValueError("it has a fraction")
    return int(value)


def _months(value: Any) -> int:
    months = value
    if isinstance(value, pa.MonthDayNano):
        if value.days or value.nanoseconds:
            raise ValueError("it has days or a time; an INTERVAL YEAR TO MONTH has years and months only")
        months = value.months
    if not LEAST <= months <= MOST:
        raise ValueError("it doesn't fit 32 bits of months")
    return int(months)


def _moment(value: date, zone: str | None, timezone: str) -> datetime:
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    if zone is None:
        if moment.tzinfo is not None:
            raise ValueError("it has a time zone, a TIMESTAMP_NTZ has none; drop the zone")
        return moment
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=ZoneInfo(timezone))


def nested(value: Any, type_: pa.DataType, timezone: str) -> Any:
    """A value of a nested type with its elements checked, and with maps as pairs."""
    if value is None:
        return None
    wanted = kind(type_)
    value = _of_spark(value)
    _check_class(type(value), wanted)
    if not pt.is_nested(type_) or type_ == VARIANT:
        return _prepare([value], {type(value)}, type_, timezone)[0]
    if wanted == "array":
        return [nested(item, type_.value_type, timezone) for item in value]
    if wanted == "map":
        pairs = value.items() if isinstance(value, dict) else value
        return [(nested(k, type_.key_type, timezone), nested(v, type_.item_type, timezone)) for k, v in pairs]
    fields = list(type_)
    if isinstance(value, tuple):
        if len(value) != len(fields):
            raise ValueError(f"a struct of {len(fields)} fields has {len(value)} values")
        value = {field.name: item for field, item in zip(fields, value, strict=True)}
    if unknown := set(value) - {field.name for field in fields}:
        existing = ", ".join(field.name for field in fields)
        raise ValueError(f"unknown field '{min(map(str, unknown))}'; fields: {existing}")
    return {field.name: nested(value.get(field.name), field.type, timezone) for field in fields}
