"""Spark's functions of regular expressions.

A constant one is matched by RE2 over whole columns, wherever RE2 means the same; else, and where it is a
column, by `re`, once for each distinct combination of values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import per_distinct, strict
from dbsp.circuits.functions.texts.regex.ambiguity import is_exponential
from dbsp.circuits.functions.texts.regex.backtracking import (
    Backtracking,
    as_searched,
    as_text,
    captured,
    characters_before,
)
from dbsp.circuits.functions.texts.regex.linear import Linear, linear
from dbsp.circuits.functions.texts.regex.nodes import can_be_empty, literal
from dbsp.circuits.functions.texts.regex.parser import Parsed, parse
from dbsp.circuits.functions.texts.regex.replacements import Replacement, read_replacement
from dbsp.circuits.functions.texts.regex.scanner import Refused
from dbsp.circuits.functions.texts.strings import character_positions


@dataclass(frozen=True, slots=True)
class Regex:
    """linear: for RE2, if it has such a form."""

    source: str
    parsed: Parsed
    linear: Linear | None
    backtracking: Backtracking
    is_exponential: bool


@lru_cache(maxsize=1024)  # a column of them may be as many
def translate(pattern: str) -> Regex:
    """Raises Refused."""
    parsed = parse(pattern)
    return Regex(pattern, parsed, linear(parsed), Backtracking(parsed, pattern), is_exponential(parsed.tree))


def searchable(pattern: str) -> Regex:
    """For `re`. Raises Refused where it may never end."""
    regex = translate(pattern)
    if regex.is_exponential:
        raise Refused(
            f"the regular expression '{pattern}', which can take exponential time where it doesn't match; "
            "let its inner repetition give nothing back, as a++ does"
        )
    return regex


def _of_row(pattern: str) -> Regex:
    try:
        return searchable(pattern)
    except Refused as refused:
        raise EvaluationError("INVALID_PARAMETER_VALUE.PATTERN", str(refused)) from refused


def _constants(call: Call) -> list[object]:
    """Of the arguments behind the text; ... for a column."""
    return [each.value if isinstance(each, Literal) else ... for each in call.arguments[1:]]


def _refuse(check: Callable[..., None]) -> Callable[[Call], str | None]:
    """`check` of the constant arguments raises Refused; where there is a column among them, rows fail."""

    def refuse(call: Call) -> str | None:
        constants = _constants(call)
        if ... in constants or None in constants:
            return None
        try:
            check(*constants)
        except Refused as refused:
            return str(refused)
        return None

    return refuse


def _are_constant(*arguments: Value) -> bool:
    return all(isinstance(each, pa.Scalar) for each in arguments)


# ---- whether and where -----------------------------------------------------------------------------------


def _refuse_search(pattern: str, *_: object) -> None:
    if translate(pattern).linear is None:
        searchable(pattern)


@strict("r_like", refuse=_refuse(_refuse_search))
def matches(call: Call, text: pa.Array, pattern: Value) -> Value:
    form = translate(pattern.as_py()).linear if _are_constant(pattern) else None
    if form is not None:
        return pc.match_substring_regex(text, form.pattern())
    return per_distinct(_matches, call.type, text, pattern)


def _matches(text: str, pattern: str) -> bool:
    return _of_row(pattern).backtracking.search(text) is not None


@strict("reg_exp_in_str", refuse=_refuse(_refuse_search))
def position(call: Call, text: pa.Array, pattern: Value, group: Value) -> Value:
    """The 1-based character where the first match begins; 0 if there is none."""
    form = translate(pattern.as_py()).linear if _are_constant(pattern) else None
    if form is not None:
        return character_positions(call, text, pc.find_substring_regex(text, form.pattern()))
    return per_distinct(_position, call.type, text, pattern)


def _position(text: str, pattern: str) -> int:
    searched = as_searched(text)
    match = next(_of_row(pattern).backtracking.matches(searched), None)
    return 0 if match is None else characters_before(searched, match.start()) + 1


# ---- what is found ---------------------------------------------------------------------------------------


def _check_group(regex: Regex, group: int) -> None:
    if not 0 <= group <= regex.parsed.groups:
        raise Refused(f"group {group} of a regular expression with {regex.parsed.groups} groups")
    _check_certain(regex, [group])


def _check_certain(regex: Regex, groups: Iterable[int]) -> None:
    for group in regex.parsed.uncertain.intersection(groups):
        raise Refused(
            f"group {group} of the regular expression '{regex.source}', "
            "whose text Java leaves to chance: of an attempt that failed, or of an empty iteration"
        )


def _group_of_row(pattern: str, group: int) -> Regex:
    regex = _of_row(pattern)
    try:
        _check_group(regex, group)
    except Refused as refused:
        raise EvaluationError("INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX", str(refused)) from refused
    return regex


def _linear_group(pattern: str, group: int) -> Linear | None:
    """The whole of a match with a line end consumed inside is more than what Java finds."""
    form = translate(pattern).linear
    return None if form is None or (group == 0 and form.dollar == "inside") else form


def _refuse_extract(pattern: str, group: int) -> None:
    _check_group(translate(pattern), group)
    if _linear_group(pattern, group) is None:
        searchable(pattern)


@strict("reg_exp_extract", refuse=_refuse(_refuse_extract))
def extract(call: Call, text: pa.Array, pattern: Value, group: Value) -> Value:
    """The group's text in the first match; '' where there is none or the group took no part."""
    form = _linear_group(pattern.as_py(), group.as_py()) if _are_constant(pattern, group) else None
    if form is None:
        return per_distinct(_extract, call.type, text, pattern, group)
    found = pc.extract_regex(text, form.pattern(capture=group.as_py()))
    extracted = pc.fill_null(pc.struct_field(found, "g"), "")
    return pc.if_else(text.is_valid(), extracted, pa.scalar(None, pa.string()))


def _extract(text: str, pattern: str, group: int) -> str:
    match = _group_of_row(pattern, group).backtracking.search(text)
    return "" if match is None else captured(match, group)


def _refuse_extract_all(pattern: str, group: int) -> None:
    _check_group(searchable(pattern), group)


@strict("reg_exp_extract_all", refuse=_refuse(_refuse_extract_all))
def extract_all(call: Call, text: pa.Array, pattern: Value, group: Value) -> Value:
    """The group's text in every match. Arrow finds only first matches, so this is always `re`'s."""
    return per_distinct(_extract_all, call.type, text, pattern, group)


def _extract_all(text: str, pattern: str, group: int) -> list[str]:
    found = _group_of_row(pattern, group).backtracking.matches(as_searched(text))
    return [captured(match, group) for match in found]


# ---- what is put or left in their places -----------------------------------------------------------------


def _linear_replacement(pattern: str, replacement: str, start: int) -> tuple[str, str] | None:
    """The pattern and the replacement for RE2. Empty matches stand elsewhere there, and a line end that `$`
    looked at is put back as a group more."""
    regex = translate(pattern)
    form = regex.linear
    if form is None or form.dollar == "inside" or can_be_empty(regex.parsed.tree):
        return None
    parts = read_replacement(replacement, regex.parsed)
    new = parts.for_re2()
    if start != 1 or new is None or regex.parsed.groups > 8 or (form.dollar and 0 in parts.parts):
        return None
    return form.capturing(), new + (f"\\{regex.parsed.groups + 1}" if form.dollar else "")


def _refuse_replace(pattern: str, replacement: str, start: int) -> None:
    _read_replacement(replacement, pattern)
    if _linear_replacement(pattern, replacement, start) is None:
        searchable(pattern)


@strict("reg_exp_replace", refuse=_refuse(_refuse_replace))
def replace(call: Call, text: pa.Array, pattern: Value, replacement: Value, start: Value) -> Value:
    """Every match from the 1-based character `start`, as if the text began there."""
    if _are_constant(pattern, replacement, start):
        form = _linear_replacement(pattern.as_py(), replacement.as_py(), start.as_py())
        if form is not None:
            return pc.replace_substring_regex(text, *form)
    return per_distinct(_replace, call.type, text, pattern, replacement, start)


def _replace(text: str, pattern: str, replacement: str, start: int) -> str:
    regex, searched = _of_row(pattern), as_searched(text)
    new = _replacement_of_row(replacement, pattern)
    if start > 1 and start > len(text):
        return text
    begin = len(as_searched(text[: start - 1]))
    end, parts = begin, [searched[:begin]]
    for match in regex.backtracking.matches(searched, begin):
        parts += [searched[end : begin + match.start()], new.of(match)]
        end = begin + match.end()
    return as_text("".join([*parts, searched[end:]]))


def _read_replacement(text: str, pattern: str) -> Replacement:
    regex = translate(pattern)
    replacement = read_replacement(text, regex.parsed)
    _check_certain(regex, (part for part in replacement.parts if isinstance(part, int)))
    return replacement


@lru_cache(maxsize=256)
def _replacement_of_row(replacement: str, pattern: str) -> Replacement:
    try:
        return _read_replacement(replacement, pattern)
    except Refused as refused:
        raise EvaluationError("INVALID_PARAMETER_VALUE.PATTERN", str(refused)) from refused


def _refuse_split(pattern: str, limit: int) -> None:
    if not _splits_by_re2(translate(pattern)):
        searchable(pattern)


def _splits_by_re2(regex: Regex) -> bool:
    form = regex.linear
    return (
        form is not None
        and not form.dollar
        and r"\A" not in form.tokens
        and not can_be_empty(regex.parsed.tree)
    )


@strict("string_split", refuse=_refuse(_refuse_split))
def split(call: Call, text: pa.Array, pattern: Value, limit: Value) -> Value:
    """The parts between matches, at most `limit` if positive; the characters for an empty pattern."""
    if not _are_constant(pattern, limit):
        return per_distinct(_split, call.type, text, pattern, limit)
    regex = translate(pattern.as_py())
    most = limit.as_py() - 1 if limit.as_py() > 0 else None
    if most == 0 or not _splits_by_re2(regex):
        return per_distinct(_split, call.type, text, pattern, limit)
    assert regex.linear is not None
    plain = literal(regex.parsed.tree)
    if plain is not None:
        return pc.split_pattern(text, plain, max_splits=most)
    return pc.split_pattern_regex(text, regex.linear.pattern(), max_splits=most)


def _split(text: str, pattern: str, limit: int) -> list[str]:
    """Java's: nothing empty stands before an empty match at the very beginning."""
    if not pattern and text:
        most = len(text) if limit <= 0 else min(limit, len(text))
        return [*text[: most - 1], text[most - 1 :]]
    searched, end = as_searched(text), 0
    parts: list[str] = []
    for match in _of_row(pattern).backtracking.matches(searched):
        if 0 < limit <= len(parts) + 1:
            break
        if match.end() == 0:
            continue
        parts.append(searched[end : match.start()])
        end = match.end()
    return [as_text(part) for part in (*parts, searched[end:])]
