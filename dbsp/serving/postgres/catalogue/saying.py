"""What is wrong with a query of the catalogue, in PostgreSQL's terms and not in those of what reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import duckdb

from dbsp.circuits.errors import did_you_mean
from dbsp.serving.postgres.language.wrong import Wrong

_UNKNOWN = re.compile(r"(Table|Schema|Type|[\w ]*Function) with name \"?([^\s\"]+?)\"? does not exist!")
_CODES = {"table": "42P01", "schema": "3F000", "type": "42704", "function": "42883"}
_COLUMN = re.compile(r"column (?:named )?\"([^\"]+)\"")


def catalogue_error(error: duckdb.Error, relations: Iterable[str], functions: Iterable[str]) -> Wrong:
    """relations, functions: that there are."""
    code, said = _said(str(error), {"table": relations, "function": functions})
    if isinstance(error, duckdb.InterruptException):
        code, said = "57014", "it takes too long"
    return Wrong(code, f"the catalogue can't answer that: {said}")


def _said(text: str, there: dict[str, Iterable[str]]) -> tuple[str, str]:
    unknown = _UNKNOWN.search(text)
    if unknown is not None:
        kind = unknown[1].lower().split()[-1]
        name = unknown[2].split(".")[-1]
        hint = did_you_mean(name, list(there.get(kind, ())))
        return _CODES[kind], f"it has no {kind} '{name}'{hint}"
    kind, _, message = text.partition(": ")
    line = message.split("\n")[0]
    if kind == "Parser Error":
        return "42601", line
    column = _COLUMN.search(line)
    if kind == "Binder Error" and column is not None:
        return "42703", f"it has no column '{column[1]}' there"
    return "22000", line or text
