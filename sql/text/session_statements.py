"""Statements of existing files that say where names belong, how to run, or what is to be stored where.

    USE [CATALOG | SCHEMA | DATABASE] name     names without a schema are of this one from here on
    SET key = value                            of how to run: ignored; of what queries mean: refused
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
    ("GRANT",): "access is that of the state directory's files",
    ("REVOKE",): "access is that of the state directory's files",
}


def session_statement(cursor: Cursor, defined: set[str]) -> SessionStatement | None:
    """None where it is another statement. defined: the names of relations so far, in lower case."""
    start = cursor.next.start
    if cursor.accept("USE"):
        return _use(cursor, start)
    if cursor.accept("SET"):
        return _set(cursor, start)
    for words, why in _IGNORED.items():
        if cursor.sees(*words):
            if words == ("DROP",):
                _check_dropped(cursor, defined)
            return Ignored(" ".join(cursor.until().text.split()), why, start)
    return None


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
    for word in ("VAR", "VARIABLE"):
        if cursor.sees(word):
            cursor.fail(
                "not supported yet: SET VARIABLE; write the value, or ${NAME} and --define NAME=value"
            )
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
