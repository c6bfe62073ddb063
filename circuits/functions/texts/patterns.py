"""LIKE and the regular expressions, matched by RE2 over whole columns.

Regular expressions are constants, translated when the program is compiled (`java_regex.py`). The patterns of
LIKE may be columns: each distinct one is matched against its rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import is_true
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.numbers import per_distinct, strict
from dbsp.circuits.functions.texts.java_regex import Refused, Regex, translate
from dbsp.circuits.functions.texts.strings import character_positions

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


def _refuse_regex(check: Callable[[Call, Regex], str | None]) -> Callable[[Call], str | None]:
    """Of a call whose second argument is a regular expression: constant, translatable and passing `check`."""

    def refuse(call: Call) -> str | None:
        pattern = call.arguments[1]
        if not isinstance(pattern, Literal):
            return "a regular expression that is not a constant"
        if pattern.value is None:
            return None
        try:
            return check(call, translate(str(pattern.value)))
        except Refused as refused:
            return str(refused)

    return refuse


def _constant(call: Call, position: int) -> object:
    argument = call.arguments[position]
    return argument.value if isinstance(argument, Literal) else ...


def _several_matches(call: Call, regex: Regex) -> str | None:
    if regex.can_be_empty:
        return "a regular expression that matches the empty text"
    if regex.dollar or r"\A" in regex.tokens:
        return "an anchored regular expression"
    return None


def _group(call: Call, regex: Regex, several: bool) -> str | None:
    index = _constant(call, 2)
    if index is None:
        return None
    if not isinstance(index, int):
        return "a group that is not a constant"
    if not 0 <= index <= regex.groups:
        return f"group {index} of a regular expression with {regex.groups} groups"
    if several:
        return _several_matches(call, regex)
    if index == 0 and regex.dollar == "inside":
        return "the whole match of a regular expression with $ inside a group or an alternative"
    return None


@strict("r_like", refuse=_refuse_regex(lambda call, regex: None))
def matches(call: Call, text: pa.Array, pattern: Value) -> Value:
    return pc.match_substring_regex(text, translate(pattern.as_py()).pattern())


@strict("reg_exp_extract", refuse=_refuse_regex(lambda call, regex: _group(call, regex, several=False)))
def extract(call: Call, text: pa.Array, pattern: Value, group: Value) -> Value:
    """The group's text in the first match; '' where there is none or the group took no part."""
    found = pc.extract_regex(text, translate(pattern.as_py()).pattern(capture=group.as_py()))
    extracted = pc.fill_null(pc.struct_field(found, "g"), "")
    return pc.if_else(text.is_valid(), extracted, pa.scalar(None, pa.string()))


@strict("reg_exp_extract_all", refuse=_refuse_regex(lambda call, regex: _group(call, regex, several=True)))
def extract_all(call: Call, text: pa.Array, pattern: Value, group: Value) -> Value:
    """The group's text in every match. Arrow finds only first matches, so Python's `re` runs over each
    distinct text; the translated pattern means the same to it."""
    compiled = re.compile(translate(pattern.as_py()).capturing())
    index = group.as_py()
    return per_distinct(
        lambda each: [match[index] or "" for match in compiled.finditer(each)], call.type, text
    )


@strict("reg_exp_in_str", refuse=_refuse_regex(lambda call, regex: None))
def position(call: Call, text: pa.Array, pattern: Value, group: Value) -> Value:
    """The 1-based character where the first match begins; 0 if there is none."""
    return character_positions(
        call, text, pc.find_substring_regex(text, translate(pattern.as_py()).pattern())
    )


def rewritten(replacement: str, regex: Regex) -> str:
    """A Java replacement ($1, ${name}, \\$) as RE2's (\\1). Raises Refused."""
    out, position = "", 0
    names = dict(regex.names)
    while position < len(replacement):
        character = replacement[position]
        position += 1
        if character == "\\":
            if position == len(replacement):
                raise Refused(f"the replacement '{replacement}', which ends with a backslash")
            out += _rewrite_literal(replacement[position])
            position += 1
        elif character == "$":
            named = re.compile(r"\{(\w+)\}").match(replacement, position)
            digit = re.compile(r"[0-9]").match(replacement, position)
            if named is not None and named[1] in names:
                number, position = names[named[1]], named.end()
            elif digit is not None and int(digit[0]) <= regex.groups:
                number, position = int(digit[0]), digit.end()
                while position < len(replacement) and replacement[position] in "0123456789":
                    longer = number * 10 + int(replacement[position])
                    if longer > regex.groups:
                        break
                    number, position = longer, position + 1
            else:
                raise Refused(f"the replacement '{replacement}', which names no group behind $")
            if number > 9:
                raise Refused(f"the replacement '{replacement}', which names a tenth group")
            out += f"\\{number}"
        else:
            out += _rewrite_literal(character)
    return out


def _rewrite_literal(character: str) -> str:
    return "\\\\" if character == "\\" else character


def _refuse_replace(call: Call, regex: Regex) -> str | None:
    replacement = _constant(call, 2)
    if replacement is not None and not isinstance(replacement, str):
        return "a replacement that is not a constant"
    if _constant(call, 3) not in (1, None):
        return "a position other than 1"
    if regex.can_be_empty:
        return "a regular expression that matches the empty text"
    if regex.dollar == "inside" or regex.groups > 8:
        return "a regular expression with $ inside a group or an alternative, or with more than eight groups"
    if replacement is None:
        return None
    try:
        rewritten(replacement, regex)
    except Refused as refused:
        return str(refused)
    return None


@strict("reg_exp_replace", refuse=_refuse_regex(_refuse_replace))
def replace(call: Call, text: pa.Array, pattern: Value, replacement: Value, start: Value) -> Value:
    """Every match. A line end that `$` looked at is put back."""
    regex = translate(pattern.as_py())
    new = rewritten(replacement.as_py(), regex)
    if regex.dollar == "last":
        new += f"\\{regex.groups + 1}"
    return pc.replace_substring_regex(text, regex.capturing(), new)


def _refuse_split(call: Call, regex: Regex) -> str | None:
    limit = _constant(call, 2)
    if limit is not None and not isinstance(limit, int):
        return "a limit that is not a constant"
    if regex.literal == "":
        return "a limit and an empty pattern" if isinstance(limit, int) and limit > 0 else None
    return _several_matches(call, regex)


@strict("string_split", refuse=_refuse_regex(_refuse_split))
def split(call: Call, text: pa.Array, pattern: Value, limit: Value) -> Value:
    """The parts between matches, at most `limit` if positive; the characters for an empty pattern."""
    regex = translate(pattern.as_py())
    most = limit.as_py() - 1 if limit.as_py() > 0 else None
    if regex.literal == "":
        return per_distinct(lambda each: list(each) or [""], call.type, text)
    if most == 0:
        return per_distinct(lambda each: [each], call.type, text)
    if regex.literal is not None:
        return pc.split_pattern(text, regex.literal, max_splits=most)
    return pc.split_pattern_regex(text, regex.pattern(), max_splits=most)
