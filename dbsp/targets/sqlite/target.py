"""A table in a file of SQLite, by Python's own module.

SQLite has five types: whole numbers and booleans are INTEGER, FLOAT and DOUBLE are REAL, BINARY is BLOB;
texts are TEXT, and so are a DECIMAL with all its digits, a date and a time ('2024-01-31 12:00:00.000001', in
UTC).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.errors import DataError
from dbsp.sql.plans.schemas import Field
from dbsp.targets.databases.database import Database, committed
from dbsp.targets.databases.statements import Statements, target_name

_SECONDS = 30


class SqliteStatements(Statements):
    staged: ClassVar[str] = "temp.dbsp_staged"
    settings: ClassVar[Sequence[str]] = ("PRAGMA synchronous = FULL",)

    def type_of(self, column: Field) -> str:
        if pt.is_integer(column.type) or pt.is_boolean(column.type):
            return "INTEGER"
        if pt.is_floating(column.type):
            return "REAL"
        return "BLOB" if pt.is_binary(column.type) else "TEXT"

    def insert(self, is_staged: bool) -> str:
        """Of rows as parameters."""
        table, names = self.into(is_staged)
        return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


class Sqlite(Database):
    """path: of the file, which is made where there is none."""

    statements: SqliteStatements

    def spelled(self) -> SqliteStatements:
        return SqliteStatements(target_name(self.outlet), self.outlet.table.schema, self.outlet.key)

    def opened(self) -> SqliteSession:
        path = self.outlet.table.option("path")
        connection = sqlite3.connect(path, timeout=_SECONDS, isolation_level=None, check_same_thread=False)
        return SqliteSession(connection, self.statements)


@dataclass
class SqliteSession:
    """A `Session`."""

    connection: sqlite3.Connection
    statements: SqliteStatements

    def transaction(self) -> AbstractContextManager[None]:
        """One that writes, from its begin."""
        return committed(self.connection, lambda: self.connection.execute("BEGIN IMMEDIATE"))

    def execute(self, statement: str, values: Sequence[object] = ()) -> int:
        return self.connection.execute(statement, values).rowcount

    def row(self, query: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self.connection.execute(query, values).fetchone()
        return found

    def load(self, rows: pa.RecordBatch, is_staged: bool) -> None:
        columns = [_values(n, column) for n, column in zip(rows.schema.names, rows.columns, strict=True)]
        self.connection.executemany(self.statements.insert(is_staged), zip(*columns, strict=True))

    def close(self) -> None:
        self.connection.close()


def _values(name: str, column: pa.Array) -> list[Any]:
    """What its module takes. Raises DataError for NaN, which SQLite would make NULL of."""
    if pt.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
        raise DataError(f"column '{name}' has NaN, and SQLite no such number; make it NULL in the view")
    if pt.is_timestamp(column.type) and column.type.tz is not None:
        column = column.cast(pa.timestamp("us"))
    if pt.is_temporal(column.type) or pt.is_decimal(column.type):
        column = column.cast(pa.string())
    return list(column.to_pylist())
