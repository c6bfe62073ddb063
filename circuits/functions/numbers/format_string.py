"""FORMAT_STRING: java.util.Formatter, in Locale.US.

    format(f, a₁ … aₙ) = p₀ ‖ c₁(a₁) ‖ p₁ ‖ …   each c once per distinct argument

What Formatter would throw for (a flag, another type's conversion, an argument that isn't there) is refused.
A number's digits are its shortest, rounded HALF_UP.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import type_name
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value
from dbsp.circuits.expressions.vectors.by_value import by_value
from dbsp.circuits.expressions.vectors.numbers import per_distinct
from dbsp.circuits.expressions.vectors.spread import columnar
from dbsp.circuits.expressions.vectors.utf8 import whole_characters
from dbsp.circuits.functions.numbers.printing import java_text

_SPECIFIER = re.compile(
    r"%(?:(?P<index>[1-9]\d*)\$)?(?P<flags>[-#+ 0,(<]*)(?P<width>[1-9]\d*)?"
    r"(?:\.(?P<precision>\d+))?(?P<kind>.)",
    re.DOTALL,
)
# flags a conversion takes, and whether it takes a precision
_ALLOWED = {
    "s": ("-", True),
    "b": ("-", True),
    "c": ("-", False),
    "d": ("-+ 0,(", False),
    "x": ("-#0", False),
    "o": ("-#0", False),
    "f": ("-#+ 0,(", True),
    "e": ("-#+ 0(", True),
}
_MOST = 10_000  # characters a width or precision may ask for
_EXACT = Context(prec=20_000, rounding=ROUND_HALF_UP)


class _Unusable(ValueError):
    """A format, with these arguments, that Formatter throws for or that isn't covered; says which part."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """One conversion. argument: its position, from 0."""

    kind: str
    upper: bool
    flags: str
    width: int
    precision: int | None
    argument: int

    def justified(self, text: str) -> str:
        """In its width, which counts UTF-16's units."""
        padding = " " * (self.width - len(text.encode("utf-16-le")) // 2)
        return text + padding if "-" in self.flags else padding + text

    def general(self, text: str) -> str:
        """Cut to the precision, which counts UTF-16's units: half a character is a question mark."""
        if self.precision is not None:
            cut = text.encode("utf-16-le")[: 2 * self.precision]
            text = whole_characters(cut.decode("utf-16-le", "surrogatepass"))
        return self.justified(text.upper() if self.upper else text)

    def signed(self, negative: bool, digits: str, behind: str = "", zeros: bool = True) -> str:
        """digits: the magnitude; behind: what isn't grouped. Zeros between sign and digits fill the width."""
        if negative:
            sign, end = ("(", ")") if "(" in self.flags else ("-", "")
        else:
            sign, end = "+" if "+" in self.flags else " " if " " in self.flags else "", ""
        if "," in self.flags:
            whole, point, fraction = digits.partition(".")
            digits = f"{int(whole):,}{point}{fraction}"
        if "0" in self.flags and zeros:
            digits = digits.rjust(self.width - len(sign) - len(end) - len(behind), "0")
        return self.justified(sign + digits + behind + end)

    def integer(self, value: int) -> str:
        return self.signed(value < 0, str(abs(value)))

    def character(self, value: int) -> str:
        if not 0 <= value <= 0x10FFFF:
            raise EvaluationError("INVALID_PARAMETER_VALUE", f"{value} is no code point, in format_string")
        return self.justified(whole_characters(chr(value)))

    def unsigned(self, value: int, bits: int) -> str:
        """Two's complement in base 8 or 16."""
        digits, prefix = f"{value % 2**bits:{self.kind}}", "0x" if self.kind == "x" else "0"
        prefix = prefix if "#" in self.flags else ""
        if "0" in self.flags:
            digits = digits.rjust(self.width - len(prefix), "0")
        text = prefix + digits
        return self.justified(text.upper() if self.upper else text)

    def floating(self, value: float) -> str:
        if math.isnan(value):
            return self.justified("NAN" if self.upper else "NaN")
        negative = str(value).startswith("-")
        if math.isinf(value):
            shown = "INFINITY" if self.upper else "Infinity"
            sign = ("(" if "(" in self.flags else "-") if negative else ""
            sign = sign or ("+" if "+" in self.flags else " " if " " in self.flags else "")
            return self.justified(sign + shown + (")" if sign == "(" else ""))
        places = 6 if self.precision is None else self.precision
        digits, behind = Decimal(repr(abs(value))), ""
        if self.kind == "e":
            digits, exponent = _scientific(digits, places)
            behind = f"{'E' if self.upper else 'e'}{exponent:+03d}"
        shown = f"{digits.quantize(Decimal(1).scaleb(-places), context=_EXACT):f}"
        return self.signed(negative, shown + "." * ("#" in self.flags and not places), behind)


def _scientific(value: Decimal, places: int) -> tuple[Decimal, int]:
    """(mantissa of one digit before the point, exponent) to that many places."""
    if not value:
        return value, 0
    exponent = value.adjusted()
    mantissa = value.scaleb(-exponent).quantize(Decimal(1).scaleb(-places), context=_EXACT)
    return (mantissa / 10, exponent + 1) if mantissa >= 10 else (mantissa, exponent)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> tuple[str | _Piece, ...]:
    """Literal text and conversions in turn. Raises _Unusable."""
    found: list[str | _Piece] = []
    at = ordinary = 0
    last: int | None = None
    while (start := text.find("%", at)) >= 0:
        found.append(text[at:start])
        part = _SPECIFIER.match(text, start)
        if part is None:
            raise _Unusable(f"the format '{text[start:]}'")
        at, shown = part.end(), f"the conversion '{part[0]}'"
        if part[0] in ("%n", "%%"):
            found.append("\n" if part[0] == "%n" else "%")
            continue
        kind, flags = part["kind"], part["flags"]
        if part["index"]:
            last = int(part["index"]) - 1
        elif "<" not in flags:
            last, ordinary = ordinary, ordinary + 1
        flags = flags.replace("<", "", 1)
        upper = kind in "BXE"
        kind = kind.lower() if upper else kind
        allowed, precise = _ALLOWED.get(kind, ("", False))
        width, precision = part["width"], part["precision"]
        if (
            kind not in _ALLOWED
            or last is None
            or set(flags) - set(allowed)
            or len(set(flags)) < len(flags)
            or {"-", "0"} <= set(flags)
            or {"+", " "} <= set(flags)
            or (width is None and set(flags) & {"-", "0"})
            or (precision is not None and not precise)
            or max(int(width or 0), int(precision or 0)) > _MOST
        ):
            raise _Unusable(shown)
        limit = None if precision is None else int(precision)
        found.append(_Piece(kind, upper, flags, int(width or 0), limit, last))
    return (*found, text[at:])


def _check(piece: _Piece, types: list[pa.DataType]) -> None:
    """Raises _Unusable where the conversion doesn't take its argument."""
    if piece.argument >= len(types):
        raise _Unusable(f"a format that reads {piece.argument + 1} arguments of {len(types)}")
    type_ = types[piece.argument]
    fits = {
        "s": pt.is_string(type_) or pt.is_boolean(type_) or pt.is_integer(type_) or pt.is_floating(type_),
        "b": True,
        "c": pt.is_integer(type_) and type_ != pa.int64(),
        "f": pt.is_floating(type_),
        "e": pt.is_floating(type_),
    }.get(piece.kind, pt.is_integer(type_))
    if not fits and not pt.is_null(type_):
        raise _Unusable(f"the conversion '%{piece.kind}' of {type_name(type_)}")


def _refuse(call: Call) -> str | None:
    pattern, *arguments = call.arguments
    if not isinstance(pattern, Literal):
        return None
    try:
        for piece in _parsed(str(pattern.value)) if pattern.value is not None else ():
            if isinstance(piece, _Piece):
                _check(piece, [each.type for each in arguments])
    except _Unusable as what:
        return str(what)
    return None


def _conversion(piece: _Piece, type_: pa.DataType) -> Callable[..., str]:
    if piece.kind in "sb":
        return piece.general
    if piece.kind == "d":
        return piece.integer
    if piece.kind == "c":
        return piece.character
    if piece.kind in "fe":
        return piece.floating
    return lambda value: piece.unsigned(value, type_.bit_width)


def _shown(piece: _Piece, values: pa.Array) -> pa.Array:
    if piece.kind == "b":
        truth = pc.fill_null(values, False) if pt.is_boolean(values.type) else values.is_valid()
        values = pc.if_else(truth, "true", "false")
    elif piece.kind == "s" and pt.is_floating(values.type):
        values = java_text(values)
    elif piece.kind == "s":
        values = values.cast(pa.string())
    converted = per_distinct(_conversion(piece, values.type), pa.string(), values)
    return pc.fill_null(converted, piece.general("null"))


@columnar("format_string", strict=False, refuse=_refuse)
@by_value(0)
def format_string(call: Call, pattern: Value, *arguments: pa.Array) -> Value:
    """NULL only where the format is: an argument that is NULL is written as null."""
    try:
        pieces = _parsed(pattern.as_py())
        for piece in pieces:
            if isinstance(piece, _Piece):
                _check(piece, [each.type for each in arguments])
    except _Unusable as what:
        raise EvaluationError("INVALID_PARAMETER_VALUE.PATTERN", f"not supported: {what}", 0) from None
    parts = [
        _shown(piece, arguments[piece.argument]) if isinstance(piece, _Piece) else pa.scalar(piece)
        for piece in pieces
    ]
    return pc.binary_join_element_wise(*parts, pa.scalar(""))
