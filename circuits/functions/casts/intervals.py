"""CAST between intervals, numbers and strings.

A number is a count of the last part of the interval's type: of INTERVAL YEAR years, of INTERVAL DAY TO SECOND
seconds. Option `interval` of the call is Spark's type of the interval that is read, or else made.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.forms.months import LEAST, MONTHS, MOST
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.vectors import decimals
from dbsp.circuits.expressions.vectors.decimals import unscaled
from dbsp.circuits.expressions.vectors.modes import ANSI, mode
from dbsp.circuits.expressions.vectors.numbers import Numbers, result, vector
from dbsp.circuits.functions.casts.numbers import cast_result, number_to_integer, to_scale
from dbsp.circuits.functions.times.interval_text import NoInterval, fields, read, spelled, unit_of


def _kind(call: Call) -> str:
    kind = call.option("interval")
    assert isinstance(kind, str), call
    return kind


def _truncated(values: Numbers, unit: int) -> Numbers:
    quotient: Numbers = np.sign(values) * (np.abs(values.astype(object)) // unit)
    return quotient.astype(np.int64)


def interval_to_interval(call: Call, source: pa.Array) -> pa.Array:
    """Cut off after the last part of the new type; nothing is less than a second."""
    x, kind = vector(source), _kind(call)
    unit = 1 if fields(kind)[-1] == "second" else unit_of(kind)
    return result(call, _truncated(x.values, unit) * unit if unit > 1 else x.values, x)


def interval_to_integer(call: Call, source: pa.Array) -> pa.Array:
    """Whole units, towards zero."""
    x = vector(source)
    counts = pa.array(_truncated(x.values, unit_of(_kind(call))), mask=None if x.valid is None else ~x.valid)
    return number_to_integer(call, counts)


def interval_to_decimal(call: Call, source: pa.Array) -> pa.Array:
    """Whole units; of seconds the fraction too."""
    x, kind = vector(source), _kind(call)
    if fields(kind)[-1] == "second":
        return to_scale(call, x.values, 6, source, x)
    return to_scale(call, _truncated(x.values, unit_of(kind)), 0, source, x)


def integer_to_interval(call: Call, source: pa.Array) -> pa.Array:
    x = vector(source)
    units = decimals.multiply(x.values.astype(np.int64), np.array([unit_of(_kind(call))], np.int64))
    return _fitting(call, units, source)


def decimal_to_interval(call: Call, source: pa.Array) -> pa.Array:
    """Rounded HALF_UP to months or microseconds: a part of a day is so many microseconds."""
    x = unscaled(source)
    units = decimals.multiply(x.values, np.array([unit_of(_kind(call))], np.int64))
    return _fitting(call, decimals.rescale(units, source.type.scale, 0), source)


def _fitting(call: Call, units: Numbers, source: pa.Array) -> pa.Array:
    low, high = (LEAST, MOST) if call.type == MONTHS else (-(2**63), 2**63 - 1)
    good = np.asarray((units >= low) & (units <= high), dtype=np.bool_)
    x = unscaled(source) if pt.is_decimal(source.type) else vector(source)
    return cast_result(call, np.where(good, units, 0).astype(np.int64), good, "CAST_OVERFLOW", source, x)


def interval_to_string(call: Call, source: pa.Array) -> pa.Array:
    """`INTERVAL '1-2' YEAR TO MONTH`; each distinct value is spelled once."""
    kind = _kind(call)
    encoded = source.view(pa.int64()).dictionary_encode()
    texts = [spelled(value, kind) for value in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def string_to_interval(call: Call, source: pa.Array) -> pa.Array:
    """The number, or the whole literal INTERVAL '...'; each distinct text is read once."""
    kind = _kind(call)
    encoded = source.dictionary_encode()
    values: list[int | None] = []
    for code, text in enumerate(encoded.dictionary.to_pylist()):
        try:
            values.append(read(text, kind))
        except NoInterval as error:
            values.append(None)
            if mode(call) == ANSI:
                row = pc.index(encoded.indices, code).as_py()
                raise EvaluationError(error.condition, f"{error}. Use try_cast to get NULL.", row) from None
    return pa.array(values, pa.int64()).take(encoded.indices).view(call.type)
