"""Floating point numbers as decimal digits: the shortest that read back as the same number.

Java has printed these since version 19. Older ones print a digit more for some powers of two, for integers
from 2⁵³ (FLOAT: 2²⁴) and for numbers half-way between two others; so does Spark on them.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import validity
from dbsp.circuits.expressions.vectors.numbers import Numbers

_PRINTED = r"^-?(?P<whole>[0-9]+)(?P<fraction>(?:\.[0-9]+)?)(?P<exponent>(?:e[+-]?[0-9]+)?)$"


def _parts(text: pa.Array) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Of Arrow's text the digits before and after the point, and the exponent (int32); NULL if not finite."""
    parts = pc.extract_regex(text, _PRINTED)
    fraction = pc.replace_substring(pc.struct_field(parts, "fraction"), ".", "")
    written = pc.replace_substring_regex(pc.struct_field(parts, "exponent"), r"^e\+?", "")
    exponent = pc.cast(pc.if_else(pc.equal(written, ""), "0", written), pa.int32())
    return pc.struct_field(parts, "whole"), fraction, exponent


def shortest_digits(values: pa.Array) -> tuple[Numbers, Numbers]:
    """(digits, exponent), int64[n], of finite doubles: value = digits · 10^exponent."""
    text = pc.cast(values, pa.string())
    whole, fraction, exponent = _parts(text)
    # at most 17 digits, but Arrow writes zeros around them up to 10^10
    digits = pc.cast(pc.binary_join_element_wise(whole, fraction, ""), pa.decimal128(38, 0))
    size = pc.cast(digits, pa.int64()).to_numpy().copy()
    shift = pc.subtract(exponent, pc.binary_length(fraction)).to_numpy().astype(np.int64)
    negative = np.asarray(pc.less(values, 0.0).to_numpy(zero_copy_only=False))
    return np.where(negative, -size, size), shift


def java_text(source: pa.Array) -> pa.Array:
    """Double.toString: the shortest digits; d.ddd from 10^-3 to below 10^7, else d.dddE±n."""
    text = pc.cast(source, pa.string())
    size = np.abs(source.to_numpy(zero_copy_only=False).astype(np.float64))
    plain = ((size >= 1e-3) & (size < 1e7)) | (size == 0)
    whole = pa.array(plain) if plain.all() else None
    dotted = pc.if_else(
        pc.match_substring(text, "."), text, pc.binary_join_element_wise(text, pa.scalar(".0"), "")
    )
    if whole is not None:
        return dotted
    rows = pa.array(~plain & (validity(source) if source.null_count else True))
    scientific = _scientific(source.filter(rows), text.filter(rows))
    return pc.replace_with_mask(dotted, rows, scientific)


def _scientific(values: pa.Array, text: pa.Array) -> pa.Array:
    """d.dddE±n of Arrow's shortest text, which is 0.000ddd, ddddddd.dd or d.ddde±n."""
    sign = pc.if_else(pc.starts_with(text, "-"), "-", "")
    whole, fraction, exponent = _parts(text)
    digits = pc.binary_join_element_wise(whole, fraction, "")
    significant = pc.ascii_ltrim(digits, characters="0")
    zeros = pc.subtract(pc.binary_length(digits), pc.binary_length(significant))
    shift = pc.subtract(pc.subtract(pc.binary_length(whole), zeros), 1)
    exponent = pc.cast(pc.add(exponent, shift), pa.string())
    first = pc.utf8_slice_codeunits(significant, 0, 1)
    rest = pc.ascii_rtrim(pc.utf8_slice_codeunits(significant, 1), characters="0")
    rest = pc.if_else(pc.equal(rest, ""), "0", rest)
    finite = pc.binary_join_element_wise(sign, first, ".", rest, "E", exponent, "")
    finite = _least(values, finite)
    names = pc.if_else(pc.is_nan(values), "NaN", pc.if_else(pc.greater(values, 0.0), "Infinity", "-Infinity"))
    return pc.if_else(pc.is_finite(values), finite, names)


def _least(values: pa.Array, text: pa.Array) -> pa.Array:
    """The least subnormals have one digit, but two come nearer: 4.9E-324."""
    bound = 1e-321 if values.type == pa.float64() else 1e-43
    rows = pc.less(pc.abs(values), pa.scalar(bound, values.type))
    if not pc.any(rows).as_py():
        return text
    nearer = [f"{value:.1e}".replace("e", "E") for value in values.filter(rows).to_pylist()]
    return pc.replace_with_mask(text, rows, pa.array(nearer, pa.string()))
