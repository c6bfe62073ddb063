"""Intervals as Calcite and Feldera write them.

    INTERVAL '1:00' HOURS TO MINUTES    INTERVAL '1:00' HOUR TO MINUTE
    (a - b) SECOND < x                  (a - b) < x, which is an interval of days to seconds
    (a - b) DAY TO SECOND               (a - b)

A unit behind parentheses is a name for their value, where it may be one: `SELECT (a - b) SECOND FROM`.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbsp.sql.spellings.rewriting import Edit, rewritten
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice, Token, tokens_in

_UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_PLURALS = {f"{unit}S": unit for unit in _UNITS}
_SHORT = _UNITS[2:]
# what may stand before parentheses, which are those of no call
_BEFORE = ("WHERE", "AND", "OR", "ON", "NOT", "SELECT", "WHEN", "THEN", "HAVING", "ELSE")
_COMPARED = ("<", ">", "=", "!", "BETWEEN", "AS")


def in_singular(source: Source, text: Slice) -> Slice:
    """A constant's text, with its units as Spark has them."""
    inside = tokens_in(source, text)
    inside.append(Token("end", "", text.stop, text.stop))
    found = [singular(inside, at) for at in range(len(inside) - 1)]
    return rewritten(source, text, [edit for edit in found if edit is not None])


def singular(inside: Sequence[Token], at: int) -> Edit | None:
    """The edit of a unit of `x TO y` that stands in the plural. inside: ended by one of kind 'end'."""
    token = inside[at]
    if token.upper not in _PLURALS:
        return None
    before, after = inside[max(at - 1, 0)].upper, inside[at + 1].upper
    opens = after == "TO" and at and inside[at - 1].kind == "string"
    closes = before == "TO" and at > 1 and inside[at - 2].upper in (*_UNITS, *_PLURALS)
    return Edit(token.start, token.stop, (_PLURALS[token.upper],)) if opens or closes else None


def of_difference(inside: Sequence[Token], at: int) -> tuple[Edit | None, int]:
    """(the edit of the unit behind the parenthesis that closes at a token, the token after it)."""
    unit = inside[at + 1] if at + 1 < len(inside) else inside[at]
    if unit.upper not in _SHORT or not _is_difference(inside, at):
        return None, at + 1
    stop = at + 2
    if inside[stop].upper == "TO" and inside[min(stop + 1, len(inside) - 1)].upper in _SHORT:
        stop += 2
    elif inside[stop].upper not in _COMPARED:
        return None, at + 1
    return Edit(unit.start, inside[stop - 1].stop, ()), stop


def _is_difference(inside: Sequence[Token], at: int) -> bool:
    """Whether what the parenthesis closes is no call, and a difference."""
    depth, minus = 0, False
    for i in range(at, -1, -1):
        depth += (inside[i].text == ")") - (inside[i].text == "(")
        minus |= depth == 1 and inside[i].text == "-"
        if depth == 0:
            before = inside[i - 1]
            return minus and (i == 0 or before.kind not in ("word", "quoted") or before.upper in _BEFORE)
    return False
