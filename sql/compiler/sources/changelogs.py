"""A source whose records are changes: which, as its columns and WITH (changelog = '...') say.

    append     a record is a row that is inserted
    retract    a row and its `__weight`, or its `__op` 'I' or 'D': of a bag
    upsert     a key's row, or its deletion where `__op` is 'D': of a table with PRIMARY KEY
    debezium   the row before and after, and `op`: of both
    maxwell    the row, what of it was otherwise, and `type`: of a table with PRIMARY KEY
    change-data-feed   a row and its `_change_type`, in the order of `_commit_version`: of both

Without WITH it is what a target of the same columns would be given: `__op` or `__weight` with PRIMARY KEY
make an upsert, without one a retract. So what an INSERT has written, a table declared alike reads. Messages
with PRIMARY KEY are an upsert, too: one without a value is the deletion of its key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from dbsp.circuits.traces.zset import WEIGHT
from dbsp.sql.compiler.targets.format_columns import FILLED, given_columns
from dbsp.sql.plans.program import CHANGE_FEED, ENVELOPES, MAXWELL, OP, STEP
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.types import type_name
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.create_table import CreateTable

# Columns of a source that say what its records do and when; no view sees them.
MARKS = frozenset({WEIGHT, OP, STEP})

# Files that hold a row within a row.
_OF_ENVELOPES = ("json", "avro", "parquet", "orc")


def source_changelog(source: Source, statement: CreateTable, fields: Sequence[Field]) -> str | None:
    """What the records of a source are, of `CHANGELOGS`; None: rows that are inserted.

    fields: of the statement's columns. Raises ProgramError where they can't say what a record does.
    """
    declared = _Declared(source, statement, fields)
    shape = statement.changelog or declared.by_columns()
    if shape is None or shape == "append":
        declared.check_append()
        return None
    if statement.properties.get("append_only", False):
        declared.fail(f"is append_only, and changelog = '{shape}' takes rows back; leave out one")
    declared.check_format(shape)
    if shape in (*ENVELOPES, CHANGE_FEED):
        declared.check_unmarked(shape)
    else:
        declared.check_types()
    if shape == "retract":
        declared.check_retract()
    if shape == "upsert":
        declared.check_upsert()
    return shape


class _Declared:
    def __init__(self, source: Source, statement: CreateTable, fields: Sequence[Field]) -> None:
        self.source, self.statement, self.fields = source, statement, fields
        self.marks = {field.name.lower(): i for i, field in enumerate(fields) if field.name.lower() in MARKS}
        self.tells = self.marks.keys() & {WEIGHT, OP}

    @property
    def is_messages(self) -> bool:
        return self.statement.value_format is not None

    def by_columns(self) -> str | None:
        is_told = self.tells or (self.is_messages and self.statement.primary_key)
        if not is_told or self.statement.properties.get("append_only", False):
            return None
        return "upsert" if self.statement.primary_key else "retract"

    def check_append(self) -> None:
        for name, i in self.marks.items():
            cure = "leave it out"
            if name != STEP:
                cure += ", or declare WITH (changelog = 'retract' or 'upsert') and no append_only"
            why = "is what a sink writes of changes, and this source's rows are insertions"
            self.fail_column(i, f"{why}; {cure}")

    def check_format(self, shape: str) -> None:
        form = (self.statement.value_format or self.statement.format or "").lower()
        if shape in ENVELOPES and form not in _OF_ENVELOPES:
            self.fail(
                f"USING {form} has no envelopes; changelog = '{shape}' is of {', '.join(_OF_ENVELOPES)}"
            )
        options = {name.lower(): value.lower() for name, value in self.statement.options.items()}
        if self.statement.primary_key and options.get("latestfirst") == "true":
            self.fail("is read in the order of its records, so not latestFirst; leave that option out")
        if shape == CHANGE_FEED and form == "delta" and options.get("readchangefeed") != "true":
            self.fail("is read without its changes; add OPTIONS (readChangeFeed 'true')")
        given = None if self.is_messages else given_columns(form, self.statement.options)
        for name, i in self.marks.items():
            if form == "text" or (given is not None and name not in given):
                self.fail_column(i, f"is none that {form} gives; leave it out")

    def check_unmarked(self, shape: str) -> None:
        if shape == MAXWELL and not self.statement.primary_key:
            self.fail("has no key, and Maxwell doesn't tell all of the row before; declare PRIMARY KEY (...)")
        for i in self.marks.values():
            self.fail_column(i, f"is nothing that a record of {shape} has; leave it out")

    def check_types(self) -> None:
        for name, i in self.marks.items():
            if self.fields[i].type != FILLED[name]:
                self.fail_column(i, f"is read as {type_name(FILLED[name])}; declare it so")

    def check_retract(self) -> None:
        if self.statement.primary_key:
            cure = f"leave it out, or declare {OP} STRING and changelog = 'upsert'"
            self.fail(f"has a PRIMARY KEY, and a record of changelog = 'retract' takes back any row; {cure}")
        if not self.tells:
            why = "has nothing that says what changelog = 'retract' takes back"
            self.fail(f"{why}; declare a column {WEIGHT} BIGINT or {OP} STRING")

    def check_upsert(self) -> None:
        key = {name.lower() for name in self.statement.primary_key}
        if not key:
            cure = f"declare PRIMARY KEY (...), or changelog = 'retract' with {WEIGHT} BIGINT"
            self.fail(f"has no key to upsert by; {cure}")
        if not (self.tells or self.is_messages) and all(
            field.nullable or field.name.lower() in key for field in self.fields
        ):
            cure = f"declare {OP} STRING, or a column NOT NULL, which only a deletion hasn't"
            self.fail(f"has nothing that tells the deletion of a key from a row with NULLs; {cure}")

    def fail(self, message: str) -> NoReturn:
        raise self.source.error(self.statement.start, f"source '{self.statement.name}' {message}")

    def fail_column(self, i: int, message: str) -> NoReturn:
        what = f"column '{self.fields[i].name}' of source '{self.statement.name}' {message}"
        raise self.source.error(self.statement.columns[i].start, what)
