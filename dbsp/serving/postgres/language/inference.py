"""The types of parameters that a client names none for: of what it is compared with, or cast to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from dbsp.serving.postgres.language.spelling import Word
from dbsp.serving.postgres.language.types import JSON, TEXT, TYPES, VARCHAR, oid_of
from dbsp.sql.plans.schemas import Schema

_COMPARED = frozenset(["=", "<", ">", "<=", ">=", "<>", "!="])
# PostgreSQL's names of types, the standard's, and Spark's
_NAMED = {
    name.lower(): TEXT if oid in (VARCHAR, JSON) else oid
    for oid, type_ in TYPES.items()
    for name in (type_.spark, type_.full, type_.name)
}


def inferred(words: Sequence[Word], oids: Sequence[int], views: Mapping[str, Schema]) -> list[int]:
    """The types by number, those that aren't known texts: which mean a value of any type, as literals do."""
    names = {word.name for word in words}
    columns: dict[str, set[pa.DataType]] = {}
    for view, schema in views.items():
        if view.lower() in names:
            for column in schema:
                columns.setdefault(column.name.lower(), set()).add(column.type)
    found = list(oids)
    for i, word in enumerate(words):
        if word.kind == "parameter" and 0 < int(word.text[1:]) <= len(found):
            number = int(word.text[1:]) - 1
            found[number] = found[number] or _cast(words, i) or _compared(words, i, columns)
    return [oid or TEXT for oid in found]


def _cast(words: Sequence[Word], at: int) -> int:
    if [word.kind for word in words[at + 1 : at + 3]] == ["cast", "word"]:
        type_ = words[at + 2].text.lower()
        return _NAMED.get(type_, 0)
    return 0


def _compared(words: Sequence[Word], at: int, columns: Mapping[str, set[pa.DataType]]) -> int:
    """Of `column = $1` and `$1 = column`, where all columns of the name are of one type."""
    before = "".join(word.text for word in words[max(0, at - 2) : at] if word.kind == "symbol")
    after = "".join(word.text for word in words[at + 1 : at + 3] if word.kind == "symbol")
    beside = None
    if before in _COMPARED and at > len(before):
        beside = words[at - len(before) - 1].name
    elif after in _COMPARED and at + len(after) + 1 < len(words):
        beside = words[at + len(after) + 1].name
    types = columns.get(beside or "", set())
    return oid_of(next(iter(types))) if len(types) == 1 else 0
