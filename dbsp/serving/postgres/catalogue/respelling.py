"""A query of PostgreSQL's catalogue, said again for DuckDB and the schemas that stand for the catalogue's.

pg_catalog.pg_class -> pg.pg_class        'v'::regclass -> pg.to_regclass('v')        $1 -> its value
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dbsp.serving.postgres.catalogue.functions import FUNCTIONS
from dbsp.serving.postgres.catalogue.tables import SETTINGS
from dbsp.serving.postgres.catalogue.types import FUNCTION_COLUMNS
from dbsp.serving.postgres.catalogue.valued import valued
from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.restating import USER, USERS, columns_of
from dbsp.serving.postgres.language.spelling import Word, value_of

# functions that are made here
OWN = frozenset(re.findall(r"CREATE MACRO pg\.(\w+)", FUNCTIONS))

# what stands before the value in `'name'::regclass`, as a function of it
_LOOKED_UP = {"regclass": "pg.to_regclass", "regtype": "pg.to_regtype", "regproc": "pg.to_regproc"}
# types that are numbers to DuckDB, and texts
_TYPES = {
    **dict.fromkeys(["oid", "xid", "regclass", "regtype", "regproc", "regnamespace", "regrole"], "BIGINT"),
    **dict.fromkeys(["regprocedure", "regoper", "regoperator", "regconfig", "regcollation"], "BIGINT"),
    **dict.fromkeys(["name", "char", "pg_node_tree", "aclitem"], "VARCHAR"),
}
_TEXTS = frozenset({"text", "varchar", "name"})
_SETTINGS = {name.lower(): value for name, value in SETTINGS.items()}


def respelled(words: Sequence[Word], values: Sequence[Value]) -> str:
    """A query of PostgreSQL's catalogue, of the tables that are here."""
    plain = [valued(value) for value in values]
    listed = columns_of(words)
    parts: list[str] = []
    i = 0
    while i < len(words):
        word = words[i]
        texts = [each.text.lower() for each in words[i : i + 4]]
        if word.name in ("pg_catalog", "information_schema") and texts[1:2] == ["."]:
            is_type = i and words[i - 1].upper == "AS" and texts[3:4] == [")"]
            parts.append(" " if is_type else f" {_schema_of(word.name, texts[2:])}")
            i += 2
        elif texts[:3] == ["operator", "(", "pg_catalog"]:
            end = next((j for j in range(i, len(words)) if words[j].text == ")"), len(words))
            parts.append(" " + "".join(each.text for each in words[i + 4 : end]) + " ")
            i = end + 1
        elif word.upper == "COLLATE":
            i += 4 if texts[2:3] == ["."] else 2
        elif word.kind == "cast":
            i = _cast(words, i, parts)
        elif word.name == "tableoid" and i and words[i - 1].text == ".":
            # the relation that a row is of, by which nothing is said here
            parts[-2:] = [" 0"]
            i += 1
        elif word.name == "current_setting" and (setting := _setting(words[i : i + 6])) is not None:
            parts.append(f" {setting[0]}")
            i += setting[1]
        else:
            parts.append(_one(words, i, plain))
            if word.name in USERS and parts[-1] == f" '{USER}'" and listed.get(i) == i + 1:
                parts.append(f" AS {word.name}")
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


def _setting(words: Sequence[Word]) -> tuple[str, int] | None:
    """current_setting('name' [, true]): (its value, how many words); None: another name, or an expression."""
    texts = [word.text.lower() for word in words]
    size = 4 if texts[3:4] == [")"] else 6
    if texts[1:2] != ["("] or texts[size - 1 : size] != [")"] or words[2].kind != "string":
        return None
    found = _SETTINGS.get(words[2].string.lower())
    return None if found is None else ("'" + found.replace("'", "''") + "'", size)


def _one(words: Sequence[Word], at: int, plain: Sequence[str]) -> str:
    """A word that stands for itself, or for one."""
    word, after = words[at], words[at + 1].text if at + 1 < len(words) else ""
    name = word.name
    if name in _TYPES and after == ")" and _is_cast_to(words, at):
        return f" {_TYPES[name]}"
    if name == "json_build_object":
        return " json_object"
    if word.kind == "parameter":
        return f" {value_of(word, plain)}"
    if word.kind in ("escaped", "dollars"):
        return " '" + word.string.replace("'", "''") + "'"
    if word.kind == "word" and name in USERS and after != "(":
        return f" '{USER}'"
    return (" " if word.before else "") + word.text


def _is_cast_to(words: Sequence[Word], at: int) -> bool:
    """Whether a word is the type of CAST(x AS type), or AS pg_catalog.type."""
    start = at - 2 if at > 2 and words[at - 1].text == "." and words[at - 2].name == "pg_catalog" else at
    return start > 0 and words[start - 1].upper == "AS"


def _cast(words: Sequence[Word], at: int, parts: list[str]) -> int:
    """A cast, spelled into the parts; where it ends."""
    i = at + 1
    if i + 2 < len(words) and words[i].name == "pg_catalog" and words[i + 1].text == ".":
        i += 2
    type_, before = words[i].name if i < len(words) else None, words[at - 1]
    is_array = [word.text for word in words[i + 1 : i + 3]] == ["[", "]"]
    if is_array and before.kind == "string" and before.string.startswith("{"):
        inner = before.string.strip("{}").replace("'", "''")
        parts[-1] = " ARRAY[" + ", ".join(f"'{one}'" for one in inner.split(",") if one) + "]"
    if type_ in _LOOKED_UP and before.kind in ("string", "parameter"):
        parts[-1] = f" {_LOOKED_UP[type_]}({parts[-1].strip()})"
    elif type_ in _TEXTS and before.name in FUNCTION_COLUMNS:
        start = len(parts) - 1
        while start > 1 and parts[start - 1].strip() == ".":
            start -= 2
        parts[start:] = [f" pg.proc_named({''.join(parts[start:])})"]
    elif type_ in _TYPES:
        parts.append(f"::{_TYPES[type_]}")
    elif i < len(words):
        parts.append(f"::{words[i].text}")
    return i + 1
