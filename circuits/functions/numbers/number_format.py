"""TO_CHAR, TO_NUMBER and TRY_TO_NUMBER by a format of numbers.

    [MI|S] [$] [0|9|,|G]... [.|D] [0|9]... [$] [PR|MI|S]

A run of digits that begins with 0 stands for exactly so many digits before the point, one that begins with 9
for at most so many. Spark checks the format when it analyses the query. Once per distinct value.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cache

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.numbers import per_distinct, strict

_TOKEN = re.compile(r"[09,G]+|[.D]|\$|S|MI|PR")
_PART = re.compile(r"[09]+|[,G]")
_SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f"
_NO_SPACES = "\xa0\u2007\u202f"
_EXACT = Context(prec=80)


@dataclass(frozen=True)
class _Format:
    """tokens: runs of digits and commas as they stand in the format; "." "$" "S" "MI" "PR"."""

    text: str
    tokens: tuple[str, ...]

    def places(self) -> tuple[int, int]:
        """How many digits there are before the point, and after it."""
        at = self.tokens.index(".") if "." in self.tokens else len(self.tokens)
        counts = [sum(c in "09" for c in token) for token in self.tokens]
        return sum(counts[:at]), sum(counts[at:])


@cache
def _format(text: str) -> _Format:
    tokens = [token.replace("G", ",").replace("D", ".") for token in _TOKEN.findall(text.upper())]
    return _Format(text, tuple(tokens))


def _refuse(call: Call) -> str | None:
    return None if isinstance(call.arguments[1], Literal) else "a format that isn't constant"


@strict("to_character", refuse=_refuse)
def to_character(call: Call, numbers: Value, form: Value) -> Value:
    """'#' in place of all digits where the number has more of them than the format."""
    format_ = _format(form.as_py())
    return per_distinct(lambda number: _written(number, format_), call.type, numbers)


@strict("to_number", refuse=_refuse)
def to_number(call: Call, texts: Value, form: Value) -> Value:
    """Raises INVALID_FORMAT.MISMATCH_INPUT for what doesn't match."""
    format_ = _format(form.as_py())

    def run(text: str) -> Decimal:
        value = _read(text, format_)
        if value is None:
            message = f"'{text}' doesn't match the format {format_.text}. Use try_to_number to get NULL."
            raise EvaluationError("INVALID_FORMAT.MISMATCH_INPUT", message)
        return value

    return per_distinct(run, call.type, texts)


@strict("try_to_number", refuse=_refuse)
def try_to_number(call: Call, texts: Value, form: Value) -> Value:
    format_ = _format(form.as_py())
    return per_distinct(lambda text: _read(text, format_), call.type, texts)


# ---- reading


def _read(text: str, format_: _Format) -> Decimal | None:
    """None where the text doesn't match. Signs may be left out, a dollar only at the text's end."""
    at, negative, opened, closed = 0, False, False, False
    digits = ["", ""]
    tokens = ("<", *format_.tokens) if "PR" in format_.tokens else format_.tokens
    after, exact = 0, True
    for token in tokens:
        here = text[at : at + 1]
        if token[0] in "09,":
            end = _read_digits(text, at, token, exact, digits, after)
            if end is None:
                return None
            at = end
        elif token == ".":
            after, exact = max(after, here == "."), False
            at += here == "."
        elif token == "$":
            if here not in ("", "$"):
                return None
            at += len(here)
        elif token in ("S", "MI"):
            negative ^= here == "-"
            at += here == "-" or (here == "+" and token == "S")
        elif token == "<":
            opened = here == "<"
            at += opened
        elif here == ">":
            if not opened:
                return None
            closed, negative = True, not negative
            at += 1
    if at < len(text) or opened != closed or not any(digits):
        return None
    return _value(digits, negative, format_)


def _value(digits: list[str], negative: bool, format_: _Format) -> Decimal:
    before, after = format_.places()
    whole = int(digits[0] + digits[1].ljust(after, "0"))
    if whole >= 10 ** (before + after):
        raise EvaluationError(
            "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
            f"{whole} at scale {after} can't be represented as DECIMAL({before + after}, {after}).",
        )
    return Decimal(-whole if negative else whole).scaleb(-after, _EXACT)


def _read_digits(text: str, at: int, token: str, exact: bool, digits: list[str], after: int) -> int | None:
    """Where the digits, commas and spaces end; None where a group has not as many digits as it should.

    exact: whether 0 asks for all digits, as it does before the format's point. after: the text's point.
    """
    sizes, size = [], 0
    while at < len(text):
        character = text[at]
        if character == ",":
            sizes.append(size)
            size = 0
        elif unicodedata.category(character) == "Nd":
            digits[after] += str(unicodedata.decimal(character))
            size += 1
        elif not _is_space(character):
            break
        at += 1
    sizes.append(size)
    groups = [part for part in _PART.findall(token) if part != ","]
    if len(sizes) > len(groups):
        return None
    sizes = [0] * (len(groups) - len(sizes)) + sizes
    for group, there in zip(groups, sizes, strict=True):
        if there > len(group) or (group[0] == "0" and exact and there != len(group)):
            return None
    return at


def _is_space(character: str) -> bool:
    if character in _SPACES:
        return True
    return unicodedata.category(character)[0] == "Z" and character not in _NO_SPACES


# ---- writing


def _written(number: Decimal, format_: _Format) -> str:
    places = format_.places()
    digits = list(_digits(number, places))
    negative = number < 0
    made = "<" if negative and "PR" in format_.tokens else ""
    after = False
    for token in format_.tokens:
        if token[0] in "09,":
            made, digits[after] = _write_digits(made, token, digits[after], after)
        elif token == ".":
            made = (made[:-1] + "0" if made.endswith(" ") else made) + "."
            after = True
        elif token == "$":
            made += "$"
        elif token == "MI" and not negative:
            made += " "
        else:
            made = _without_lone_point(made)
            sign = ("-" if negative else "+") if token != "PR" else ">" if negative else ""
            made = _before_spaces(made, sign) if sign else made + "  "
    made = _without_lone_point(made)
    return "0" if made in ("", "+", "-") else made


def _digits(number: Decimal, places: tuple[int, int]) -> tuple[str, str]:
    """As many as there are places, spaces before them and zeros behind."""
    whole, _, fraction = f"{abs(number):f}".partition(".")
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    if len(whole) > places[0] or len(fraction) > places[1]:
        whole, fraction = "#" * places[0], "#" * places[1]
    return whole.rjust(places[0]), fraction.ljust(places[1], "0")


def _write_digits(made: str, token: str, digits: str, after: bool) -> tuple[str, str]:
    """(the text so far with them, the digits that are left)"""
    for part in _PART.findall(token):
        if part == ",":
            made = made + "," if made[-1:].isdigit() else _space(made)
            continue
        for digit in digits[: len(part)]:
            if digit != " ":
                made += digit
            elif part[0] == "0" and not after:
                made += "0"
            else:
                made = _space(made)
        digits = digits[len(part) :]
    return made, digits


def _space(made: str) -> str:
    """A space, which goes before a sign."""
    stem = made.rstrip("+-<")
    return stem + " " + made[len(stem) :]


def _before_spaces(made: str, sign: str) -> str:
    stem = made.rstrip(" ")
    return stem + sign + made[len(stem) :]


def _without_lone_point(made: str) -> str:
    """A point without a digit behind it is a space."""
    at = made.find(".")
    return made[:at] + " " + made[at + 1 :] if at >= 0 and made[at + 1 : at + 2] in ("", " ") else made
