"""LIKE, matched by RE2 over whole columns; of a column of patterns each distinct one against its rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import is_true
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.numbers import strict

_ESCAPE = "\\"


def like_regex(pattern: str, escape: str) -> str:
    """The RE2 pattern of a LIKE pattern. Raises EvaluationError [INVALID_FORMAT.…] as Spark does."""
    pieces, characters = [], iter(pattern)
    for character in characters:
        if character == escape:
            following = next(characters, None)
            if following is None:
                raise EvaluationError(
                    "INVALID_FORMAT.ESC_AT_THE_END", f"LIKE '{pattern}' ends with its escape"
                )
            if following not in ("_", "%", escape):
                raise EvaluationError(
                    "INVALID_FORMAT.ESC_IN_THE_MIDDLE", f"LIKE '{pattern}' escapes '{following}', not _ or %"
                )
            pieces.append(_quoted(following))
        elif character in "_%":
            pieces.append("." if character == "_" else ".*")
        else:
            pieces.append(_quoted(character))
    return r"(?s)\A" + "".join(pieces) + r"\z"


def _quoted(character: str) -> str:
    return f"\\x{ord(character):02x}" if character.isascii() and not character.isalnum() else character


def _escape_of(call: Call) -> str:
    return str(call.option("escapeChar", _ESCAPE))


def _refuse_like(call: Call) -> str | None:
    pattern = call.arguments[1]
    if isinstance(pattern, Literal) and isinstance(pattern.value, str):
        return _wrong_like(pattern.value, _escape_of(call))
    return None


def _wrong_like(pattern: str, escape: str) -> str | None:
    try:
        like_regex(pattern, escape)
    except EvaluationError as error:
        return f"an invalid pattern ({error})"
    return None


@strict("like", refuse=_refuse_like)
def like(call: Call, text: pa.Array, pattern: Value) -> Value:
    """% is any text, _ any one character, also a line end."""
    escape = _escape_of(call)
    if isinstance(pattern, pa.Scalar):
        return pc.match_substring_regex(text, like_regex(pattern.as_py(), escape))
    encoded = pattern.dictionary_encode()
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    matched = np.zeros(len(text), np.bool_)
    for code, each in enumerate(encoded.dictionary.to_pylist()):
        rows = np.flatnonzero(codes == code)
        try:
            found = pc.match_substring_regex(text.take(pa.array(rows)), like_regex(each, escape))
        except EvaluationError as error:
            error.row = int(rows[0])
            raise
        matched[rows] = is_true(found)
    null = pc.or_(text.is_null(), pattern.is_null()).to_numpy(zero_copy_only=False)
    return pa.array(matched, pa.bool_(), mask=null)


def _register_many(name: str, all_of: bool, negated: bool) -> None:
    def refuse(call: Call) -> str | None:
        patterns = call.option("patterns", ())
        if not isinstance(patterns, tuple):
            return "patterns that are not constants"
        wrong = (_wrong_like(pattern, _ESCAPE) for pattern in patterns if pattern is not None)
        return next((reason for reason in wrong if reason is not None), None)

    @kernel(name, refuse=refuse)
    def run(call: Call, text: Value) -> Value:
        """AND (OR) over the patterns, in SQL's three-valued logic."""
        combine: Callable[..., Value] = pc.and_kleene if all_of else pc.or_kleene
        total: Value = pa.scalar(all_of)
        patterns = call.option("patterns", ())
        assert isinstance(patterns, tuple)
        for pattern in patterns:
            if pattern is None:
                found: Value = pa.scalar(None, pa.bool_())
            else:
                found = pc.match_substring_regex(text, like_regex(pattern, _ESCAPE))
                found = pc.invert(found) if negated else found
            total = combine(total, found)
        return pc.if_else(pc.is_valid(text), total, pa.scalar(None, pa.bool_()))


_register_many("like_all", all_of=True, negated=False)
_register_many("like_any", all_of=False, negated=False)
_register_many("not_like_all", all_of=True, negated=True)
_register_many("not_like_any", all_of=False, negated=True)
