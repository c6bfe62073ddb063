"""JSON text piece by piece, as Jackson writes it for Spark: no spaces, \\u00XX in capitals."""

from __future__ import annotations

import math
import re

from dbsp.circuits.functions.json.reader import Malformed, Reader

_SPECIAL = re.compile(r'["\\\x00-\x1f]')
_OUTSIDE_BMP = re.compile(r"[\U00010000-\U0010ffff\ud800-\udfff]")
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def quoted(text: str, *, escape_pairs: bool = False) -> str:
    """A JSON string. escape_pairs: what isn't one UTF-16 unit as \\uXXXX\\uXXXX, as Jackson writes UTF-8."""
    text = _SPECIAL.sub(lambda found: _SHORT.get(found[0]) or f"\\u{ord(found[0]):04X}", text)
    if escape_pairs and not text.isascii():
        text = _OUTSIDE_BMP.sub(lambda found: _units(found[0]), text)
    return f'"{text}"'


def _units(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02X}{units[at + 1]:02X}" for at in range(0, len(units), 2))


def java_double(value: float) -> str:
    """Double.toString: the shortest digits that read back, d.ddd or d.dddE±n."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    if abs(value) < 1e-321:  # of the least, two digits come nearer than one
        return f"{value:.1e}".replace("e", "E")
    sign = "-" if value < 0 else ""
    written, _, exponent = repr(abs(value)).partition("e")
    if 1e-3 <= abs(value) < 1e7:
        return sign + (f"{abs(value):f}" if exponent else written)
    whole, _, fraction = written.partition(".")
    digits = (whole + fraction).lstrip("0")
    shift = int(exponent or 0) - len(fraction) + len(digits) - 1
    digits = digits.rstrip("0")
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{shift}"


class Writer:
    """A generator: values in arrays and objects get their commas, values side by side a space."""

    def __init__(self, *, escape_pairs: bool) -> None:
        self._pieces: list[str] = []
        self._escape_pairs = escape_pairs
        self._counts = [0]
        self._separators = [" "]

    def __str__(self) -> str:
        return "".join(self._pieces)

    def raw(self, text: str) -> None:
        """Text that isn't counted as a value."""
        self._pieces.append(text)

    def value(self, text: str) -> None:
        if self._counts[-1] and self._separators[-1]:
            self._pieces.append(self._separators[-1])
        self._counts[-1] += 1
        self._pieces.append(text)

    def name(self, text: str) -> None:
        comma = "," if self._counts[-1] else ""
        self._pieces.append(f"{comma}{quoted(text, escape_pairs=self._escape_pairs)}:")

    def start(self, bracket: str) -> None:
        self.value(bracket)
        self._counts.append(0)
        self._separators.append("," if bracket == "[" else "")

    def end(self, bracket: str) -> None:
        self._pieces.append(bracket)
        self._counts.pop()
        self._separators.pop()

    def copy(self, reader: Reader) -> None:
        """The value the reader's token starts: numbers as Java's, everything else as it is."""
        depth = 0
        while True:
            token = reader.token
            match token:
                case "{" | "[":
                    self.start(token)
                    depth += 1
                case "}" | "]":
                    self.end(token)
                    depth -= 1
                case "name":
                    self.name(reader.name)
                    depth += 1
                case "string":
                    self.value(quoted(reader.text, escape_pairs=self._escape_pairs))
                case "int":
                    self.value(str(int(reader.number)))
                case "float":
                    text = java_double(float(reader.number))
                    self.value(text if math.isfinite(float(reader.number)) else f'"{text}"')
                case None:
                    raise Malformed("no value")
                case _:
                    self.value(token)
            if token == "name":
                depth -= 1
            elif depth == 0:
                return
            reader.next()
