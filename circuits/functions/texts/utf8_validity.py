"""Strings that need not be UTF-8: Spark's casts from BINARY check nothing, and these functions do.

Arrow's validator passes over a whole column; only columns that fail are looked at value by value.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import per_distinct
from dbsp.circuits.expressions.vectors.spread import columnar


def _all_valid(text: pa.Array) -> bool:
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _is_valid(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _valid(text: pa.Array) -> pa.Array:
    """Whether each value is UTF-8, NULL where it is NULL."""
    if _all_valid(text):
        return pc.if_else(text.is_valid(), True, pa.scalar(None, pa.bool_()))
    return per_distinct(_is_valid, pa.bool_(), text.view(pa.binary()))


@columnar("static_invoke.string.isValid")
def is_valid(call: Call, text: pa.Array) -> Value:
    return _valid(text)


@columnar("static_invoke.string.makeValid")
def make_valid(call: Call, text: pa.Array) -> Value:
    """U+FFFD for each longest part of a character, as the WHATWG (and Python) decode."""
    if _all_valid(text):
        return text
    return per_distinct(lambda data: data.decode(errors="replace"), call.type, text.view(pa.binary()))


@columnar("static_invoke.ExpressionImplUtils.tryValidateUTF8String")
def try_validate(call: Call, text: pa.Array) -> Value:
    """NULL unless it is UTF-8."""
    return pc.if_else(_valid(text), text, pa.scalar(None, text.type))


@columnar("static_invoke.ExpressionImplUtils.validateUTF8String")
def validate(call: Call, text: pa.Array) -> Value:
    wrong = pc.index(_valid(text), False).as_py()
    if wrong >= 0:
        raise EvaluationError("INVALID_UTF8_STRING", "a string is not UTF-8", wrong)
    return text
