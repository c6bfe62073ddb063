"""Durations of settings: 500ms, '2 s', 1min; a number alone is one of milliseconds.

Source: PostgreSQL 17 documentation, chapter 19.1.1.
"""

from __future__ import annotations

import re

_SAID = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(us|ms|s|min|h|d|)\s*")
_UNITS = {"us": 0.001, "": 1.0, "ms": 1.0, "s": 1e3, "min": 60e3, "h": 3_600e3, "d": 86_400e3}
_SHOWN = ("d", "h", "min", "s")
# as in PostgreSQL: 24 days
_MOST = 2**31 - 1


def milliseconds(text: str) -> int | None:
    """None: it is no duration, or too long a one."""
    found = _SAID.fullmatch(text)
    if found is None:
        return None
    given = round(float(found[1]) * _UNITS[found[2]])
    return given if given <= _MOST else None


def duration_shown(count: int) -> str:
    """So many milliseconds, in the largest unit of which they are a whole number."""
    unit = next((unit for unit in _SHOWN if count and count % _UNITS[unit] == 0), None)
    if unit is not None:
        return f"{int(count / _UNITS[unit])}{unit}"
    return f"{count}ms" if count else "0"
