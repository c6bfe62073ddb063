"""When a view's changes leave: the clauses at the end of CREATE VIEW.

    TRIGGER COUNTING n | AFTER DELAY d | ON WATERMARK [, ...]
    EMIT (FIRST RESULT OFFSET d, COMPLETE RESULT OFFSET d, UPDATE RATE d | n ROWS, LATE UPDATES ON | OFF,
          LAST RESULT OFFSET d, RESULT STATE FLAG)

Read here token by token; the durations are constants of Spark's, read by Catalyst.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dbsp.sql.plans.program import Emission, Schedule, Triggers
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Cursor, Slice, Token

# Microseconds of a constant interval; raises ProgramError.
Reading = Callable[[Slice], int]

_WATERLINE = ("WATERMARK", "WATERLINE")
_MOST = 2**63 - 1
_TRIGGERS = "triggers are COUNTING n, AFTER DELAY interval, ON WATERMARK"
_OPTIONS = (
    "options are FIRST RESULT OFFSET d, COMPLETE RESULT OFFSET d, UPDATE RATE d or n ROWS, "
    "LATE UPDATES ON or OFF, LAST RESULT OFFSET d, RESULT STATE FLAG"
)
# by their first words, how the clauses are written, for who writes what another engine has
WRITTEN = {"TRIGGER": _TRIGGERS, "EMIT": f"write EMIT (...), whose {_OPTIONS}"}


@dataclass(frozen=True, slots=True)
class TriggerClause:
    """As written: the tokens' places are kept for messages."""

    counting: int | None
    delay: Slice | None
    waterline: bool
    start: int


@dataclass(frozen=True, slots=True)
class EmitClause:
    first: Slice | None
    complete: Slice | None
    rate: Slice | int | None
    late: bool
    last: Slice | None
    flag: bool
    start: int


Clause = TriggerClause | EmitClause


def emission_start(cursor: Cursor) -> int | None:
    """The position of the clause's first token, from the cursor on; None: the statement has none."""
    depth = 0
    for at in range(cursor.at, len(cursor.tokens) - 2):
        token = cursor.tokens[at]
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if not depth and begins_emission(cursor.tokens, at):
            return at
    return None


def begins_emission(tokens: Sequence[Token], at: int) -> bool:
    """Whether a clause begins at the token."""
    token, after, third = [*tokens[at : at + 3], tokens[-1], tokens[-1]][:3]
    if token.kind != "word" or token.upper not in ("TRIGGER", "EMIT"):
        return False
    if token.upper == "EMIT":
        return after.text == "(" and third.upper in _FORMS
    return after.upper in ("COUNTING", "AFTER") or (after.upper == "ON" and third.upper in _WATERLINE)


def emission_stop(tokens: Sequence[Token], at: int) -> int:
    """The token that closes the parenthesis in which the clause at a token is; else the end."""
    depth = 0
    while at < len(tokens) - 1:
        depth += (tokens[at].text == "(") - (tokens[at].text == ")")
        if depth < 0:
            break
        at += 1
    return at


def emission_clause(cursor: Cursor) -> Clause:
    """From the word TRIGGER or EMIT to the statement's end."""
    start = cursor.take()
    clause = _triggers(cursor, start) if start.upper == "TRIGGER" else _emit(cursor, start)
    if cursor.next.kind != "end":
        cursor.fail(f"{start.upper} ends the statement, found {cursor.next}")
    return clause


def _triggers(cursor: Cursor, start: Token) -> TriggerClause:
    counting: int | None = None
    delay: Slice | None = None
    waterline = False
    while True:
        at = cursor.next
        if cursor.accept("COUNTING"):
            _once(cursor, at, "COUNTING", counting)
            counting = _positive(cursor, "COUNTING")
        elif cursor.accept("AFTER", "DELAY"):
            _once(cursor, at, "AFTER DELAY", delay)
            delay = _constant(cursor, "AFTER DELAY")
        elif cursor.sees("ON") and cursor.ahead(1).upper in _WATERLINE:
            _once(cursor, at, "ON WATERMARK", waterline or None)
            cursor.take()
            cursor.take()
            waterline = True
        else:
            cursor.fail(f"unknown trigger {at}; {_TRIGGERS}")
        if not cursor.accept(","):
            return TriggerClause(counting, delay, waterline, start.start)


def _once(cursor: Cursor, at: Token, what: str, known: object) -> None:
    if known is not None:
        cursor.fail(f"{what} is given twice", at)


_FORMS = {"FIRST", "COMPLETE", "UPDATE", "LATE", "LAST", "RESULT"}


def _emit(cursor: Cursor, start: Token) -> EmitClause:
    cursor.expect("(")
    offsets: dict[str, Slice] = {}
    rate: Slice | int | None = None
    late: bool | None = None
    flag: bool | None = None
    while True:
        at = cursor.next
        if at.upper in ("FIRST", "COMPLETE", "LAST") and cursor.accept(at.upper, "RESULT", "OFFSET"):
            _once(cursor, at, f"{at.upper} RESULT OFFSET", offsets.get(at.upper))
            offsets[at.upper] = _constant(cursor, f"{at.upper} RESULT OFFSET")
        elif cursor.accept("UPDATE", "RATE"):
            _once(cursor, at, "UPDATE RATE", rate)
            rate = _rate(cursor)
        elif cursor.sees("LATE", "UPDATES") and cursor.ahead(2).upper in ("ON", "OFF"):
            _once(cursor, at, "LATE UPDATES", late)
            late = cursor.ahead(2).upper == "ON"
            cursor.at += 3
        elif cursor.accept("RESULT", "STATE", "FLAG"):
            _once(cursor, at, "RESULT STATE FLAG", flag)
            flag = True
        else:
            cursor.fail(f"unknown option {at} of EMIT; {_OPTIONS}")
        if not cursor.accept(","):
            break
    cursor.expect(")")
    first, complete, last = (offsets.get(name) for name in ("FIRST", "COMPLETE", "LAST"))
    return EmitClause(first, complete, rate, bool(late), last, bool(flag), start.start)


def _rate(cursor: Cursor) -> Slice | int:
    if cursor.next.kind == "number" and cursor.ahead(1).upper in ("ROW", "ROWS"):
        rows = _positive(cursor, "UPDATE RATE")
        cursor.take()
        return rows
    return _constant(cursor, "UPDATE RATE")


def _positive(cursor: Cursor, what: str) -> int:
    token = cursor.take()
    negative = token.text == "-"
    number = cursor.take() if negative else token
    if number.kind != "number" or not number.text.isdigit():
        cursor.fail(f"{what} needs a whole number, as in {what} 10, found {number}", number)
    if negative or int(number.text) < 1:
        cursor.fail(f"{what} {'-' if negative else ''}{number.text}: at least 1 record is needed", token)
    if int(number.text) > _MOST:
        cursor.fail(f"{what} {number.text}: at most {_MOST} records are counted", token)
    return int(number.text)


def _constant(cursor: Cursor, what: str) -> Slice:
    """To the next comma, or the end of what encloses it."""
    first = last = cursor.next
    depth = 0
    while cursor.next.kind != "end":
        token = cursor.next
        if depth == 0 and token.text in (",", ")"):
            break
        depth += (token.text == "(") - (token.text == ")")
        last = cursor.take()
    if cursor.next is first:
        cursor.fail(f"{what} needs an interval, as in {what} INTERVAL 5 MINUTES")
    return Slice(cursor.source.text[first.start : last.stop], first.start)


# after which a query is more than the rows that it reads
_MORE = frozenset(
    {
        "GROUP",
        "DISTINCT",
        "JOIN",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "MINUS",
        "HAVING",
        "OVER",
        "LIMIT",
        "OFFSET",
    }
    | {"LATERAL", "PIVOT", "UNPIVOT", "QUALIFY", "WINDOW"}
)


def inner_emission(cursor: Cursor, query: Slice) -> Clause | None:
    """The clause of a common table expression, which is the view's if that is nothing but its rows.

    WITH c AS (SELECT ... TRIGGER COUNTING 2) SELECT * FROM c. What groups or joins c reads c itself, and not
    what has left of it: there it would say nothing. Raises ProgramError.
    """
    inside = [token for token in cursor.tokens if query.start <= token.start < query.stop]
    inside.append(Token("end", "", query.stop, query.stop))
    places = [at for at in range(len(inside)) if begins_emission(inside, at)]
    if not places:
        return None
    at, stop = places[0], emission_stop(inside, places[0])
    word = inside[at].upper
    name = _expression_around(inside, at)
    if len(places) > 1 or name is None or not _is_all(inside, name):
        what = "a query" if name is None else f"'{name}'"
        cursor.fail(
            f"{word} says when a view's changes leave, and what reads {what} here reads all of it: write "
            f"{word} at the statement's end, or CREATE VIEW {name or 'v'} AS ... {word} ...",
            inside[at],
        )
    return emission_clause(Cursor(cursor.source, [*inside[at:stop], inside[-1]]))


def _expression_around(inside: Sequence[Token], at: int) -> str | None:
    """The name of the common table expression whose query the token ends."""
    depth = 0
    for i in range(at, 0, -1):
        depth += (inside[i].text == "(") - (inside[i].text == ")")
        if depth > 0:
            is_named = inside[i - 1].upper == "AS" and i > 1 and inside[0].upper == "WITH"
            return inside[i - 2].text.strip("`") if is_named else None
    return None


def _is_all(inside: Sequence[Token], name: str) -> bool:
    """Whether the query, behind its common table expressions, is rows of that one."""
    depth, main = 0, list[Token]()
    for token in inside[:-1]:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and (main or token.upper in ("SELECT", "FROM")):
            main.append(token)
    words = [token.upper for token in main]
    reads = [main[i + 1].text for i in range(len(main) - 1) if words[i] == "FROM"]
    read = words[words.index("FROM") :] if "FROM" in words else []
    return (
        [one.strip("`").lower() for one in reads] == [name.lower()]
        and "," not in read
        and not (set(words) & _MORE)
    )


def resolved(source: Source, clause: Clause, read: Reading) -> Emission:
    """The clause with its durations in microseconds. Raises ProgramError where they make no sense."""
    location = source.location(clause.start)
    if isinstance(clause, TriggerClause):
        delay = None if clause.delay is None else read(clause.delay)
        if delay is not None and clause.delay is not None and delay < 0:
            raise source.error(clause.delay.start, f"AFTER DELAY {clause.delay.text} is negative")
        return Triggers(clause.counting, delay, clause.waterline, location)
    complete = 0 if clause.complete is None else read(clause.complete)
    first = min(0, complete) if clause.first is None else read(clause.first)
    last = complete if clause.last is None else read(clause.last)
    every = read(clause.rate) if isinstance(clause.rate, Slice) else None
    if isinstance(clause.rate, Slice) and every is not None and every <= 0:
        raise source.error(
            clause.rate.start, f"UPDATE RATE {clause.rate.text}: a rate is a positive interval"
        )
    if clause.first is not None and first > complete:
        message = "the first result comes after the complete one; FIRST RESULT OFFSET is usually negative"
        raise source.error(clause.first.start, message)
    if clause.last is not None and last < complete:
        raise source.error(clause.last.start, "the last result comes before the complete one")
    rows = clause.rate if isinstance(clause.rate, int) else None
    if every is None and rows is None:
        rows = 1
    is_more = clause.first or clause.complete or clause.last or clause.late or clause.flag
    rate_only = clause.rate is not None and not is_more
    return Schedule(first, complete, last, every, rows, clause.late, clause.flag, location, rate_only)
