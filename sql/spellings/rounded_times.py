"""FLOOR and CEIL of a time TO a unit.

    FLOOR(ts TO HOUR)    date_trunc('HOUR', ts)
    CEIL(ts TO HOUR)     the same of the last moment within the following hour

Source: Apache Calcite, "Streaming".
"""

from __future__ import annotations

from dbsp.sql.spellings.call_reader import CallReader
from dbsp.sql.spellings.rewriting import Edit
from dbsp.sql.text.tokens import Slice

_SHORT_UNITS = {"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"}
_LONG_UNITS = {
    "DAY": "date_add(CAST({} AS DATE), 1)",
    "WEEK": "date_add(trunc(CAST({} AS DATE), 'WEEK'), 7)",
    "MONTH": "add_months(trunc(CAST({} AS DATE), 'MONTH'), 1)",
    "QUARTER": "add_months(trunc(CAST({} AS DATE), 'QUARTER'), 3)",
    "YEAR": "add_months(trunc(CAST({} AS DATE), 'YEAR'), 12)",
}


def rounded(reader: CallReader, at: int) -> tuple[Edit | None, int]:
    """(the edit of the call at a token, the token after it); of anything but a time they are Spark's own."""
    arguments, after = reader.arguments(at)
    if len(arguments) != 1 or arguments[0].stop - arguments[0].first < 3:
        return None, at + 1
    first, stop = arguments[0].first, arguments[0].stop
    to, unit = reader.tokens[stop - 2], reader.tokens[stop - 1].upper
    if to.upper != "TO" or unit not in _SHORT_UNITS | _LONG_UNITS.keys():
        return None, at + 1
    ts = reader.slice(first, stop - 2)
    if reader.tokens[at].upper == "FLOOR":
        return reader.replace(at, after, [f"date_trunc('{unit}', ", ts, ")"]), after
    if unit in _SHORT_UNITS:
        last = f") + (INTERVAL 1 {unit} - INTERVAL 1 MICROSECOND))"
        return reader.replace(at, after, [f"date_trunc('{unit}', (", ts, last]), after
    # days and months are of the calendar: the one after that of the moment before
    before, behind = _LONG_UNITS[unit].split("{}")
    parts: list[str | Slice] = [
        f"CAST({before}(",
        ts,
        f") - INTERVAL 1 MICROSECOND{behind} AS TIMESTAMP)",
    ]
    return reader.replace(at, after, parts), after
