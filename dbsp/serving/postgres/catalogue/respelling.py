"""A query of PostgreSQL's catalogue, said again for DuckDB and the schemas that stand for the catalogue's.

pg_catalog.pg_class -> pg.pg_class        'v'::regclass -> pg.to_regclass('v')        $1 -> its value
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dbsp.serving.postgres.catalogue.tables import FUNCTIONS
from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.spelling import Word, value_of

# functions that are made here
OWN = frozenset(re.findall(r"CREATE MACRO pg\.(\w+)", FUNCTIONS))

# what stands before the value in `'name'::regclass`, as a function of it
_LOOKED_UP = {"regclass": "pg.to_regclass", "regtype": "pg.to_regtype", "regproc": "pg.to_regproc"}
# types that are numbers to DuckDB, and texts
_TYPES = {
    **dict.fromkeys(["oid", "xid", "regclass", "regtype", "regproc", "regnamespace", "regrole"], "BIGINT"),
    **dict.fromkeys(["name", "char", "pg_node_tree", "aclitem"], "VARCHAR"),
}
_USERS = frozenset({"current_user", "session_user", "user"})


def respelled(words: Sequence[Word], values: Sequence[Value]) -> str:
    """A query of PostgreSQL's catalogue, of the tables that are here."""
    plain = [value.plain for value in values]
    parts: list[str] = []
    i = 0
    while i < len(words):
        word = words[i]
        texts = [each.text.lower() for each in words[i : i + 4]]
        if word.name in ("pg_catalog", "information_schema") and texts[1:2] == ["."]:
            parts.append(f" {_schema_of(word.name, texts[2:])}")
            i += 2
        elif texts[:3] == ["operator", "(", "pg_catalog"]:
            end = next((j for j in range(i, len(words)) if words[j].text == ")"), len(words))
            parts.append(" " + "".join(each.text for each in words[i + 4 : end]) + " ")
            i = end + 1
        elif word.upper == "COLLATE":
            i += 4 if texts[2:3] == ["."] else 2
        elif word.kind == "cast":
            i = _cast(words, i, parts)
        else:
            parts.append(_one(words, i, plain))
            i += 1
    return "".join(parts)


def _schema_of(schema: str, after: Sequence[str]) -> str:
    """Where a name of it stands, with its dot. after: the name, and what follows it."""
    is_function = after[1:2] == ["("]
    if is_function and after[0] in OWN:
        return "pg."
    if schema == "information_schema":
        return "information."
    return "" if is_function else "pg."  # a function that isn't there is DuckDB's own


def _one(words: Sequence[Word], at: int, plain: Sequence[str]) -> str:
    """A word that stands for itself, or for one."""
    word, after = words[at], words[at + 1].text if at + 1 < len(words) else ""
    name = word.name
    if name in _TYPES and at and words[at - 1].upper == "AS" and after == ")":
        return f" {_TYPES[name]}"
    if name == "json_build_object":
        return " json_object"
    if word.kind == "parameter":
        return f" {value_of(word, plain)}"
    if word.kind in ("escaped", "dollars"):
        return " '" + word.string.replace("'", "''") + "'"
    if word.kind == "word" and name in _USERS and after != "(":
        return " 'dbsp'"
    return (" " if word.before else "") + word.text


def _cast(words: Sequence[Word], at: int, parts: list[str]) -> int:
    """A cast, spelled into the parts; where it ends."""
    i = at + 1
    if i + 2 < len(words) and words[i].name == "pg_catalog" and words[i + 1].text == ".":
        i += 2
    type_ = words[i].name if i < len(words) else None
    if type_ in _LOOKED_UP and words[at - 1].kind in ("string", "parameter"):
        parts[-1] = f" {_LOOKED_UP[type_]}({parts[-1].strip()})"
    elif type_ in _TYPES:
        parts.append(f"::{_TYPES[type_]}")
    elif i < len(words):
        parts.append(f"::{words[i].text}")
    return i + 1
