"""SELECT STREAM: the word itself, which is no column's name."""

from __future__ import annotations

from collections.abc import Sequence

from dbsp.sql.text.tokens import Token

_ENDS_A_COLUMN = {"FROM", "AS", "UNION", "EXCEPT", "INTERSECT", "WHERE", "ORDER", "LIMIT", "GROUP", "HAVING"}


def is_stream_word(tokens: Sequence[Token], at: int) -> bool:
    """Whether a token is the STREAM of SELECT STREAM, and no column's name: a select list follows."""
    if not 0 < at < len(tokens) or tokens[at].upper != "STREAM" or tokens[at - 1].upper != "SELECT":
        return False
    following = tokens[min(at + 1, len(tokens) - 1)]
    if following.kind == "word":
        return following.upper not in _ENDS_A_COLUMN
    return following.kind in ("quoted", "string", "number") or following.text in ("*", "(")
