"""A table in Postgres, by psycopg and COPY."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dbsp.targets.databases.database import Database
from dbsp.targets.databases.statements import target_name
from dbsp.targets.postgres.rows import as_csv
from dbsp.targets.postgres.statements import PostgresStatements

if TYPE_CHECKING:
    from psycopg import Connection

_SECONDS = 10


class Postgres(Database):
    """url: what it leaves out libpq knows: PGHOST, PGPASSWORD, ~/.pgpass."""

    statements: PostgresStatements

    def spelled(self) -> PostgresStatements:
        self.outlet.check_package("psycopg", "postgres")
        return PostgresStatements(target_name(self.outlet), self.outlet.table.schema, self.outlet.key)

    def opened(self) -> PostgresSession:
        import psycopg  # noqa: PLC0415  only who writes to Postgres has it

        connection = psycopg.connect(
            self.outlet.table.option("url"),
            autocommit=True,
            connect_timeout=_SECONDS,
            tcp_user_timeout=1000 * _SECONDS,  # where the machine is gone, nobody says so
            application_name="dbsp",
            client_encoding="utf8",
        )
        return PostgresSession(connection, self.statements)


@dataclass
class PostgresSession:
    """A `Session`."""

    connection: Connection
    statements: PostgresStatements

    def transaction(self) -> AbstractContextManager[object]:
        transaction: AbstractContextManager[object] = self.connection.transaction()
        return transaction

    def execute(self, statement: str, values: Sequence[object] = ()) -> int:
        with self.connection.cursor() as cursor:
            # where there are no values, a percent sign is one
            return int(cursor.execute(statement, values or None).rowcount)

    def row(self, query: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        with self.connection.cursor() as cursor:
            found: tuple[Any, ...] | None = cursor.execute(query, values or None).fetchone()
            return found

    def load(self, rows: pa.RecordBatch, is_staged: bool) -> None:
        with self.connection.cursor() as cursor, cursor.copy(self.statements.copy(is_staged)) as copy:
            copy.write(as_csv(rows))

    def close(self) -> None:
        self.connection.close()
