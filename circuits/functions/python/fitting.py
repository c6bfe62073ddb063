"""What a function returned is of its declared type, and not only near to one.

Arrow makes 1 of 1.5, infinity of 1e300 and a date of a number without a word. A value that is lost so is
nobody's wish: `pa.array` refuses what else doesn't fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

_LARGEST = float(np.finfo(np.float32).max)

# raises ValueError or TypeError for a value, which is not None
Check: TypeAlias = Callable[[Any], None]


def check_fit(values: Iterable[Any], data_type: pa.DataType) -> None:
    """Raises ValueError at the first value that Arrow would change to have it of this type."""
    check = _check_of(data_type)
    if check is not None:
        for value in values:
            if value is not None:
                check(value)


@cache
def _check_of(data_type: pa.DataType) -> Check | None:
    """None: Arrow takes no value that it would change."""
    if pt.is_integer(data_type):
        return _whole
    if pt.is_float32(data_type):
        return _in_range
    if pt.is_date(data_type):
        return _date
    if pt.is_timestamp(data_type):
        return _instant
    if pt.is_struct(data_type):
        return _fields(data_type)
    if pt.is_map(data_type):
        return _entries(data_type)
    if pt.is_list(data_type) or pt.is_large_list(data_type):
        return _elements(_check_of(data_type.value_type))
    return None


def _whole(value: Any) -> None:
    if isinstance(value, float | np.floating | Decimal) and value != int(value):
        raise ValueError(f"{value!r} has a fraction")


def _in_range(value: Any) -> None:
    if isinstance(value, float | int | np.floating) and math.isfinite(value) and abs(float(value)) > _LARGEST:
        raise ValueError(f"{value!r} is beyond the range of float")


def _date(value: Any) -> None:
    if isinstance(value, Integral):
        raise ValueError(f"{value!r} is no date; give a datetime.date")
    if isinstance(value, datetime) and value.time() != datetime.min.time():
        raise ValueError(f"{value!r} has a time; give its date()")


def _instant(value: Any) -> None:
    if not isinstance(value, date | np.datetime64 | pa.Scalar):
        raise ValueError(f"{value!r} is no time; give a datetime.datetime")


def _fields(data_type: pa.StructType) -> Check:
    checks = {field.name: _check_of(field.type) for field in data_type}

    def check(value: Any) -> None:
        if isinstance(value, dict):
            extra = [name for name in value if name not in checks]
            if extra:
                raise ValueError(f"{extra[0]!r} is no field; fields: {', '.join(checks)}")
            for name, inner in checks.items():
                if inner is not None and value.get(name) is not None:
                    inner(value[name])

    return check


def _entries(data_type: pa.MapType) -> Check | None:
    key, item = _check_of(data_type.key_type), _check_of(data_type.item_type)
    if key is None and item is None:
        return None

    def check(value: Any) -> None:
        for k, v in value.items() if isinstance(value, dict) else value:
            if key is not None and k is not None:
                key(k)
            if item is not None and v is not None:
                item(v)

    return check


def _elements(inner: Check | None) -> Check | None:
    if inner is None:
        return None

    def check(value: Any) -> None:
        for element in value:
            if element is not None:
                inner(element)

    return check
