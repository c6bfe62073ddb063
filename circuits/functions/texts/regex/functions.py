"""Spark's functions of regular expressions that are constant: RE2 matches them over whole columns.

What RE2 has no form for, or means differently, and what a column says, isn't covered: Spark evaluates it, by
java.util.regex itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import strict
from dbsp.circuits.functions.texts.regex.linear import Linear, linear
from dbsp.circuits.functions.texts.regex.nodes import can_be_empty, literal
from dbsp.circuits.functions.texts.regex.parser import Parsed, parse
from dbsp.circuits.functions.texts.regex.replacements import read_replacement
from dbsp.circuits.functions.texts.regex.scanner import Refused
from dbsp.circuits.functions.texts.strings import character_positions


@dataclass(frozen=True, slots=True)
class Regex:
    parsed: Parsed
    linear: Linear


@lru_cache(maxsize=1024)
def translate(pattern: str) -> Regex:
    """Raises Refused."""
    parsed = parse(pattern)
    form = linear(parsed)
    if form is None:
        raise Refused(f"the regular expression '{pattern}', for which RE2 has no form")
    return Regex(parsed, form)


def _refuse(check: Callable[..., object]) -> Callable[[Call], str | None]:
    """`check` of the constant arguments raises Refused."""

    def refuse(call: Call) -> str | None:
        constants = [each.value for each in call.arguments[1:] if isinstance(each, Literal)]
        if len(constants) + 1 < len(call.arguments):
            return "a regular expression, or what is asked of it, that isn't constant"
        if None in constants:
            return None
        try:
            check(*constants)
        except Refused as refused:
            return str(refused)
        return None

    return refuse


# ---- whether and where -----------------------------------------------------------------------------------


def _search(pattern: str, *_: object) -> str:
    return translate(pattern).linear.pattern()


@strict("r_like", refuse=_refuse(_search))
def matches(call: Call, text: pa.Array, pattern: pa.Scalar) -> Value:
    return pc.match_substring_regex(text, _search(pattern.as_py()))


@strict("reg_exp_in_str", refuse=_refuse(_search))
def position(call: Call, text: pa.Array, pattern: pa.Scalar, group: pa.Scalar) -> Value:
    """The 1-based character where the first match begins; 0 if there is none."""
    return character_positions(call, text, pc.find_substring_regex(text, _search(pattern.as_py())))


# ---- what is found ---------------------------------------------------------------------------------------


def _extracting(pattern: str, group: int) -> str:
    """The whole of a match with a line end consumed inside is more than what Java finds."""
    regex = translate(pattern)
    if not 0 <= group <= regex.parsed.groups:
        raise Refused(f"group {group} of a regular expression with {regex.parsed.groups} groups")
    if group == 0 and regex.linear.dollar == "inside":
        raise Refused(f"the regular expression '{pattern}', whose matches RE2 finds longer")
    return regex.linear.pattern(capture=group)


@strict("reg_exp_extract", refuse=_refuse(_extracting))
def extract(call: Call, text: pa.Array, pattern: pa.Scalar, group: pa.Scalar) -> Value:
    """The group's text in the first match; '' where there is none or the group took no part."""
    found = pc.extract_regex(text, _extracting(pattern.as_py(), group.as_py()))
    extracted = pc.fill_null(pc.struct_field(found, "g"), "")
    return pc.if_else(text.is_valid(), extracted, pa.scalar(None, pa.string()))


# ---- what is put or left in their places -----------------------------------------------------------------


def _replacing(pattern: str, replacement: str, start: int) -> tuple[str, str]:
    """The pattern and the replacement for RE2. Empty matches stand elsewhere there, and a line end that `$`
    looked at is put back as a group more."""
    regex = translate(pattern)
    parts, groups = read_replacement(replacement, regex.parsed), regex.parsed.groups
    new, dollar = parts.for_re2(), regex.linear.dollar
    if new is None or groups > 8 or (dollar and 0 in parts.parts):
        raise Refused(f"the replacement '{replacement}', for which RE2 has no form")
    if start != 1 or dollar == "inside" or can_be_empty(regex.parsed.tree):
        raise Refused(f"the regular expression '{pattern}', whose matches RE2 finds elsewhere")
    return regex.linear.capturing(), new + (f"\\{groups + 1}" if dollar else "")


@strict("reg_exp_replace", refuse=_refuse(_replacing))
def replace(
    call: Call, text: pa.Array, pattern: pa.Scalar, replacement: pa.Scalar, start: pa.Scalar
) -> Value:
    form = _replacing(pattern.as_py(), replacement.as_py(), start.as_py())
    return pc.replace_substring_regex(text, *form)


def _splitting(pattern: str, limit: int) -> Regex:
    regex = translate(pattern)
    form = regex.linear
    if limit == 1 or form.dollar or r"\A" in form.tokens or can_be_empty(regex.parsed.tree):
        raise Refused(f"the regular expression '{pattern}', at which RE2 splits elsewhere")
    return regex


@strict("string_split", refuse=_refuse(_splitting))
def split(call: Call, text: pa.Array, pattern: pa.Scalar, limit: pa.Scalar) -> Value:
    """The parts between matches, at most `limit` if positive."""
    regex = _splitting(pattern.as_py(), limit.as_py())
    most = limit.as_py() - 1 if limit.as_py() > 0 else None
    plain = literal(regex.parsed.tree)
    if plain is not None:
        return pc.split_pattern(text, plain, max_splits=most)
    return pc.split_pattern_regex(text, regex.linear.pattern(), max_splits=most)
