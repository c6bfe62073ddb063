"""A program's text for whoever may read its views, and where in it each relation is defined.

What `${NAME}` stood for is filled in, so of the options of sources and sinks only those are shown that are
known to hold no secret, and of a url neither its user nor its query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dbsp.sql.plans.program import Program
from dbsp.sql.text.source import Source, as_it_is
from dbsp.sql.text.statements import statements
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
_LISTS = frozenset({"OPTIONS", "TBLPROPERTIES"})
_USER = re.compile(r"(\w+://)[^/\s'\"@]*@")
_ASKED = re.compile(r"(\w+://[^\s'\"?]*)\?[^\s'\"]*")


@dataclass(frozen=True)
class Statement:
    """lines: its first and its last, from 1. name: of the relation that it defines, '' if none."""

    name: str
    lines: tuple[int, int]


def shown_text(program: Program) -> str:
    """Without secrets."""
    text, at, parts = program.text, 0, []
    for token in _hidden(tokens(as_it_is(text, program.name))):
        parts += [text[at : token.start], HIDDEN, "\n" * token.text.count("\n")]
        at = token.stop
    whole = "".join([*parts, text[at:]])
    return _ASKED.sub(r"\1?…", _USER.sub(r"\1…@", whole))


def shown_statements(program: Program) -> list[Statement]:
    """In the order of the text."""
    source = as_it_is(program.text, program.name)
    named = {
        start: str(statement.name)
        for statement in statements(source)
        if isinstance(start := getattr(statement, "start", None), int) and hasattr(statement, "name")
    }
    found = []
    for first, last in _pieces(source):
        name = next((name for start, name in named.items() if first <= start < last), "")
        lines = tuple(program.text.count("\n", 0, at) + 1 for at in (first, last))
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


def _hidden(found: list[Token]) -> Iterator[Token]:
    """The values of options that may be secret."""
    depth, entry, before = 0, list[Token](), Token("end", "", 0, 0)
    for token in found:
        if not depth:
            depth = int(token.text == "(" and before.upper in _LISTS)
        elif token.text in "(),":
            yield from _secret(entry)
            entry = []
            depth += {"(": 1, ")": -1}.get(token.text, 0)
        else:
            entry.append(token)
        before = token


def _secret(entry: list[Token]) -> list[Token]:
    """The value of `key value` or `key = value`, unless the key is one that may be shown."""
    if len(entry) < 2:  # not an option: a call of something of that name
        return []
    sign = next((n for n, token in enumerate(entry) if token.text == "="), None)
    value = entry[-1:] if sign is None else entry[sign + 1 :]
    key = "".join(token.text.strip("'\"`") for token in entry[: len(entry) - 1 if sign is None else sign])
    return [] if key.lower() in _SHOWN else value
