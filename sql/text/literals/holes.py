"""Holes in a query's text, in place of its literals."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dbsp.sql.text.literals.written import Written

# around what a hole says, which begins with the literal's number; in no query's own text
HOLE = "\ue000"
_NUMBERED = re.compile(f"{HOLE}(\\d+)[^{HOLE}]*{HOLE}")


def with_holes(
    text: str, start: int, literals: Sequence[tuple[Written, int]], said: Callable[[Written], str]
) -> str:
    """A piece of the query's text, which begins at `start`, with a hole for each numbered literal in it."""
    parts, at = [], 0
    for one, number in literals:
        first, stop = one.start - start, one.stop - start
        if at <= first and stop <= len(text):
            parts += [text[at:first], f"{HOLE}{number}{said(one)}{HOLE}"]
            at = stop
    return "".join([*parts, text[at:]])


def filled(text: str, spelled: Callable[[int], str]) -> str:
    """The piece with spellings by number."""
    return _NUMBERED.sub(lambda found: spelled(int(found[1])), text)
