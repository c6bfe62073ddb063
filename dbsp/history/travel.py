"""Views as of other steps within one query: `FROM v FOR SYSTEM_TIME AS OF x`.

x is a literal: the number of a step, or in quotes a time, a step or a tag. VERSION, TIMESTAMP and
SYSTEM_VERSION are taken as well, with FOR and without, as Spark spells them. Each view as of a step is a view
of its own to Spark, under a name that no program gives; its alias stays, or else its own name becomes that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.circuits.errors import ProgramError
from dbsp.sql.spellings.system_time import AFTER_TABLE
from dbsp.sql.text.source import Source, as_it_is
from dbsp.sql.text.tokens import Token, quoted, tokens

_WORDS = {"SYSTEM_TIME", "SYSTEM_VERSION", "TIMESTAMP", "VERSION"}


@dataclass(frozen=True)
class Travel:
    """name: by which the rewritten query knows the view as of then."""

    view: str
    as_of: str

    @property
    def name(self) -> str:
        return f"{self.view} as of {self.as_of}"


def travels(select: str) -> tuple[str, list[Travel]]:
    """(the query with other names in the places of views as of other steps, these). Raises ProgramError."""
    source = as_it_is(select, "query")
    found = tokens(source)
    parts, done, asked = [], 0, dict.fromkeys(list[Travel]())
    for at, token in enumerate(found):
        clause = _clause(found, at + 1) if token.kind in ("word", "quoted") and token.upper != "FOR" else 0
        if not clause:
            continue
        as_of, stop = _literal(source, found, clause)
        travel = Travel(token.name.lower(), as_of)
        asked[travel] = None
        alias = "" if _has_alias(found[stop]) else f" AS {token.text}"
        parts += [select[done : token.start], f"{quoted([travel.name])}{alias}"]
        done = found[stop - 1].stop
    return "".join([*parts, select[done:]]), list(asked)


def _clause(found: Sequence[Token], at: int) -> int:
    """The token after FOR SYSTEM_TIME AS OF, if that begins there; else 0."""
    said = found[at].upper == "FOR"
    at += said
    words = [token.upper for token in found[at : at + 3]]
    if words[1:] != ["AS", "OF"] or words[0] not in _WORDS:
        return 0
    # without FOR it might be a column, under another name
    return (
        at + 3 if said or found[at + 3].kind in ("string", "number") or words[0] == found[at + 3].upper else 0
    )


def _literal(source: Source, found: Sequence[Token], at: int) -> tuple[str, int]:
    """(what it says, the token after it). Raises ProgramError."""
    stop = at + (found[at].upper in ("TIMESTAMP", "DATE"))
    token = found[stop]
    if token.kind == "string" and token.text[0] in "'\"":
        return token.text[1:-1], stop + 1
    if token.kind == "number" and stop == at:
        return token.text, stop + 1
    raise ProgramError(
        f"{token} after AS OF: give the number of a step, or in quotes a time or a tag: FOR SYSTEM_TIME AS "
        "OF '2024-01-31 12:00:00'"
    )


def _has_alias(token: Token) -> bool:
    return token.kind == "quoted" or (token.kind == "word" and token.upper not in AFTER_TABLE)
