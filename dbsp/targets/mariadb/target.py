"""A table in MariaDB, or MySQL, by PyMySQL and LOAD DATA."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.errors import Error
from dbsp.targets.databases.database import Database, Session, committed
from dbsp.targets.databases.statements import target_name
from dbsp.targets.mariadb.rows import as_lines
from dbsp.targets.mariadb.statements import MARIADB, MYSQL, PADDING, MariadbStatements

if TYPE_CHECKING:
    from pymysql import Connection

_SECONDS = 10
# an answer may take as long as the transaction waits for a lock, and then has to do
_ANSWER = 600


class Mariadb(Database):
    """url: mariadb://user:password@host:3306/database; what it leaves out ~/.my.cnf says."""

    statements: MariadbStatements

    def spelled(self) -> MariadbStatements:
        self.outlet.check_package("pymysql", "mariadb")
        return MariadbStatements(target_name(self.outlet), self.outlet.table.schema, self.outlet.key)

    def opened(self) -> MariadbSession:
        import pymysql  # noqa: PLC0415  only who writes to MariaDB has it

        connection = pymysql.connect(
            **_where(self.outlet.table.option("url")),
            charset="utf8mb4",
            autocommit=True,
            local_infile=True,
            connect_timeout=_SECONDS,
            read_timeout=_ANSWER,
            write_timeout=_ANSWER,
            program_name="dbsp",
        )
        version: str = connection.get_server_info()  # type: ignore[no-untyped-call]
        self.statements = replace(self.statements, collation=_collation(version))
        return MariadbSession(connection, self.statements)

    def connected(self) -> Session:
        """Raises Error where a table that is there can't be written so."""
        session = super().connected()
        texts = [column.name for column in self.statements.columns if pt.is_string(column.type)]
        if self.statements.collation == PADDING and {*texts} & {*self.statements.key}:
            session.close()
            raise Error(
                "this MySQL has no collation in which 'a' and 'a ' are two keys; 8.0.17 has, and MariaDB"
            )
        *schema, table = self.statements.name.split(".")
        found = session.row(self.statements.engines, (schema[-1] if schema else None, table))
        if found is not None:
            session.close()
            raise Error(
                f"table {found[0]} is of engine {found[1]}, which has no transactions; make it InnoDB"
            )
        return session

    def why(self, error: Exception) -> str:
        """PyMySQL's errors are a number and a text."""
        if len(error.args) == 2 and isinstance(error.args[1], str):
            return super().why(Exception(error.args[1]))
        return super().why(error)


def _collation(version: str) -> str:
    """As the server gives it: '8.0.36-0ubuntu0.22.04.1', or '5.5.5-10.11.6-MariaDB'."""
    if "MariaDB" in version:
        return MARIADB
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
    return MYSQL if numbers >= (8, 0, 17) else PADDING


def _where(url: str) -> dict[str, Any]:
    """What the url says."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in ("", "mariadb", "mysql") or (parts.netloc and not parts.hostname):
        raise Error("the url must be like mariadb://user@host:3306/database")
    given = {
        "host": parts.hostname,
        "port": port,
        "user": unquote(parts.username) if parts.username else None,
        "password": unquote(parts.password) if parts.password else None,
        "database": unquote(parts.path[1:]) or None,
    }
    return {"read_default_file": "~/.my.cnf", **{name: value for name, value in given.items() if value}}


@dataclass
class MariadbSession:
    """A `Session`."""

    connection: Connection[Any]
    statements: MariadbStatements

    def transaction(self) -> AbstractContextManager[None]:
        return committed(self.connection, self.connection.begin)

    def execute(self, statement: str, values: Sequence[object] = ()) -> int:
        with self.connection.cursor() as cursor:
            return int(cursor.execute(statement, tuple(values) or None))

    def row(self, query: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        with self.connection.cursor() as cursor:
            cursor.execute(query, tuple(values) or None)
            found: tuple[Any, ...] | None = cursor.fetchone()
            return found

    def load(self, rows: pa.RecordBatch, is_staged: bool) -> None:
        """By a file, which LOCAL sends. What doesn't fit is a warning to it, and the row is changed."""
        with tempfile.NamedTemporaryFile(prefix="dbsp-", suffix=".tsv") as file:
            file.write(as_lines(rows))
            file.flush()
            self.execute(self.statements.load(file.name, is_staged))
        warning = self.row("SHOW WARNINGS LIMIT 1")
        if warning is not None:
            raise Error(f"a row doesn't fit: {warning[2]}")

    def close(self) -> None:
        self.connection.close()
