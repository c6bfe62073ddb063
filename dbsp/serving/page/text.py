"""A program's text for whoever may read its views, and where in it each relation is defined.

Of the options of sources and sinks only those are shown that are known to hold no secret, and of a
url neither its user nor its query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbsp.sql.plans.program import Program
from dbsp.sql.spellings.unfilled import CONNECTS, settings
from dbsp.sql.text.source import Source, as_it_is
from dbsp.sql.text.statements.statements import statements
from dbsp.sql.text.tokens import Token, tokens

HIDDEN = "'…'"
# in lower case
_SHOWN = frozenset(
    {"path", "header", "sep", "delimiter", "multiline", "compression", "timestampformat", "dateformat"}
    | {
        "topic",
        "subscribe",
        "subscribepattern",
        "startingoffsets",
        "endingoffsets",
        "kafka.bootstrap.servers",
    }
    | {"maxfilespertrigger", "maxoffsetspertrigger", "rowspersecond", "numpartitions", "dbtable", "table"}
)
_USER = re.compile(r"(\w+://)[^\s'\"]*@")
_ASKED = re.compile(r"(\w+://[^\s'\"?]*)\?[^\s'\"]*")


@dataclass(frozen=True)
class Statement:
    """lines: its first and its last, from 1. name: of the relation that it defines, '' if none."""

    name: str
    lines: tuple[int, int]


def shown_text(program: Program) -> str:
    """Without secrets."""
    text, at, parts = told(program), 0, []
    for token in _hidden(tokens(as_it_is(text, program.name))):
        parts += [text[at : token.start], HIDDEN, "\n" * token.text.count("\n")]
        at = token.stop
    return without_users("".join([*parts, text[at:]]))


def without_users(text: str) -> str:
    """Its urls without user and query."""
    return _ASKED.sub(r"\1?…", _USER.sub(r"\1…@", text))


def shown_statements(program: Program) -> list[Statement]:
    """In the order of the text."""
    source = as_it_is(told(program), program.name)
    named = {
        start: str(statement.name)
        for statement in statements(source)
        if isinstance(start := getattr(statement, "start", None), int) and hasattr(statement, "name")
    }
    found = []
    for first, last in _pieces(source):
        name = next((name for start, name in named.items() if first <= start < last), "")
        lines = tuple(source.text.count("\n", 0, at) + 1 for at in (first, last))
        found.append(Statement(name, (lines[0], lines[1])))
    return found


def _pieces(source: Source) -> Iterator[tuple[int, int]]:
    first: int | None = None
    last = 0
    for token in tokens(source):
        if first is not None and (token.text == ";" or token.kind == "end"):
            yield first, last
            first = None
        elif token.kind != "end" and token.text != ";":
            first, last = (token.start if first is None else first), token.stop


def _hidden(found: Sequence[Token]) -> Iterator[Token]:
    """The values of settings that may be secret."""
    for one in settings(found):
        if one.key in CONNECTS if one.of == "WITH" else one.key not in _SHOWN:
            yield from one.value


def told(program: Program) -> str:
    """As its author has written it."""
    return program.told or program.text
