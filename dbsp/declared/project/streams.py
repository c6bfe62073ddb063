"""Which relations a query reads by STREAM."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Cursor, tokens

_NAMES = ("word", "quoted")


def is_read_as_it_is(query: str, last: str) -> bool:
    """Whether a relation may be read without STREAM, though the query has that. last: of its name's parts."""
    by_stream = sum(parts[-1].lower() == last.lower() for parts in streamed(query))
    found = tokens(as_it_is(query, "query"))
    named = (
        token.kind in _NAMES and token.text.strip("`").lower() == last.lower() and after.text != "."
        for token, after in pairwise(found)
    )
    return sum(named) > by_stream


def streamed(query: str) -> Iterator[list[str]]:
    """The parts of the name after each STREAM, which may be in parentheses.

    A column of that name is followed by none.
    """
    cursor = Cursor(source := as_it_is(query, "query"), tokens(source))
    while cursor.next.kind != "end":
        if cursor.take().upper != "STREAM":
            continue
        cursor.accept("(")
        if cursor.next.kind in _NAMES:
            parts = [cursor.name("a relation").text]
            while cursor.next.text == "." and cursor.ahead(1).kind in _NAMES:
                cursor.take()
                parts.append(cursor.name("a relation").text)
            yield parts
