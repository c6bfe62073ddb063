"""What a statement gives, and what goes wrong, in PostgreSQL's terms."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pyarrow as pa

from dbsp.circuits.errors import DataError, NotKept, ProgramError, StateError, TooMuch
from dbsp.dml.keys import KeyThere
from dbsp.serving.answers import said_of
from dbsp.serving.postgres.copying.rows import CopiedRows
from dbsp.serving.postgres.copying.statement import Copy
from dbsp.serving.postgres.language.types import LISTED, TEXTS, TYPES, modifier_of, oid_of
from dbsp.serving.postgres.language.wrong import Wrong
from dbsp.serving.postgres.wire import BadMessage, Field
from dbsp.views.changes import UnknownView


@dataclass(frozen=True)
class Command:
    """Done, and no rows. warning: what else there is to say."""

    tag: str
    warning: str = ""


@dataclass
class Rows:
    """Rows that are there. at: how many have been sent. tag: what is said after so many of them. notice: what
    else there is to say of them.
    """

    batch: pa.RecordBatch
    at: int = 0
    tag: str = "SELECT {}"
    notice: str = ""

    @property
    def schema(self) -> pa.Schema:
        return self.batch.schema

    @property
    def fields(self) -> list[Field]:
        return fields_of(self.batch.schema)


@dataclass(frozen=True)
class Copied:
    """What COPY sends."""

    rows: Rows | Followed
    copy: Copy


@dataclass(frozen=True)
class Copying:
    """What COPY takes: `rows` gets what the client sends."""

    rows: CopiedRows


@dataclass(frozen=True)
class Followed:
    """Rows as they come, of a schema, without an end."""

    schema: pa.Schema
    batches: AsyncIterator[pa.RecordBatch] = field(repr=False)

    @property
    def fields(self) -> list[Field]:
        return fields_of(self.schema)


Answer = Command | Rows | Copied | Copying | Followed


def fields_of(schema: pa.Schema, arrays: bool = True) -> list[Field]:
    """The columns as a client is told. arrays: who reads texts reads those of the catalogue as arrays."""
    fields = []
    for one in schema:
        oid = oid_of(one.type)
        if arrays and one.metadata is not None and LISTED.keys() <= one.metadata.keys():
            fields.append(Field(one.name, int(one.metadata.get(b"of", TEXTS))))
            continue
        fields.append(Field(one.name, oid, TYPES[oid].size, modifier_of(one.type)))
    return fields


def state_of(error: Exception, root: object) -> tuple[str, str]:
    """(SQLSTATE, what is said)"""
    status, said = said_of(error, root)
    if isinstance(error, Wrong):
        return error.code, said
    if isinstance(error, BadMessage):
        return "08P01", said
    if isinstance(error, UnknownView):
        return "42P01", said
    if isinstance(error, ProgramError):
        return "42601", said
    if isinstance(error, NotKept | StateError):
        return "55000", said
    if isinstance(error, KeyThere):
        return "23505", said
    if isinstance(error, DataError):
        return "22000", said
    if isinstance(error, TooMuch):
        return "53200", said
    return ("57014" if status == 503 else "XX000"), said
