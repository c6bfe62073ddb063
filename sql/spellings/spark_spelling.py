"""Every spelling of a window, and of a join as of a time, in Spark's, so that identical plans result.

    TUMBLE(ts, length[, align])             window(ts, length[, length, align])
    HOP(ts, emit, retain[, align])          window(ts, retain, emit[, align])
    SESSION(ts, gap)                        session_window(ts, gap)
    TUMBLE_START(...), TUMBLE_END(...), ... the same, .start or .end
    TUMBLE(TABLE t, ...), HOP, SESSION      t's rows beside their windows (`window_tables.py`)
    max_diff_watermark(source => TABLE(t), ...)     t (`watermarks.py`)
    ARG_MAX(x, y), ARG_MIN(x, y)            max_by(x, y), min_by(x, y)
    INTERVAL '1:00' HOURS TO MINUTES        INTERVAL '1:00' HOUR TO MINUTE (`intervals.py`)
    OVER (w RANGE ...)                      OVER (PARTITION BY ... RANGE ...) (`named_windows.py`)
    FLOOR(ts TO HOUR), CEIL(ts TO HOUR)     date_trunc('HOUR', ts), ... (`rounded_times.py`)
    SELECT STREAM ...                       SELECT ... (`sql/compiler/streams/` says what STREAM asks for)
    CAST(x AS VARCHAR), x::TEXT             CAST(x AS STRING), ... (`type_names.py`)
    JOIN t FOR SYSTEM_TIME AS OF s.ts       ASOF JOIN t MATCH_CONDITION (s.ts >= t.since) (`system_time.py`)

Lengths are constants, which Spark reads. Sources: Apache Calcite, "Streaming"; the OctoSQL thesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.sql.spellings.call_reader import CallReader
from dbsp.sql.spellings.intervals import of_difference, singular
from dbsp.sql.spellings.named_windows import in_sparks_order, with_definition
from dbsp.sql.spellings.rewriting import Edit, rewritten
from dbsp.sql.spellings.rounded_times import rounded
from dbsp.sql.spellings.stream_word import is_stream_word
from dbsp.sql.spellings.system_time import VersionTime, rewritten_system_time
from dbsp.sql.spellings.type_names import OTHER_NAMES, spelled_type
from dbsp.sql.spellings.watermarks import WATERMARKS, watermarked
from dbsp.sql.spellings.window_lengths import Microseconds, length_of, spelled_gap, spelled_lengths
from dbsp.sql.spellings.window_tables import is_table_function, is_table_wrapper, table_function
from dbsp.sql.text.emission_clauses import begins_emission, emission_stop
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice, Token, tokens_in

_KINDS = ("TUMBLE", "HOP", "SESSION")
_CALLS = {kind: (kind, "") for kind in _KINDS} | {
    f"{kind}_{end}": (kind, f".{end.lower()}") for kind in _KINDS for end in ("START", "END")
}
# Feldera's and others' names of Spark's functions
_EXTREMES = {"ARG_MAX": "max_by", "ARG_MIN": "min_by"}
_FORMS = {
    "TUMBLE": "TUMBLE(ts, INTERVAL '1' HOUR[, TIME '0:12'])",
    "HOP": "HOP(ts, INTERVAL '1' HOUR, INTERVAL '3' HOURS[, TIME '0:12']): emit, then retain",
    "SESSION": "SESSION(ts, INTERVAL '10' MINUTES)",
}


def in_sparks_spelling(
    source: Source,
    text: Slice,
    microseconds: Microseconds,
    version_time: VersionTime,
    checked: Sequence[str | Slice] = (),
    before: str = "SELECT * FROM (",
) -> Slice:
    """The query as Spark spells it; where something follows, after `before`.

    Raises ProgramError at the place of what is wrong.
    """
    inside = tokens_in(source, text)
    end = Token("end", "", text.stop, text.stop)
    reader = _Reader(source, [*inside, end], microseconds, version_time)
    edits = reader.edits(0, len(inside))
    if checked:
        edits = [Edit(text.start, text.start, (before,)), *edits, Edit(text.stop, text.stop, tuple(checked))]
    return rewritten(source, text, edits)


@dataclass
class _Reader(CallReader):
    microseconds: Microseconds
    version_time: VersionTime

    def edit(self, at: int) -> tuple[Edit | None, int]:
        token = self.tokens[at]
        if token.text == ")":
            return of_difference(self.tokens, at)
        return self._word(at) if token.kind == "word" else (None, at + 1)

    def _word(self, at: int) -> tuple[Edit | None, int]:
        token = self.tokens[at]
        if token.upper == "OVER":
            return with_definition(self, at)
        if token.upper == "ORDER":
            return in_sparks_order(self, at)
        if (plural := singular(self.tokens, at)) is not None:
            return plural, at + 1
        if token.upper in ("INNER", "JOIN", "FOR"):
            return rewritten_system_time(self.source, self.tokens, at, self.version_time)
        if token.upper in OTHER_NAMES:
            return spelled_type(self.tokens, at), at + 1
        if begins_emission(self.tokens, at):  # of the view: `sql/text/emission_clauses.py`
            stop = emission_stop(self.tokens, at)
            return Edit(token.start, self.tokens[stop - 1].stop, ()), stop
        if is_stream_word(self.tokens, at) or is_table_wrapper(self, at):
            return Edit(token.start, token.stop, ()), at + 1
        if not self.opens(at) or (at and self.tokens[at - 1].text == "."):
            return None, at + 1
        return self._call(at)

    def _call(self, at: int) -> tuple[Edit | None, int]:
        token = self.tokens[at]
        if token.upper in _CALLS:
            return self._window(at)
        if token.upper in _EXTREMES:
            return Edit(token.start, token.stop, (_EXTREMES[token.upper],)), at + 1
        if token.upper in WATERMARKS:
            return watermarked(self, at)
        if token.upper in ("FLOOR", "CEIL", "CEILING"):
            return rounded(self, at)
        return None, at + 1

    def _window(self, at: int) -> tuple[Edit, int]:
        kind, field = _CALLS[self.tokens[at].upper]
        if not field and is_table_function(self, at):
            return table_function(self, at, self.microseconds)
        arguments, after = self.arguments(at)
        most = {"TUMBLE": 3, "HOP": 4, "SESSION": 2}[kind]
        if not most - (kind != "SESSION") <= len(arguments) <= most:
            name = self.tokens[at].upper
            raise self.error(at, f"{name} takes {_FORMS[kind].replace(kind, name, 1)}")
        time, *lengths = arguments
        shown = [length_of(self, argument, self.microseconds) for argument in lengths]
        ts = self.slice(time.first, time.stop)
        spelled: Sequence[str | Slice]
        if kind == "SESSION":
            spelled = ["session_window(", ts, spelled_gap(shown[0])]
        else:
            slide, length = (shown[0], shown[0]) if kind == "TUMBLE" else (shown[0], shown[1])
            align = shown[most - 2] if len(arguments) == most else 0
            spelled = ["window(", ts, spelled_lengths(length, slide, align)]
        return self.replace(at, after, [*spelled, field]), after
