"""Watermarks as functions of a table: what they say is the LATENESS of its column, and they leave its rows.

    max_diff_watermark(source => TABLE(t), time_field => DESCRIPTOR(ts), max_diff => INTERVAL 5 SECONDS)
                                        t, with ts ... LATENESS INTERVAL 5 SECONDS
    percentile_watermark(source => TABLE(t), time_field => DESCRIPTOR(ts), events => n, percentile => p,
                         frequency => k)
                                        t, with ts ... LATENESS PERCENTILE p OVER n ROWS EVERY k ROWS

Source: OctoSQL, whose `max_diff` was called `offset` at first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from dbsp.circuits.progress.percentile import Percentile
from dbsp.sql.spellings.call_reader import Argument, CallReader
from dbsp.sql.spellings.rewriting import Edit
from dbsp.sql.text.annotations import LatenessClause
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice, Token, tokens_in

WATERMARKS = {
    "MAX_DIFF_WATERMARK": (
        ("source", "max_diff", "time_field"),
        "max_diff_watermark(source => TABLE(t), max_diff => INTERVAL 5 SECONDS, "
        "time_field => DESCRIPTOR(ts))",
    ),
    "PERCENTILE_WATERMARK": (
        ("source", "time_field", "events", "percentile", "frequency"),
        "percentile_watermark(source => TABLE(t), time_field => DESCRIPTOR(ts), events => 1000, "
        "percentile => 5, frequency => 1)",
    ),
}
_OPTIONAL = ("frequency",)


@dataclass(frozen=True, slots=True)
class Watermark:
    """relation, column: by their names. place: of the call."""

    relation: str
    column: str
    clause: LatenessClause
    place: int


def watermarked(reader: CallReader, at: int) -> tuple[Edit, int]:
    """(the edit that leaves the rows of the call at a token, the token after it)."""
    arguments, after = _arguments(reader, at)
    return reader.replace(at, after, [reader.plain(_table(reader, arguments["source"]))]), after


def watermarks_in(source: Source, text: Slice) -> list[Watermark]:
    """Those that a query calls. Raises ProgramError."""
    inside = tokens_in(source, text)
    calls = _Calls(source, [*inside, Token("end", "", text.stop, text.stop)])
    calls.edits(0, len(inside))
    return calls.found


@dataclass
class _Calls(CallReader):
    found: list[Watermark] = field(default_factory=list)

    def edit(self, at: int) -> tuple[Edit | None, int]:
        if self.tokens[at].upper in WATERMARKS and self.opens(at):
            arguments, after = _arguments(self, at)
            self.found.append(_watermark(self, at, arguments))
            return None, after
        return None, at + 1


def _arguments(reader: CallReader, at: int) -> tuple[dict[str, Argument], int]:
    names, form = WATERMARKS[reader.tokens[at].upper]
    listed, after = reader.arguments(at)
    given: dict[str, Argument] = {}
    for argument, position in zip(listed, (*names, *[""] * len(listed)), strict=False):
        name = argument.name or position
        name = "max_diff" if name == "offset" else name
        if name not in names or name in given:
            what = argument.name or "one argument more"
            raise reader.error(argument.first, f"there is no '{what}' here; it is {form}")
        given[name] = argument
    if any(name not in given for name in names if name not in _OPTIONAL):
        raise reader.error(at, f"it is {form}")
    return given, after


def _watermark(reader: CallReader, at: int, given: Mapping[str, Argument]) -> Watermark:
    relation = "".join(
        reader.tokens[i].text.strip("`") for i in range(*_places(_table(reader, given["source"])))
    )
    time = given["time_field"]
    if reader.tokens[time.first].upper != "DESCRIPTOR" or time.stop - time.first < 4:
        raise reader.error(time.first, "the column of the time is given as DESCRIPTOR(ts)")
    column = reader.tokens[time.stop - 2].text.strip("`")
    place = reader.tokens[at].start
    if "max_diff" in given:
        return Watermark(relation, column, LatenessClause(reader.plain(given["max_diff"]), None), place)
    share, over = (_number(reader, given[name]) for name in ("percentile", "events"))
    every = _number(reader, given["frequency"]) if "frequency" in given else Decimal(1)
    if not 0 <= share <= 100:
        raise reader.error(given["percentile"].first, f"percentile {share} is not from 0 to 100")
    for name, value in (("events", over), ("frequency", every)):
        if value < 1 or value != int(value):
            raise reader.error(given[name].first, f"{name} is a whole number of rows, at least 1")
    percentile = Percentile(share, int(over), int(every))
    return Watermark(relation, column, LatenessClause(reader.plain(time), None, percentile), place)


def _table(reader: CallReader, argument: Argument) -> Argument:
    """The name in TABLE(t), TABLE t or t."""
    first, stop = argument.first, argument.stop
    first += reader.tokens[first].upper == "TABLE" and stop - first > 1
    if reader.tokens[first].text == "(":
        first, stop = first + 1, stop - 1
    if not all(t.kind in ("word", "quoted") or t.text == "." for t in reader.tokens[first:stop]):
        raise reader.error(argument.first, "a watermark is of a table or view: source => TABLE(name)")
    return Argument(first, stop)


def _places(argument: Argument) -> tuple[int, int]:
    return argument.first, argument.stop


def _number(reader: CallReader, argument: Argument) -> Decimal:
    token = reader.tokens[argument.first]
    if token.kind != "number" or argument.stop - argument.first != 1:
        raise reader.error(
            argument.first, f"a number is expected, as 10, not '{reader.plain(argument).text}'"
        )
    return Decimal(token.text)
