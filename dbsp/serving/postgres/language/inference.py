"""The types of parameters that a client names none for: of the column beside or behind them, or of a cast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from dbsp.serving.postgres.language.spelling import Cursor, Word
from dbsp.serving.postgres.language.type_names import type_at
from dbsp.serving.postgres.language.types import BPCHAR, INT8, JSON, TEXT, TYPES, VARCHAR, oid_of
from dbsp.sql.plans.schemas import Schema

_COMPARED = frozenset(["=", "<", ">", "<=", ">=", "<>", "!="])
# names of types that are Spark's, too
_NAMED = {
    name.lower(): TEXT if oid in (VARCHAR, JSON) else oid
    for oid, type_ in TYPES.items()
    for name in (type_.spark, type_.full, type_.name)
}


def inferred(words: Sequence[Word], oids: Sequence[int], views: Mapping[str, Schema]) -> list[int]:
    """The types by number, those that aren't known texts: which mean a value of any type, as literals do."""
    found = list(oids)
    beside = columns_beside(words, views, frozenset({"parameter"}))
    for i, word in enumerate(words):
        if word.kind == "parameter" and 0 < int(word.text[1:]) <= len(found):
            number = int(word.text[1:]) - 1
            found[number] = found[number] or _counted(words, i) or _cast(words, i) or beside.get(i, 0)
    return [oid or TEXT for oid in found]


def columns_beside(
    words: Sequence[Word], views: Mapping[str, Schema], kinds: frozenset[str]
) -> dict[int, int]:
    """Of words of these kinds, by place: the type of the column that it is compared with or written to."""
    names = {word.name for word in words}
    columns: dict[str, set[pa.DataType]] = {}
    for view, schema in views.items():
        if view.lower() in names:
            for column in schema:
                columns.setdefault(column.name.lower(), set()).add(column.type)
    written = _written(words, views, kinds)
    found = {
        i: written.get(i, 0) or _compared(words, i, columns)
        for i, word in enumerate(words)
        if word.kind in kinds
    }
    return {i: oid for i, oid in found.items() if oid}


def _written(words: Sequence[Word], views: Mapping[str, Schema], kinds: frozenset[str]) -> dict[int, int]:
    """Of INSERT INTO t [(columns)] VALUES ($1, ...): by the place of a word that is all of a value."""
    said = Cursor(words)
    if not said.takes("INSERT", "INTO"):
        return {}
    table = said.relation()
    schema = next((schema for name, schema in views.items() if name.lower() == table), ())
    types = [oid_of(one.type) for one in schema]
    if said.takes("("):
        named = dict(zip([one.name.lower() for one in schema], types, strict=True))
        types = [named.get(said.name() or "", 0)]
        while said.takes(","):
            types.append(named.get(said.name() or "", 0))
        said.takes(")")
    if not said.takes("VALUES"):
        return {}
    found, depth, place = {}, 0, 0
    for i in range(len(words) - len(said.rest), len(words)):
        text = words[i].text if words[i].kind == "symbol" else ""
        depth += (text == "(") - (text == ")")
        place = 0 if depth == 0 else place + (text == "," and depth == 1)
        around = words[i - 1].text, words[i + 1].text if i + 1 < len(words) else ""
        is_all = depth == 1 and around[0] in "(," and around[1] in (",", ")")
        if words[i].kind in kinds and is_all and place < len(types):
            found[i] = types[place]
    return found


def _counted(words: Sequence[Word], at: int) -> int:
    """Of LIMIT $1 and OFFSET $1."""
    before = [word.upper for word in words[max(at - 2, 0) : at] if word.text != "("]
    return INT8 if before[-1:] in (["LIMIT"], ["OFFSET"]) else 0


def _cast(words: Sequence[Word], at: int) -> int:
    """Of $1::type and CAST($1 AS type)."""
    after = words[at + 1].upper if at + 1 < len(words) else ""
    is_call = after == "AS" and [word.upper for word in words[max(at - 2, 0) : at]] == ["CAST", "("]
    if after != "::" and not is_call:
        return 0
    named = type_at(words, at + 2)
    if named is not None:
        return TEXT if named.oid in (VARCHAR, BPCHAR, JSON) else named.oid
    return _NAMED.get(words[at + 2].name or "", 0) if at + 2 < len(words) else 0


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
