"""Temporal joins: a table as of the other side's time, as SQL:2011, Calcite and Flink write it.

    [LEFT] JOIN t FOR SYSTEM_TIME AS OF s.ts [AS] p ON ...
    [LEFT] ASOF JOIN t p MATCH_CONDITION (s.ts >= p.since) ON ...

A row of t is a version, valid from its *version time* to that of the next row that ON allows. Which column
that is the table says: the one time in its PRIMARY KEY, or else its one column with LATENESS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow.types as pt

from dbsp.sql.plans.program import Table, View
from dbsp.sql.spellings.rewriting import Edit
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice, Token

# the name of a relation's version time; raises ProgramError at the place
VersionTime = Callable[[str, int], str]

_CLAUSE = ("FOR", "SYSTEM_TIME", "AS", "OF")
_FORM = "write [LEFT] JOIN table FOR SYSTEM_TIME AS OF other.ts [AS alias] ON ..."
# what may follow the name of a table and is no alias of it
AFTER_TABLE = {
    "ON", "USING", "WHERE", "JOIN", "LEFT", "RIGHT", "INNER", "FULL", "CROSS", "ASOF", "NATURAL", "SEMI",
    "ANTI", "LATERAL", "GROUP", "ORDER", "HAVING", "LIMIT", "OFFSET", "UNION", "EXCEPT", "INTERSECT",
    "WINDOW", "QUALIFY", "MINUS", "PIVOT", "UNPIVOT", "TABLESAMPLE", "SORT", "CLUSTER", "DISTRIBUTE",
}  # fmt: skip


def rewritten_system_time(
    source: Source, tokens: Sequence[Token], at: int, version_time: VersionTime
) -> tuple[Edit | None, int]:
    """(the edit of what begins at a token, the token after it); None where nothing does.

    tokens: ending in one of kind 'end'.
    """
    word = tokens[at].upper
    if word == "INNER" and tokens[at + 1].upper == "JOIN" and _clause_of(tokens, at + 1) is not None:
        return Edit(tokens[at].start, tokens[at].stop, ()), at + 1
    if word == "JOIN" and _clause_of(tokens, at) is not None:
        return Edit(tokens[at].start, tokens[at].stop, ("ASOF JOIN",)), at + 1
    if not _is_clause(tokens, at):
        return None, at + 1
    first = _begin_of_name(tokens, at)
    before = [token.upper for token in tokens[max(first - 3, 0) : first]]
    if first == at or before[-1:] != ["JOIN"] or set(before) & {"RIGHT", "FULL", "CROSS", "SEMI", "ANTI"}:
        raise source.error(tokens[at].start, f"FOR SYSTEM_TIME AS OF is for the table of a join; {_FORM}")
    time, stop = at + 4, _end_of_name(tokens, at + 4)
    if stop == time:
        raise source.error(
            tokens[time].start, f"FOR SYSTEM_TIME AS OF takes a column of the other side; {_FORM}"
        )
    asked = _slice(source, tokens, time, stop)
    parts: list[str | Slice] = []
    qualifier = tokens[at - 1].text
    has_as = tokens[stop].upper == "AS"
    alias = tokens[stop + has_as]
    if has_as or alias.kind == "quoted" or (alias.kind == "word" and alias.upper not in AFTER_TABLE):
        qualifier = alias.text
        stop += 1 + has_as
        parts += [_slice(source, tokens, stop - 1, stop), " "]
    column = version_time(tokens[at - 1].text.strip("`"), tokens[at].start).replace("`", "``")
    parts += ["MATCH_CONDITION (", asked, f" >= {qualifier}.`{column}`)"]
    return Edit(tokens[at].start, tokens[stop - 1].stop, tuple(parts)), stop


def version_time_of(source: Source, relation: Table | View, place: int) -> str:
    """The column whose values say since when a row is valid."""
    if isinstance(relation, Table):
        times = [f.name for f in relation.schema if f.name in relation.primary_key and pt.is_temporal(f.type)]
        if len(times) == 1:
            return times[0]
    late = [relation.schema[one.column].name for one in relation.lateness]
    if len(late) == 1:
        return late[0]
    cure = f"declare it, as PRIMARY KEY (..., {_any_time(relation)}) or with LATENESS, or write ASOF JOIN"
    raise source.error(place, f"'{relation.name}' doesn't say from which time on a row is valid; {cure}")


def _any_time(relation: Table | View) -> str:
    return next((f.name for f in relation.schema if pt.is_temporal(f.type)), "since")


def _is_clause(tokens: Sequence[Token], at: int) -> bool:
    return tuple(token.upper for token in tokens[at : at + 4]) == _CLAUSE


def _clause_of(tokens: Sequence[Token], join: int) -> int | None:
    """Where the clause of a JOIN's table begins."""
    end = _end_of_name(tokens, join + 1)
    return end if end > join + 1 and _is_clause(tokens, end) else None


def _end_of_name(tokens: Sequence[Token], at: int) -> int:
    """After a.b.c, or the same place."""
    while tokens[at].kind in ("word", "quoted"):
        at += 1
        if tokens[at].text != ".":
            break
        at += 1
    return at


def _begin_of_name(tokens: Sequence[Token], at: int) -> int:
    """Before a.b.c, or the same place."""
    while at and tokens[at - 1].kind in ("word", "quoted"):
        at -= 1
        if not at or tokens[at - 1].text != ".":
            break
        at -= 1
    return at


def _slice(source: Source, tokens: Sequence[Token], first: int, stop: int) -> Slice:
    start, end = tokens[first].start, tokens[stop - 1].stop
    return Slice(source.text[start:end], start)
