"""A query at a step's clock: the moment in the place of NOW() and its kin."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Token, tokens

# of the session's time zone, as the literals in their place
_LITERALS = {
    "NOW": "TIMESTAMP",
    "CURRENT_TIMESTAMP": "TIMESTAMP",
    "LOCALTIMESTAMP": "TIMESTAMP_NTZ",
    "CURRENT_DATE": "DATE",
    "CURDATE": "DATE",
}
_WITHOUT_PARENTHESES = {"CURRENT_TIMESTAMP", "CURRENT_DATE", "LOCALTIMESTAMP"}


def ticked(clock: datetime, tick: int) -> datetime:
    """The last tick of a view's own clock. tick: in microseconds; 0: it has none."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return clock - (clock - epoch) % timedelta(microseconds=tick) if tick else clock


def at(query: str, clock: datetime, timezone: str) -> str:
    """The query with `clock` for what reads the clock."""
    moment = clock.astimezone(ZoneInfo(timezone)).replace(tzinfo=None)
    found = tokens(as_it_is(query, "query"))
    text, done = "", 0
    for place, token in enumerate(found):
        stop = _end(found, place)
        if stop is None:
            continue
        literal = _LITERALS[token.upper]
        value = moment.date() if literal == "DATE" else moment
        text += f"{query[done : token.start]}{literal} '{value}'"
        done = stop
    return text + query[done:]


def _end(found: Sequence[Token], place: int) -> int | None:
    """Where what reads the clock ends; None where a token doesn't begin it."""
    token = found[place]
    if token.kind != "word" or token.upper not in _LITERALS or (place and found[place - 1].text == "."):
        return None
    if [one.text for one in found[place + 1 : place + 3]] == ["(", ")"]:
        return found[place + 2].stop
    return token.stop if token.upper in _WITHOUT_PARENTHESES else None
