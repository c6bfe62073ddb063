"""Lengths of windows: as the user gives them, and as Spark's functions take them."""

from __future__ import annotations

from collections.abc import Callable

from dbsp.sql.spellings.call_reader import Argument, CallReader
from dbsp.sql.text.tokens import Slice, Token, unquote

# the microseconds of an interval in the user's text; raises ProgramError
Microseconds = Callable[[Slice], int]
_DAY = 86_400_000_000


def length_of(reader: CallReader, argument: Argument, microseconds: Microseconds) -> int:
    """Microseconds of an interval, or of Calcite's TIME '0:12'."""
    first, second = reader.tokens[argument.first], reader.tokens[min(argument.first + 1, argument.stop - 1)]
    if first.upper == "TIME" and second.kind == "string" and argument.stop == argument.first + 2:
        return _time_of_day(reader, second)
    return microseconds(reader.plain(argument))


def _time_of_day(reader: CallReader, token: Token) -> int:
    parts = unquote(token.text).split(":")
    if not 2 <= len(parts) <= 3 or not all(part.isdigit() and len(part) <= 2 for part in parts):
        raise reader.source.error(token.start, f"TIME {token.text} is no time of day, as TIME '0:12'")
    hours, minutes, seconds = [*map(int, parts), 0][:3]
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000


def spelled_lengths(length: int, slide: int, align: int) -> str:
    """The arguments of `window` after its time, as few as say it."""
    align %= slide or 1
    parts = (
        [length] if slide == length and not align else [length, slide, align] if align else [length, slide]
    )
    return "".join(f", '{part} microseconds'" for part in parts) + ")"


def spelled_gap(length: int) -> str:
    """The last argument of `session_window`, and what closes it."""
    days, rest = divmod(length, _DAY)
    return f", '{days} days {rest} microseconds')"
