"""The value of PostgreSQL's E'...', whose backslashes escape: a letter, or a number of a byte or character.

\\n    \\t    \\'    \\\\    \\101 \\x41 (a byte of UTF-8)    \\u00fc \\U0001f600 (a character)

Source: PostgreSQL 17 documentation, 4.1.2.2.
"""

from __future__ import annotations

import re

from dbsp.circuits.errors import DataError

_LETTERS = {"n": b"\n", "t": b"\t", "r": b"\r", "b": b"\b", "f": b"\f"}
_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})"
    r"|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})|(?P<other>.))",
    re.DOTALL,
)


def unescaped(inner: str) -> str:
    """What stands between the quotes, as the text that it means. Raises DataError."""
    inner = inner.replace("''", "'")
    if "\\" not in inner:
        return inner
    found, at = bytearray(), 0
    high = ""  # the first half of a character that is given by two
    for escape in _ESCAPE.finditer(inner):
        between = inner[at : escape.start()]
        at = escape.end()
        character = _character(escape)
        if high and (between or not "\udc00" <= character <= "\udfff"):
            raise DataError(f"E'...': {_half(high)} stands for half a character; the other half must follow")
        found += between.encode()
        if "\ud800" <= character <= "\udbff":
            high = character
        elif character:
            pair = (high + character).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if "\udc00" <= character <= "\udfff" and not high:
                raise DataError(
                    f"E'...': {_half(character)} stands for half a character; nothing is before it"
                )
            found += pair.encode()
            high = ""
        else:
            found += _byte(escape)
    if high:
        raise DataError(f"E'...': {_half(high)} stands for half a character; the other half must follow")
    found += inner[at:].encode()
    try:
        text = found.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"E'...': the bytes {found[error.start : error.end].hex(' ')} are no UTF-8") from None
    if "\0" in text:
        raise DataError("E'...': a text has no character of number 0")
    return text


def _character(escape: re.Match[str]) -> str:
    """By its number; "" of what is none. Raises DataError."""
    digits = escape["short"] or escape["long"]
    if digits is None:
        if escape["other"] in ("u", "U"):
            raise DataError(
                f"E'...': \\{escape['other']} is followed by {4 + 4 * (escape['other'] == 'U')} hex digits"
            )
        return ""
    if int(digits, 16) > 0x10FFFF:
        raise DataError(f"E'...': there is no character of number {digits}")
    return chr(int(digits, 16))


def _byte(escape: re.Match[str]) -> bytes:
    if escape["octal"] is not None:
        return bytes([int(escape["octal"], 8) & 0xFF])
    if escape["hex"] is not None:
        return bytes([int(escape["hex"], 16)])
    return _LETTERS.get(escape["other"], escape["other"].encode())


def _half(character: str) -> str:
    return f"\\u{ord(character):04x}"
