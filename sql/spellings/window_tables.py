"""Windows as functions of a table, in Spark's spelling.

    TUMBLE(TABLE t, DESCRIPTOR(ts), length[, offset])          (SELECT *, window(...).start AS window_start,
    HOP(TABLE t, DESCRIPTOR(ts), slide, length[, offset])        window(...).end AS window_end FROM t)
    tumble(source => TABLE(t), time_field => DESCRIPTOR(ts), window_length => ..., offset => ...)
    SESSION(TABLE t, DESCRIPTOR(ts)[, DESCRIPTOR(k, ...)], gap)
                                            t's rows, joined with the sessions of k that they are in

Sources: Apache Calcite, "Streaming", whose names these are, and the OctoSQL thesis, whose named arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbsp.sql.spellings.call_reader import Argument, CallReader
from dbsp.sql.spellings.rewriting import Edit
from dbsp.sql.spellings.window_lengths import Microseconds, length_of, spelled_gap, spelled_lengths
from dbsp.sql.text.tokens import Slice

_Parts = list[str | Slice]

_FORMS = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR[, INTERVAL '12' MINUTES])",
    "HOP": "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '3' HOURS): slide, then length",
    "SESSION": "SESSION(TABLE t, DESCRIPTOR(ts)[, DESCRIPTOR(key, ...)], INTERVAL '10' MINUTES)",
}
_NAMES = {
    "source": "source", "data": "source", "time_field": "time", "timecol": "time",
    "window_length": "length", "size": "length", "gap": "length", "slide": "slide", "offset": "offset",
    "key": "key",
}  # fmt: skip
_POSITIONS = {
    "TUMBLE": ("source", "time", "length", "offset"),
    "HOP": ("source", "time", "slide", "length", "offset"),
    "SESSION": ("source", "time", "key", "length"),
}
_OPTIONAL = ("offset", "key")


def is_table_wrapper(reader: CallReader, at: int) -> bool:
    """Whether the token is TABLE in TABLE(TUMBLE(TABLE t, ...)), which Spark doesn't write."""
    if reader.tokens[at].upper != "TABLE" or not reader.opens(at):
        return False
    return reader.tokens[at + 2].upper in _FORMS and is_table_function(reader, at + 2)


def is_table_function(reader: CallReader, at: int) -> bool:
    """Whether the first argument is a table."""
    first, second = reader.tokens[at + 2], reader.tokens[at + 3]
    named = second.text == "=" and reader.tokens[min(at + 4, len(reader.tokens) - 1)].text == ">"
    return reader.opens(at) and (named or first.upper == "TABLE")


def table_function(reader: CallReader, at: int, microseconds: Microseconds) -> tuple[Edit, int]:
    """(the edit of the call at a token, the token after it)."""
    kind = reader.tokens[at].upper
    arguments, after = reader.arguments(at)
    given = _by_name(reader, at, kind, arguments)
    table = _table(reader, given["source"])
    ts = _descriptor(reader, given["time"])
    length = length_of(reader, given["length"], microseconds)
    if kind == "SESSION":
        keys = _descriptors(reader, given["key"]) if "key" in given else []
        return reader.replace(at, after, _with_sessions(table, ts, keys, length)), after
    slide = length_of(reader, given["slide"], microseconds) if kind == "HOP" else length
    offset = length_of(reader, given["offset"], microseconds) if "offset" in given else 0
    lengths = spelled_lengths(length, slide, offset)
    parts: _Parts = ["(SELECT *, window(", ts, f"{lengths}.start AS window_start, window(", ts]
    parts += [f"{lengths}.end AS window_end FROM ", table, ")"]
    return reader.replace(at, after, parts), after


def _by_name(reader: CallReader, at: int, kind: str, arguments: Sequence[Argument]) -> dict[str, Argument]:
    positions = _POSITIONS[kind]
    if kind == "SESSION" and len(arguments) == 3:
        positions = tuple(name for name in positions if name != "key" or arguments[2].name)
    given: dict[str, Argument] = {}
    for argument, position in zip(arguments, (*positions, *[""] * len(arguments)), strict=False):
        name = _NAMES.get(argument.name, "") if argument.name else position
        if name not in positions or name in given:
            what = argument.name or "one argument more"
            raise reader.error(argument.first, f"{kind} has no '{what}' here; it takes {_FORMS[kind]}")
        given[name] = argument
    missing = [name for name in positions if name not in given and name not in _OPTIONAL]
    if missing:
        raise reader.error(at, f"{kind} of a table takes {_FORMS[kind]}")
    return given


def _table(reader: CallReader, argument: Argument) -> Slice:
    """`TABLE t`, `TABLE(t)`, `TABLE (SELECT ...)` without the word; a name without parentheses."""
    first, stop = argument.first, argument.stop
    first += reader.tokens[first].upper == "TABLE" and stop - first > 1
    while stop - first >= 3 and reader.tokens[first].text == "(" and _is_name(reader, first + 1, stop - 1):
        first, stop = first + 1, stop - 1
    return reader.slice(first, stop)


def _is_name(reader: CallReader, first: int, stop: int) -> bool:
    return all(t.kind in ("word", "quoted") or t.text == "." for t in reader.tokens[first:stop]) and (
        reader.tokens[first].upper != "SELECT"
    )


def _descriptor(reader: CallReader, argument: Argument, what: str = "the column of the time") -> Slice:
    is_call = reader.tokens[argument.first].upper == "DESCRIPTOR" and reader.opens(argument.first)
    if not is_call or argument.stop - argument.first < 4:
        raise reader.error(argument.first, f"{what} is given as DESCRIPTOR(ts)")
    first = argument.first + 2
    if argument.name and all(
        t.kind in ("word", "quoted") or t.text == "." for t in reader.tokens[first : argument.stop - 1]
    ):
        first = argument.stop - 2  # OctoSQL's names keep the name of what they were read from: e.time
    return reader.slice(first, argument.stop - 1)


def _descriptors(reader: CallReader, argument: Argument) -> list[Slice]:
    """The columns of DESCRIPTOR(a, b)."""
    _descriptor(reader, argument, "a key")
    columns, _ = reader.arguments(argument.first)
    return [reader.plain(column) for column in columns]


def _with_sessions(table: Slice, ts: Slice, keys: Sequence[Slice], gap: int) -> _Parts:
    """Sessions of a key have no time in common: a row is in one."""
    ends = "session_window.start AS window_start, session_window.end AS window_end FROM "
    listed: _Parts = [part for key in keys for part in (key, ", ")]
    grouped: _Parts = [part for key in keys for part in (", ", key)]
    equal: _Parts = [part for key in keys for part in ("__rows.", key, " <=> __sessions.", key, " AND ")]
    rows: _Parts = [
        "(SELECT __rows.*, __sessions.window_start, __sessions.window_end FROM ",
        table,
        " AS __rows",
    ]
    sessions: _Parts = [
        "(SELECT ",
        *listed,
        ends,
        table,
        " GROUP BY session_window(",
        ts,
        spelled_gap(gap),
        *grouped,
        ")",
    ]
    during: _Parts = [
        "__rows.",
        ts,
        " >= __sessions.window_start AND __rows.",
        ts,
        " < __sessions.window_end)",
    ]
    return [*rows, " JOIN ", *sessions, " AS __sessions ON ", *equal, *during]
