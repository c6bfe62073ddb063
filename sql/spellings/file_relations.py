"""Files that stand where a relation would: `FROM 'orders.csv' o`, `JOIN 'log/*.json' l`.

No SQL has a string there, so that nothing else is meant by it: what follows FROM within `trim(... FROM 'x')`,
or within IS DISTINCT FROM, is of an expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Token, tokens, unquote

# by the ending of a file's name, without that of its compression
FORMATS = {
    "csv": "csv", "tsv": "csv", "json": "json", "jsonl": "json", "ndjson": "json", "parquet": "parquet",
    "orc": "orc",
}  # fmt: skip
_COMPRESSED = ("gz", "bz2", "zst", "lz4", "snappy")
# what ends the relations of a FROM
_AFTER_FROM = frozenset(
    {"WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "WINDOW", "QUALIFY", "SORT", "CLUSTER", "SELECT"}
    | {"DISTRIBUTE", "UNION", "EXCEPT", "INTERSECT", "MINUS", "TRIGGER", "EMIT"}
)


@dataclass(frozen=True, slots=True)
class FileRelation:
    """path: as written. format: Spark's. token: the string. stem: of the file's name, or its directory's."""

    path: str
    format: str
    token: Token

    @property
    def is_tabbed(self) -> bool:
        return _endings(self.path)[-1:] == ["tsv"]

    @property
    def stem(self) -> str:
        """Without what is a pattern, and in SQL no name."""
        for part in reversed(re.split(r"[/\\]", self.path)):
            name = re.sub(r"\W+", "_", part.split(".")[0]).strip("_")
            if name:
                return name
        return "files"


def file_relations(source: Source) -> list[FileRelation]:
    """In their order. Raises ProgramError for one whose format its name doesn't tell."""
    return [_relation(source, token) for token in _strings(tokens(source))]


def _relation(source: Source, token: Token) -> FileRelation:
    path = unquote(token.text)
    format_ = FORMATS.get((_endings(path) or [""])[-1])
    if format_ is None:
        endings = ", ".join(f".{ending}" for ending in FORMATS)
        message = (
            f"'{path}' doesn't say what its files are; its name ends in {endings}, as 'log/*.parquet', or "
            "declare CREATE TABLE name (...) USING format OPTIONS (path '...')"
        )
        raise source.error(token.start, message)
    return FileRelation(path, format_, token)


def _endings(path: str) -> list[str]:
    found = re.split(r"[/\\]", path)[-1].lower().split(".")[1:]
    return found[:-1] if found[-1:] and found[-1] in _COMPRESSED else found


@dataclass
class _Level:
    """Within a pair of parentheses, or of none. awaits: whether a FROM would begin relations.

    values: whether a comma stands between the rows of VALUES, until these get a name.
    """

    awaits: bool = False
    relations: bool = False
    values: bool = False


def _strings(found: Sequence[Token]) -> Iterator[Token]:
    levels, before = [_Level()], Token("symbol", ";", 0, 0)
    for at, token in enumerate(found):
        level, word = levels[-1], token.upper
        is_source = before.text == "(" and at > 1 and found[at - 2].upper == "TABLE"  # TABLE('a.csv')
        level.values &= word not in ("AS", "JOIN")
        is_read = level.relations and not level.values and before.upper in ("FROM", "JOIN", ",")
        if token.kind == "string" and (is_read or is_source):
            yield token
        elif token.text == "(":
            levels.append(_Level())
        elif token.text == ")" and len(levels) > 1:
            levels.pop()
        elif token.text == ";":
            levels = [_Level()]
        elif word == "FROM" and (level.awaits or before.text in ("(", ";") or before.upper == "AS"):
            is_comparison = before.upper == "DISTINCT" and found[at - 2].upper in ("IS", "NOT")
            if not is_comparison:
                level.awaits, level.relations = False, True
        elif word == "VALUES" and is_read:
            level.values = True
        elif word in _AFTER_FROM:
            level.relations, level.values = False, False
            level.awaits = word == "SELECT" or level.awaits
        before = token
