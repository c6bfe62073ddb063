"""The names that types have in casts, of one word or several: PostgreSQL's, and what they are to Spark.

double precision        timestamp(6) with time zone        character varying(3)        numeric(10, 2)

A name that isn't PostgreSQL's, or that is Spark's as well (TIMESTAMP, DATE, INTERVAL ... TO ...), is Spark's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.serving.postgres.language.spelling import Word
from dbsp.serving.postgres.language.types import (
    BOOL,
    BPCHAR,
    BYTEA,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    INTERVAL,
    JSON,
    NUMERIC,
    OID,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TYPES,
    UUID,
    VARCHAR,
)
from dbsp.serving.postgres.language.wrong import Wrong

# what each is to Spark; of the last four no column is
_SPARK = {
    **{oid: type_.spark for oid, type_ in TYPES.items()},
    OID: "BIGINT",
    INTERVAL: "INTERVAL",
    BPCHAR: "STRING",
    UUID: "STRING",
}
_ONE = {
    "bool": BOOL,
    "boolean": BOOL,
    "bytea": BYTEA,
    "int2": INT2,
    "smallint": INT2,
    "int4": INT4,
    "int": INT4,
    "integer": INT4,
    "int8": INT8,
    "bigint": INT8,
    "oid": OID,
    "float4": FLOAT4,
    "real": FLOAT4,
    "float8": FLOAT8,
    "float": FLOAT8,
    "numeric": NUMERIC,
    "decimal": NUMERIC,
    "dec": NUMERIC,
    "text": TEXT,
    "name": TEXT,
    "varchar": VARCHAR,
    "bpchar": BPCHAR,
    "char": BPCHAR,
    "character": BPCHAR,
    "json": JSON,
    "jsonb": JSON,
    "uuid": UUID,
    "date": DATE,
    "time": TIME,
    "timetz": TIME,
    "timestamptz": TIMESTAMPTZ,
    "interval": INTERVAL,
}
# words that one of them may begin with
FIRST = frozenset({*_ONE, "double", "national", "timestamp", "pg_catalog"})
# of which Spark has literals of its own, and names of more words
OF_SPARK = frozenset({"date", "time", "timestamp", "interval"})
_SIZED = frozenset({NUMERIC, VARCHAR, BPCHAR, TIME, TIMESTAMP, TIMESTAMPTZ})
_UNITS = frozenset({"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "YEARS", "MONTHS", "DAYS"})
# digits of a second that a moment has
_PLACES = 6


@dataclass(frozen=True)
class Named:
    """oid: the type's number. size: what stands in parentheses. end: where the words after it begin."""

    oid: int
    size: tuple[int, ...]
    end: int

    @property
    def spark(self) -> str:
        """Spark's name, with what is in parentheses where Spark has that."""
        name = _SPARK[self.oid]
        is_sized = self.size and self.oid in (NUMERIC, TIME)
        return f"{name}({', '.join(map(str, self.size))})" if is_sized else name

    def check(self, words: Sequence[Word], at: int) -> None:
        """at: where its name begins. Raises Wrong for what is in parentheses."""
        said = "".join(word.before + word.text for word in words[at : self.end]).strip()
        position = words[at].start + 1
        if self.size and self.oid not in _SIZED:
            raise Wrong("42601", f"{said}: this type has nothing in parentheses", position)
        if self.size and self.oid in (TIMESTAMP, TIMESTAMPTZ) and self.size != (_PLACES,):
            raise Wrong(
                "0A000", f"{said}: a moment has {_PLACES} digits of a second; use date_trunc", position
            )


def type_at(words: Sequence[Word], at: int) -> Named | None:
    """The type whose name begins at a word; None: it is none of PostgreSQL's."""
    texts = [word.text.lower() if word.kind == "word" else word.text for word in words[at : at + 2]]
    if texts == ["pg_catalog", "."]:
        return type_at(words, at + 2)
    word = words[at] if at < len(words) else Word("end", "")
    name = (word.name or "") if word.kind in ("word", "quoted") and word.text[0] != "`" else ""
    end = at + 1
    if texts == ["double", "precision"]:
        return Named(FLOAT8, (), at + 2)
    if name == "national" and texts[1:] in (["character"], ["char"]):
        return type_at(words, end)
    oid = TIMESTAMP if name == "timestamp" else _ONE.get(name)
    if oid is None:
        return None
    if name in ("char", "character") and texts[1:] == ["varying"]:
        oid, end = VARCHAR, end + 1
    if oid == INTERVAL and end < len(words) and words[end].upper in _UNITS:
        return None
    size, end = _size(words, end)
    if name in ("time", "timestamp"):
        zone = [word.upper for word in words[end : end + 3]]
        if zone[1:] == ["TIME", "ZONE"] and zone[0] in ("WITH", "WITHOUT"):
            end += 3
            oid = TIME if name == "time" else TIMESTAMPTZ if zone[0] == "WITH" else TIMESTAMP
        elif name == "timestamp" and not size:
            return None
        elif name == "timestamp":
            oid = TIMESTAMPTZ  # Spark's own, with PostgreSQL's digits
    elif name in ("char", "character") and oid == BPCHAR and not size and word.kind == "word":
        size = (1,)
    elif name == "float" and size:
        oid, size = FLOAT4 if size[0] <= 24 else FLOAT8, ()
    return Named(oid, size, end)


def _size(words: Sequence[Word], at: int) -> tuple[tuple[int, ...], int]:
    """(the numbers in parentheses, what comes after them)"""
    if at >= len(words) or words[at].text != "(" or words[at].kind != "symbol":
        return (), at
    close = next((i for i in range(at, min(at + 6, len(words))) if words[i].text == ")"), None)
    inner = words[at + 1 : close]
    if close is None or any(not word.text.isdecimal() and word.text != "," for word in inner):
        return (), at
    return tuple(int(word.text) for word in inner if word.text != ","), close + 1
