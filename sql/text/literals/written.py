"""The literals of a query's text: where each stands, its value and its type, as Spark reads them.

    n   INT, BIGINT      n.m   DECIMAL(p,s)      nEm   DOUBLE      'text'   STRING      DATE 'y-m-d'   DATE
    nL, nS, nY, nBD, nD                                     TIMESTAMP '...', TIMESTAMP_NTZ '...'

Others, and values that are spelled in another way, aren't read: who asks takes them for words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa

from dbsp.sql.text.tokens import Token, unquote

_NUMBER = re.compile(r"(\d+)(\.\d*)?|(\.\d+)")
_INTEGERS = {"": pa.int32(), "L": pa.int64(), "S": pa.int16(), "Y": pa.int8()}
_DIGITS = 38
# what a time is called that depends on the clock
_SPECIAL = ("epoch", "now", "today", "yesterday", "tomorrow")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?")


@dataclass(frozen=True, slots=True)
class Written:
    """text[start:stop] is its spelling, without a minus before it. value: as `Literal` has it."""

    start: int
    stop: int
    value: object
    type: pa.DataType

    @property
    def digits(self) -> int:
        """Of an integer: how many it has, which is the precision of a DECIMAL made of it."""
        return len(str(self.value))


def written(tokens: Sequence[Token], timezone: str) -> list[Written]:
    """The literals among a text's tokens, in order."""
    found = []
    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i else token
        start, read = token.start, None
        if token.kind == "number":
            read = _number(token.text)
        elif token.kind == "string" and not _is_part(tokens, i):
            typed = _TYPED.get(before.upper) if before.kind == "word" else None
            if typed is not None:
                start, read = before.start, typed(unquote(token.text), timezone)
            elif before.upper not in ("X", "INTERVAL"):
                read = _text(unquote(token.text))
        if read is not None:
            found.append(Written(start, token.stop, *read))
    return found


def _is_part(tokens: Sequence[Token], i: int) -> bool:
    """Whether another string stands beside it: Spark joins them."""
    return tokens[i - 1].kind == "string" or tokens[i + 1].kind == "string"


def _number(text: str) -> tuple[object, pa.DataType] | None:
    match = _NUMBER.match(text)
    assert match is not None, text
    digits, suffix = match[0], text[match.end() :].upper()
    whole = digits.isdigit()
    if suffix in _INTEGERS and whole:
        return _integer(int(digits), suffix)
    if suffix in ("", "BD"):
        return _decimal(digits)
    if suffix == "D" or re.fullmatch(r"E[+-]?\d+D?", suffix):
        number = float(text.rstrip("dD"))
        return (number, pa.float64()) if number not in (float("inf"), 0.0) else None
    return None


def _integer(value: int, suffix: str) -> tuple[object, pa.DataType] | None:
    type_ = _INTEGERS[suffix]
    if not suffix and value > 2**31:
        type_ = pa.int64()
    # the least of a type is one more than its greatest, with a minus before it
    return (value, type_) if value < 2 ** (type_.bit_width - 1) and value != 2**31 else None


def _decimal(digits: str) -> tuple[object, pa.DataType] | None:
    value = Decimal(digits)
    _, places, exponent = value.as_tuple()
    assert isinstance(exponent, int), digits
    scale = -exponent
    precision = max(len(places), scale, 1)
    return (value, pa.decimal128(precision, scale)) if precision <= _DIGITS else None


def _text(value: str) -> tuple[object, pa.DataType] | None:
    # a pattern's escape is checked before there is a row
    if "\\" in value or value.strip().lower().startswith(_SPECIAL):
        return None
    return (value, pa.string()) if value.isprintable() else None


def _day(text: str, _: str) -> tuple[object, pa.DataType] | None:
    try:
        return (date.fromisoformat(text), pa.date32()) if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def _moment(text: str, timezone: str) -> tuple[object, pa.DataType] | None:
    naive = _naive(text, timezone)
    if naive is None or timezone != "UTC":
        return None
    return naive[0].replace(tzinfo=UTC), pa.timestamp("us", tz="UTC")


def _naive(text: str, _: str) -> tuple[datetime, pa.DataType] | None:
    try:
        return (datetime.fromisoformat(text), pa.timestamp("us")) if _MOMENT.fullmatch(text) else None
    except ValueError:
        return None


_TYPED: dict[str, Callable[[str, str], tuple[object, pa.DataType] | None]] = {
    "DATE": _day,
    "TIMESTAMP": _moment,
    "TIMESTAMP_NTZ": _naive,
}
