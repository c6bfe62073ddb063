"""CAST between strings and numbers, as Java reads and prints them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import is_true
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.vectors import decimals
from dbsp.circuits.expressions.vectors.cursor import Cursor
from dbsp.circuits.expressions.vectors.decimals import unscaled
from dbsp.circuits.expressions.vectors.modes import LEGACY, mode
from dbsp.circuits.expressions.vectors.numbers import Numbers, vector
from dbsp.circuits.expressions.vectors.plain import read_plain
from dbsp.circuits.functions.casts.numbers import cast_result, decimal_to_decimal, presence, to_scale
from dbsp.circuits.functions.numbers.printing import java_text

_INVALID = "CAST_INVALID_INPUT"
_BLANKS = "".join(map(chr, [*range(33), 127]))
_JAVA_FLOAT = r"^[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)$"
_NAMES = {
    "inf": float("inf"),
    "+inf": float("inf"),
    "infinity": float("inf"),
    "+infinity": float("inf"),
    "-inf": float("-inf"),
    "-infinity": float("-inf"),
    "nan": float("nan"),
}


# --- strings to numbers


def string_to_boolean(call: Call, source: pa.Array) -> pa.Array:
    """t, true, y, yes, 1 and f, false, n, no, 0, in any case, blanks around them ignored."""
    text = pc.ascii_lower(pc.ascii_trim(source, characters=_BLANKS))
    true = is_true(pc.is_in(text, value_set=pa.array(["t", "true", "y", "yes", "1"])))
    false = is_true(pc.is_in(text, value_set=pa.array(["f", "false", "n", "no", "0"])))
    return cast_result(call, true, true | false, _INVALID, source, presence(source))


def string_to_integer(call: Call, source: pa.Array) -> pa.Array:
    """Blanks, a sign, digits; under LEGACY also a fraction, which is cut off."""
    if (plain := read_plain(source, pa.int64(), b"0123456789-")) is not None:
        values = vector(plain).values
        bounds = np.iinfo(call.type.to_pandas_dtype())
        good = np.asarray((values >= bounds.min) & (values <= bounds.max))
        return cast_result(call, values, good, _INVALID, source, presence(source))
    text = Cursor(source)
    text.trim()
    sign = text.take(b"+-")
    value, kept, count = _significant_digits(text)
    good = count > 0
    if mode(call) == LEGACY:
        point = text.take(b".")
        _, fraction = text.digits(where=point > 0)
        good = good | ((point > 0) & ((sign == 0) | (fraction > 0) | text.at_end))
    good &= text.at_end & (kept <= 19)
    # the opposite, as the range of negative numbers is greater by one; a positive sum is an overflow
    good &= (value <= 0) & ((sign == ord("-")) | (value != np.iinfo(np.int64).min))
    value = np.where(sign == ord("-"), value, -value)
    if call.type.bit_width < 64:
        bound = 1 << (call.type.bit_width - 1)
        good &= (value >= -bound) & (value < bound)
    return cast_result(call, value, np.asarray(good), _INVALID, source, presence(source))


def _significant_digits(text: Cursor) -> tuple[Numbers, Numbers, Numbers]:
    """(−value, digits after leading zeros, digits) of at most 19 digits; 19 of them may wrap to positive."""
    zeros = text.zeros()
    value, kept = text.digits(keep=19)
    return -value, kept, zeros + kept


def string_to_float(call: Call, source: pa.Array) -> pa.Array:
    """What Double.parseDouble reads, and the names of infinity and NaN in any case."""
    plain = read_plain(source, call.type, b"0123456789+-.eE")
    return plain if plain is not None else _java_floats(call, source)


def _java_floats(call: Call, source: pa.Array) -> pa.Array:
    text = pc.ascii_trim(source, characters=_BLANKS[:-1])
    plain = pc.fill_null(pc.match_substring_regex(text, _JAVA_FLOAT), False)
    # a sign + and a suffix mean nothing; Arrow refuses both
    digits = pc.replace_substring_regex(pc.if_else(plain, text, "0"), r"^\+|[fFdD]$", "")
    values = np.array(_floats(digits, call).to_numpy(zero_copy_only=False))
    good = is_true(plain)
    lower = pc.ascii_lower(pc.if_else(plain, "", text))
    for name, value in _NAMES.items():
        found = is_true(pc.equal(lower, name))
        values[found], good = value, good | found
    hexadecimal = is_true(pc.match_substring_regex(lower, r"^[+-]?0x[0-9a-f]*\.?[0-9a-f]*p"))
    for row in np.flatnonzero(hexadecimal).tolist():  # hardly ever written
        try:
            values[row] = float.fromhex(lower[row].as_py().rstrip("fd"))
            good[row] = True
        except ValueError:
            continue
    return cast_result(call, values, good, _INVALID, source, presence(source))


def _floats(digits: pa.Array, call: Call) -> pa.Array:
    """Beyond the range of a double Arrow fails, and Java gives 0 or infinity."""
    try:
        return pc.cast(digits, call.type)
    except pa.ArrowInvalid:
        distinct = digits.dictionary_encode()
        with np.errstate(over="ignore"):
            values = np.array([float(text) for text in distinct.dictionary.to_pylist()]).astype(
                call.type.to_pandas_dtype()
            )
        return pa.array(values).take(distinct.indices)


def string_to_decimal(call: Call, source: pa.Array) -> pa.Array:
    """What java.math.BigDecimal reads: digits with a point and an exponent."""
    # Arrow refuses fractions longer than the scale, so that nothing is rounded there
    plain = read_plain(source, pa.decimal128(38, call.type.scale), b"0123456789+-.")
    if plain is not None:
        return decimal_to_decimal(call, plain)
    text = Cursor(source)
    text.trim(delete=0)  # Java's trim leaves a DEL
    sign = text.take(b"+-")
    start = text.position.copy()
    whole, whole_digits = text.digits()
    point = text.take(b".")
    fraction, fraction_digits = text.digits(where=point > 0)
    stop = text.position.copy()
    good = whole_digits + fraction_digits > 0
    exponent_mark = text.take(b"eE", where=good)
    exponent_sign = text.take(b"+-", where=exponent_mark > 0)
    exponent, exponent_digits = text.digits(where=exponent_mark > 0)
    good &= text.at_end & ((exponent_mark == 0) | ((exponent_digits > 0) & (exponent_digits <= 10)))
    places = np.where(exponent_sign == ord("-"), -exponent, exponent) - fraction_digits
    short = whole_digits + fraction_digits <= 18
    values = whole * 10 ** np.minimum(np.where(short, fraction_digits, 0), 18) + fraction
    values = np.where(good & short, values, 0)
    width = np.searchsorted(10 ** np.arange(19), values, side="right")
    long = np.flatnonzero(good & ~short)
    if len(long):
        text.position, text.end = start, stop
        values, (read, width[long], dropped) = values.astype(object), _long_digits(text.rest(long))
        values[long], places[long] = read, places[long] + dropped
    supported = (values == 0) | (width + places <= 38) | ~good
    x = presence(source)
    cast_result(call, np.zeros_like(values), good, _INVALID, source, x)
    cast_result(call, np.zeros_like(values), supported, "NUMERIC_OUT_OF_SUPPORTED_RANGE", source, x)
    good = good & supported
    signed = np.where(sign == ord("-"), -values, values)
    scaled = decimals.shift_half_up(np.where(good, signed, 0), places + call.type.scale)
    return to_scale(call, scaled, call.type.scale, source, x, good=good)


def _long_digits(text: pa.Array) -> tuple[Numbers, Numbers, Numbers]:
    """(the first 54 digits, how many these are, how many are left out), past leading zeros and the point."""
    digits = pc.ascii_ltrim(pc.replace_substring(text, ".", ""), characters="0")
    length = pc.binary_length(digits).to_numpy().astype(np.int64)
    padded = pc.ascii_lpad(pc.utf8_slice_codeunits(digits, 0, 54), 54, "0")
    parts = [pc.cast(pc.utf8_slice_codeunits(padded, start, start + 18), pa.int64()) for start in (0, 18, 36)]
    first, second, third = (part.to_numpy().astype(object) for part in parts)
    kept = np.minimum(length, 54)
    return (first * 10**18 + second) * 10**18 + third, kept, length - kept


# --- numbers to strings


def float_to_string(call: Call, source: pa.Array) -> pa.Array:
    return java_text(source)


def plain_to_string(call: Call, source: pa.Array) -> pa.Array:
    """Integers and booleans."""
    return pc.cast(source, pa.string())


def decimal_to_string(call: Call, source: pa.Array) -> pa.Array:
    """All digits of the scale, without an exponent (which LEGACY has below 10^-6)."""
    text = pc.cast(source, pa.string())
    with_exponent = pc.match_substring(text, "E")
    if mode(call) == LEGACY or not pc.any(with_exponent).as_py():
        return text
    rows = np.flatnonzero(is_true(with_exponent))
    numbers = unscaled(source.take(pa.array(rows))).values
    # Arrow writes an exponent for less than 10^-6: few digits after many zeros
    size = pc.utf8_lpad(
        pc.cast(pa.array(np.abs(numbers).astype(np.int64)), pa.string()), source.type.scale, "0"
    )
    signs = pa.array(np.where(numbers < 0, "-0.", "0."))
    return pc.replace_with_mask(
        text, pc.fill_null(with_exponent, False), pc.binary_join_element_wise(signs, size, "")
    )
