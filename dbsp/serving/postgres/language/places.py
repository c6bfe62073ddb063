"""What is wrong with a client's text, at its place there: what is compiled is the same in Spark's spelling.

A client shows the place by a caret: PostgreSQL's field P, in characters from 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dbsp.circuits.errors import ProgramError
from dbsp.history.travel import travels
from dbsp.serving.postgres.language.spelling import Word, spelled_words
from dbsp.serving.postgres.language.wrong import Wrong

# `query:1:8: ...`: a text of ours, line, column; of a statement that changes rows, and of a query within it
_PLACED = re.compile(r"(query|statement):(\d+):(\d+): ")
_CODES = {
    "unknown column": "42703",
    "unknown table": "42P01",
    "unknown view": "42P01",
    "unknown function": "42883",
}
_ELSE = "42601"


def placed(error: ProgramError, words: Sequence[Word], values: Sequence[str], text: str = "query") -> Wrong:
    """The error as the client is told it. text: which of ours was made of the words, query or statement."""
    said = str(error)
    found = _PLACED.match(said)
    message = said[found.end() :] if found else said
    code = next((code for start, code in _CODES.items() if message.startswith(start)), _ELSE)
    if found is None or found[1] != text:
        return Wrong(code, message)
    parts = spelled_words(words, values)
    whole = "".join(parts)
    if travels(whole)[0] != whole:  # names of steps are others in what was compiled
        return Wrong(code, message)
    lines = whole.lstrip().split("\n")
    at = sum(len(line) + 1 for line in lines[: int(found[2]) - 1]) + int(found[3]) - 1
    at += len(whole) - len(whole.lstrip())
    for word, part in zip(words, parts, strict=True):
        if at < len(part):
            space = len(part) - len(part.lstrip(" "))
            within = min(max(at - space, 0), len(word.text) - 1)
            return Wrong(code, message, word.start + within + 1)
        at -= len(part)
    return Wrong(code, message, words[-1].start + len(words[-1].text) + 1)
