"""Every spelling of a window, and of a join as of a time, in Spark's, so that identical plans result.

    TUMBLE(ts, length[, align])             window(ts, length[, length, align])
    HOP(ts, emit, retain[, align])          window(ts, retain, emit[, align])
    SESSION(ts, gap)                        session_window(ts, gap)
    TUMBLE_START(...), TUMBLE_END(...), ... the same, .start or .end
    TUMBLE(TABLE t, DESCRIPTOR(ts), length[, offset])          (SELECT *, window(...).start AS window_start,
    HOP(TABLE t, DESCRIPTOR(ts), slide, length[, offset])        window(...).end AS window_end FROM t)
    tumble(source => TABLE(t), time_field => DESCRIPTOR(ts), window_length => ..., offset => ...)
    SESSION(TABLE t, DESCRIPTOR(ts)[, DESCRIPTOR(k, ...)], gap)
                                            t's rows, joined with the sessions of k that they are in
    FLOOR(ts TO HOUR)                       date_trunc('HOUR', ts)
    CEIL(ts TO HOUR)                        the same of the last moment within the following hour
    SELECT STREAM ...                       SELECT ... (`streams.py` says what STREAM asks for)
    JOIN t FOR SYSTEM_TIME AS OF s.ts       ASOF JOIN t MATCH_CONDITION (s.ts >= t.since) (`system_time.py`)

Lengths are constants, which Spark reads. Sources: Apache Calcite, "Streaming"; the OctoSQL thesis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sql.rewriting import Edit, rewritten
from sql.source import Source
from sql.streams import is_stream_word
from sql.system_time import VersionTime, rewritten_system_time
from sql.tokens import Slice, Token, tokens, unquote

# the microseconds of an interval in the user's text; raises ProgramError
Microseconds = Callable[[Slice], int]
_Parts = list[str | Slice]

_KINDS = ("TUMBLE", "HOP", "SESSION")
_CALLS = {kind: (kind, "") for kind in _KINDS} | {
    f"{kind}_{end}": (kind, f".{end.lower()}") for kind in _KINDS for end in ("START", "END")
}
_FORMS = {
    "TUMBLE": "TUMBLE(ts, INTERVAL '1' HOUR[, TIME '0:12'])",
    "HOP": "HOP(ts, INTERVAL '1' HOUR, INTERVAL '3' HOURS[, TIME '0:12']): emit, then retain",
    "SESSION": "SESSION(ts, INTERVAL '10' MINUTES)",
}
_TABLE_FORMS = {
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
_DAY = 86_400_000_000
_SHORT_UNITS = {"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"}
_LONG_UNITS = {
    "DAY": "date_add(CAST({} AS DATE), 1)",
    "WEEK": "date_add(trunc(CAST({} AS DATE), 'WEEK'), 7)",
    "MONTH": "add_months(trunc(CAST({} AS DATE), 'MONTH'), 1)",
    "QUARTER": "add_months(trunc(CAST({} AS DATE), 'QUARTER'), 3)",
    "YEAR": "add_months(trunc(CAST({} AS DATE), 'YEAR'), 12)",
}


def in_sparks_spelling(
    source: Source, text: Slice, microseconds: Microseconds, version_time: VersionTime
) -> Slice:
    """The query as Spark spells it. Raises ProgramError at the place of what is wrong."""
    inside = [t for t in tokens(source) if text.start <= t.start < text.stop]
    end = Token("end", "", text.stop, text.stop)
    reader = _Reader(source, [*inside, end], microseconds, version_time)
    return rewritten(source, text, reader.edits(0, len(inside)))


@dataclass(frozen=True)
class _Argument:
    """Tokens first to stop − 1 (numbers of tokens). name: before `=>`, in lower case, or ''."""

    first: int
    stop: int
    name: str = ""


@dataclass
class _Reader:
    source: Source
    tokens: list[Token]
    microseconds: Microseconds
    version_time: VersionTime

    def edits(self, first: int, stop: int) -> list[Edit]:
        """Of all calls among tokens first to stop − 1 that aren't Spark's."""
        found: list[Edit] = []
        at = first
        while at < stop:
            edit, after = self._edit(at)
            if edit is not None:
                found.append(edit)
            at = after
        return found

    def _edit(self, at: int) -> tuple[Edit | None, int]:
        """(the edit of the call that begins at a token, the token after it)."""
        token = self.tokens[at]
        if token.kind != "word":
            return None, at + 1
        if token.upper in ("INNER", "JOIN", "FOR"):
            return rewritten_system_time(self.source, self.tokens, at, self.version_time)
        if is_stream_word(self.tokens, at):
            return Edit(token.start, token.stop, ()), at + 1
        is_wrapper = token.upper == "TABLE" and self._opens(at) and self.tokens[at + 2].upper in _TABLE_FORMS
        if is_wrapper and self._is_table_function(at + 2):
            return Edit(token.start, token.stop, ()), at + 1
        if not self._opens(at) or (at and self.tokens[at - 1].text == "."):
            return None, at + 1
        if token.upper in _CALLS:
            return self._window(at)
        if token.upper in ("FLOOR", "CEIL", "CEILING"):
            return self._rounded(at)
        return None, at + 1

    def _opens(self, at: int) -> bool:
        return self.tokens[at + 1].text == "("

    def _slice(self, first: int, stop: int) -> Slice:
        """The tokens' text, with its own calls rewritten."""
        start, end = self.tokens[first].start, self.tokens[stop - 1].stop
        text = Slice(self.source.text[start:end], start)
        return rewritten(self.source, text, self.edits(first, stop))

    def _plain(self, argument: _Argument) -> Slice:
        start, end = self.tokens[argument.first].start, self.tokens[argument.stop - 1].stop
        return Slice(self.source.text[start:end], start)

    def _arguments(self, at: int) -> tuple[list[_Argument], int]:
        """(arguments of the call at a token, the token after its closing parenthesis)."""
        found: list[_Argument] = []
        depth, first = 0, at + 2
        for i in range(at + 1, len(self.tokens)):
            text = self.tokens[i].text
            depth += (text == "(") - (text == ")")
            if (depth == 0 or (depth == 1 and text == ",")) and i >= first:
                if i > first:
                    found.append(self._named(first, i))
                first = i + 1
            if depth == 0:
                return found, i + 1
        raise self.source.error(self.tokens[at].start, f"'{self.tokens[at].text}(' is never closed")

    def _named(self, first: int, stop: int) -> _Argument:
        tokens = self.tokens
        if stop - first > 3 and tokens[first + 1].text == "=" and tokens[first + 2].text == ">":
            return _Argument(first + 3, stop, tokens[first].text.lower())
        return _Argument(first, stop)

    def _error(self, at: int, message: str) -> Exception:
        return self.source.error(self.tokens[at].start, message)

    # ---- windows as functions of a time

    def _window(self, at: int) -> tuple[Edit, int]:
        kind, field = _CALLS[self.tokens[at].upper]
        if not field and self._is_table_function(at):
            return self._table_function(at)
        arguments, after = self._arguments(at)
        most = {"TUMBLE": 3, "HOP": 4, "SESSION": 2}[kind]
        if not most - (kind != "SESSION") <= len(arguments) <= most:
            name = self.tokens[at].upper
            raise self._error(at, f"{name} takes {_FORMS[kind].replace(kind, name, 1)}")
        time, *lengths = arguments
        shown = [self._length(argument) for argument in lengths]
        ts = self._slice(time.first, time.stop)
        spelled: _Parts
        if kind == "SESSION":
            spelled = ["session_window(", ts, _gap(shown[0])]
        else:
            slide, length = (shown[0], shown[0]) if kind == "TUMBLE" else (shown[0], shown[1])
            align = shown[most - 2] if len(arguments) == most else 0
            spelled = ["window(", ts, _lengths(length, slide, align)]
        return self._replace(at, after, [*spelled, field]), after

    def _length(self, argument: _Argument) -> int:
        """Microseconds of an interval, or of Calcite's TIME '0:12'."""
        first, second = self.tokens[argument.first], self.tokens[min(argument.first + 1, argument.stop - 1)]
        if first.upper == "TIME" and second.kind == "string" and argument.stop == argument.first + 2:
            return self._time_of_day(second)
        return self.microseconds(self._plain(argument))

    def _time_of_day(self, token: Token) -> int:
        parts = unquote(token.text).split(":")
        if not 2 <= len(parts) <= 3 or not all(part.isdigit() and len(part) <= 2 for part in parts):
            raise self.source.error(token.start, f"TIME {token.text} is no time of day, as TIME '0:12'")
        hours, minutes, seconds = [*map(int, parts), 0][:3]
        return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000

    def _replace(self, at: int, after: int, parts: Sequence[str | Slice]) -> Edit:
        return Edit(self.tokens[at].start, self.tokens[after - 1].stop, tuple(parts))

    # ---- windows as functions of a table

    def _is_table_function(self, at: int) -> bool:
        """Whether the first argument is a table."""
        first, second = self.tokens[at + 2], self.tokens[at + 3]
        named = second.text == "=" and self.tokens[min(at + 4, len(self.tokens) - 1)].text == ">"
        return self._opens(at) and (named or first.upper == "TABLE")

    def _table_function(self, at: int) -> tuple[Edit, int]:
        kind = self.tokens[at].upper
        arguments, after = self._arguments(at)
        given = self._by_name(at, kind, arguments)
        table = self._table(given["source"])
        ts = self._descriptor(given["time"])
        length = self._length(given["length"])
        if kind == "SESSION":
            keys = self._descriptors(given["key"]) if "key" in given else []
            return self._replace(at, after, _with_sessions(table, ts, keys, length)), after
        slide = self._length(given["slide"]) if kind == "HOP" else length
        offset = self._length(given["offset"]) if "offset" in given else 0
        lengths = _lengths(length, slide, offset)
        parts: _Parts = ["(SELECT *, window(", ts, f"{lengths}.start AS window_start, window(", ts]
        parts += [f"{lengths}.end AS window_end FROM ", table, ")"]
        return self._replace(at, after, parts), after

    def _by_name(self, at: int, kind: str, arguments: Sequence[_Argument]) -> dict[str, _Argument]:
        positions = _POSITIONS[kind]
        if kind == "SESSION" and len(arguments) == 3:
            positions = tuple(name for name in positions if name != "key" or arguments[2].name)
        given: dict[str, _Argument] = {}
        for argument, position in zip(arguments, (*positions, *[""] * len(arguments)), strict=False):
            name = _NAMES.get(argument.name, "") if argument.name else position
            if name not in positions or name in given:
                what = argument.name or "one argument more"
                raise self._error(
                    argument.first, f"{kind} has no '{what}' here; it takes {_TABLE_FORMS[kind]}"
                )
            given[name] = argument
        missing = [name for name in positions if name not in given and name not in _OPTIONAL]
        if missing:
            raise self._error(at, f"{kind} of a table takes {_TABLE_FORMS[kind]}")
        return given

    def _table(self, argument: _Argument) -> Slice:
        """`TABLE t`, `TABLE(t)`, `TABLE (SELECT ...)` without the word; a name without parentheses."""
        first, stop = argument.first, argument.stop
        first += self.tokens[first].upper == "TABLE" and stop - first > 1
        while stop - first >= 3 and self.tokens[first].text == "(" and self._is_name(first + 1, stop - 1):
            first, stop = first + 1, stop - 1
        return self._slice(first, stop)

    def _is_name(self, first: int, stop: int) -> bool:
        return all(t.kind in ("word", "quoted") or t.text == "." for t in self.tokens[first:stop]) and (
            self.tokens[first].upper != "SELECT"
        )

    def _descriptor(self, argument: _Argument, what: str = "the column of the time") -> Slice:
        is_call = self.tokens[argument.first].upper == "DESCRIPTOR" and self._opens(argument.first)
        if not is_call or argument.stop - argument.first < 4:
            raise self._error(argument.first, f"{what} is given as DESCRIPTOR(ts)")
        return self._slice(argument.first + 2, argument.stop - 1)

    def _descriptors(self, argument: _Argument) -> list[Slice]:
        """The columns of DESCRIPTOR(a, b)."""
        self._descriptor(argument, "a key")
        columns, _ = self._arguments(argument.first)
        return [self._plain(column) for column in columns]

    # ---- FLOOR and CEIL

    def _rounded(self, at: int) -> tuple[Edit | None, int]:
        """FLOOR(ts TO unit). Anything else is Spark's own."""
        arguments, after = self._arguments(at)
        if len(arguments) != 1 or arguments[0].stop - arguments[0].first < 3:
            return None, at + 1
        first, stop = arguments[0].first, arguments[0].stop
        to, unit = self.tokens[stop - 2], self.tokens[stop - 1].upper
        if to.upper != "TO" or unit not in _SHORT_UNITS | _LONG_UNITS.keys():
            return None, at + 1
        ts = self._slice(first, stop - 2)
        if self.tokens[at].upper == "FLOOR":
            return self._replace(at, after, [f"date_trunc('{unit}', ", ts, ")"]), after
        if unit in _SHORT_UNITS:
            last = f") + (INTERVAL 1 {unit} - INTERVAL 1 MICROSECOND))"
            return self._replace(at, after, [f"date_trunc('{unit}', (", ts, last]), after
        # days and months are of the calendar: the one after that of the moment before
        before, behind = _LONG_UNITS[unit].split("{}")
        parts: list[str | Slice] = [
            f"CAST({before}(",
            ts,
            f") - INTERVAL 1 MICROSECOND{behind} AS TIMESTAMP)",
        ]
        return self._replace(at, after, parts), after


def _gap(length: int) -> str:
    """The last argument of `session_window`, and what closes it."""
    days, rest = divmod(length, _DAY)
    return f", '{days} days {rest} microseconds')"


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
        _gap(gap),
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


def _lengths(length: int, slide: int, align: int) -> str:
    """The arguments of `window` after its time, as few as say it."""
    align %= slide or 1
    parts = (
        [length] if slide == length and not align else [length, slide, align] if align else [length, slide]
    )
    return "".join(f", '{part} microseconds'" for part in parts) + ")"
