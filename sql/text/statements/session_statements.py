"""Statements of existing files that say where names belong, how to run, or what is to be stored where.

    USE [CATALOG | SCHEMA | DATABASE] name     names without a schema are of this one from here on
    SET key = value                            of how to run: ignored; of what queries mean: refused
    ALTER TABLE name SET TBLPROPERTIES, ...    of how it is stored: ignored
    DROP ... IF EXISTS name, CREATE SCHEMA, COMMENT ON, ANALYZE, ...     ignored

A program has no catalog: its tables and views are all there is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbsp.sql.text.tokens import Cursor, InUse, unquote


@dataclass(frozen=True, slots=True)
class Ignored:
    """What of the program says nothing here, and why."""

    what: str
    why: str
    start: int


@dataclass(frozen=True, slots=True)
class Use:
    in_use: InUse
    start: int


@dataclass(frozen=True, slots=True)
class Setting:
    """value: None where the statement only asks for it."""

    key: str
    value: str | None
    start: int


SessionStatement = Ignored | Use | Setting

_SCHEMAS = ("SCHEMA", "DATABASE", "NAMESPACE")
# what may follow CREATE or DROP and be no relation
_OTHERS = (*_SCHEMAS, "CATALOG", "VOLUME", "EXTENSION")
_DROPPED = {"DROP", "TABLE", "VIEW", "MATERIALIZED", "STREAMING", "TEMPORARY", "FUNCTION", *_OTHERS}
# what may follow the name in an ALTER TABLE that changes none of its rows
_STORAGE = (
    *(("SET", word) for word in ("TBLPROPERTIES", "SERDE", "SERDEPROPERTIES")),
    ("UNSET", "TBLPROPERTIES"),
    ("CLUSTER", "BY"),
    ("RECOVER", "PARTITIONS"),
    ("ADD", "PARTITION"),
    ("ADD", "IF", "NOT", "EXISTS", "PARTITION"),
)
_VARIABLES, _ROLES = ("VAR", "VARIABLE"), ("ROLE",)
_STORED = "what is stored, and where, is said where a table is created"
_ASKED = "it asks, and a program says; `dbsp explain` and `dbsp check` tell of it"
_ACCESS = "access is that of the state directory's files"
_JARS = "jars are given to a run, by --jars and --packages"
_IGNORED: dict[tuple[str, ...], str] = {
    **{("CREATE", word): "a name's schema is part of the name" for word in _OTHERS},
    ("DROP",): "nothing is there before the program defines it",
    ("COMMENT", "ON"): "a program's comments are its text",
    ("ANALYZE",): "no statistics are kept",
    ("OPTIMIZE",): "traces are merged as they grow",
    ("VACUUM",): "what is no longer needed is collected",
    ("CACHE",): "views are maintained",
    ("UNCACHE",): "views are maintained",
    ("REFRESH",): "views are maintained",
    ("CLEAR", "CACHE"): "views are maintained",
    **{("ALTER", word): "a name's schema is part of the name" for word in _SCHEMAS},
    ("CREATE", "INDEX"): "rows are stored by the keys that queries look them up by",
    ("MSCK",): "files are looked for at every step",
    ("RESET",): "a program has Spark's defaults",
    ("ADD",): _JARS,
    ("LIST",): _JARS,
    **{(word,): _ASKED for word in ("SHOW", "DESCRIBE", "DESC", "EXPLAIN")},
    **dict.fromkeys((("GRANT",), ("REVOKE",), ("SET", "ROLE"), ("CREATE", "ROLE")), _ACCESS),
}


def session_statement(cursor: Cursor, defined: set[str]) -> SessionStatement | None:
    """None where it is another statement. defined: the names of relations so far, in lower case."""
    start = cursor.next.start
    if cursor.accept("USE") or (cursor.sees("SET", "CATALOG") and cursor.accept("SET")):
        return _use(cursor, start)
    if cursor.sees("SET") and cursor.ahead(1).upper not in _VARIABLES + _ROLES:
        cursor.take()
        return _set(cursor, start)
    for words, why in _IGNORED.items():
        if cursor.sees(*words):
            if words == ("DROP",):
                _check_dropped(cursor, defined)
            return Ignored(" ".join(cursor.until().text.split()), why, start)
    if cursor.sees("ALTER") and _alters_storage(cursor):
        return Ignored(" ".join(cursor.until().text.split()), _STORED, start)
    return None


def _alters_storage(cursor: Cursor) -> bool:
    """ALTER TABLE or VIEW of what changes no row and no column; leaves the cursor where it is."""
    start = cursor.at
    cursor.take()
    alters = cursor.accept("TABLE") or cursor.accept("VIEW")
    if alters:
        cursor.relation("a name")
        alters = any(cursor.sees(*words) for words in _STORAGE)
    cursor.at = start
    return alters


def _use(cursor: Cursor, start: int) -> Use:
    if cursor.accept("CATALOG"):
        return Use(InUse(cursor.name("a catalog's name").text), start)
    for word in _SCHEMAS:
        cursor.accept(word)
    name = cursor.name("a schema's name").text
    if cursor.accept("."):
        return Use(InUse(name, cursor.name("a schema's name").text), start)
    return Use(replace(cursor.in_use, schema=name), start)


def _set(cursor: Cursor, start: int) -> Setting:
    if cursor.accept("TIME", "ZONE"):
        value = cursor.next
        text = unquote(value.text) if value.kind == "string" else cursor.until().text
        return Setting("spark.sql.session.timeZone", text, start)
    text = cursor.until().text
    key, equals, value_text = text.partition("=")
    value_text = value_text.strip()
    if len(value_text) > 1 and value_text[0] in "'\"" and value_text[-1] == value_text[0]:
        value_text = value_text[1:-1]
    return Setting(key.strip().strip("`"), value_text if equals else None, start)


def _check_dropped(cursor: Cursor, defined: set[str]) -> None:
    """DROP before its CREATE makes room for it; after it, the program would contradict itself."""
    start = cursor.at
    while cursor.next.upper in _DROPPED:
        cursor.take()
    cursor.accept("IF", "EXISTS")
    name = cursor.relation("a name")
    if name.text.lower() in defined:
        cursor.fail(f"DROP of '{name.text}', which the program defines: leave out one of the two", name)
    cursor.at = start
