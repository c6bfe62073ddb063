"""Texts as PostgreSQL writes values of a type, as literals of Spark SQL.

bytea     \\x00ff, or bytes with \\\\ and \\ooo        X'00ff'
numeric   1.50, 1E-3                                 1.50BD: with its own digits
uuid      with dashes or without               '...', with them
time      10:00:00+02, whose offset says nothing     CAST('10:00:00' AS TIME)

Source: PostgreSQL 17 documentation, 8.1.2, 8.4 and 8.5.1.2.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from uuid import UUID

from dbsp.circuits.errors import DataError

# digits of Spark's DECIMAL
DIGITS = 38
_ESCAPED = re.compile(r"\\(?:(\\)|([0-3][0-7]{2})|)")
_OFFSET = re.compile(r"(?<=\d)\s*(?:z|utc|[+-]\d\d?(?::?\d\d){0,2})\s*$", re.IGNORECASE)


def bytes_said(text: str) -> bytes:
    """What a text of bytea means. Raises DataError."""
    if text.startswith("\\x"):
        try:
            return bytes.fromhex(text[2:])  # which skips spaces, as PostgreSQL does
        except ValueError:
            raise DataError(f"'{text[:40]}' is no bytea: after \\x come two hex digits a byte") from None
    found, at = bytearray(), 0
    for escape in _ESCAPED.finditer(text):
        if escape[1] is None and escape[2] is None:
            raise DataError(
                f"'{text[:40]}' is no bytea: a backslash comes before another, or three octal digits"
            )
        found += text[at : escape.start()].encode()
        found += b"\\" if escape[1] else bytes([int(escape[2], 8)])
        at = escape.end()
    return bytes(found) + text[at:].encode()


def bytea(text: str) -> str:
    """Raises DataError."""
    return f"X'{bytes_said(text).hex()}'"


def numeric(text: str) -> str:
    """With as many digits as it has. Raises DataError."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        raise DataError(f"'{text[:40]}' is no number") from None
    if not value.is_finite():
        raise DataError("NaN and infinity are no DECIMAL; cast them to double precision")
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    whole, places = max(value.adjusted() + 1, 0), max(-exponent, 0)
    if whole + places > DIGITS:
        said = f"a numeric has at most {DIGITS} digits; round it, or cast it to double precision"
        raise DataError(f"{text.strip()[:40]}: {said}")
    return f"({value:f}BD)"


def uuid_said(text: str) -> str:
    """As PostgreSQL shows it: in lower case, with dashes. Raises DataError."""
    try:
        return str(UUID(text.strip()))
    except ValueError:
        raise DataError(f"'{text[:40]}' is no uuid") from None


def uuid(text: str) -> str:
    """Raises DataError."""
    return f"'{uuid_said(text)}'"


def time(text: str) -> str:
    """PostgreSQL drops the offset, too: drivers send the one of their own zone."""
    escaped = _OFFSET.sub("", text).replace("\\", "\\\\").replace("'", "\\'")
    return f"CAST('{escaped}' AS TIME)"
