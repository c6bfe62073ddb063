"""A table in Postgres: the changes of a step and its number, in one transaction.

    BEGIN; lock the target's row in dbsp_steps; unless it has the step: COPY, apply; note the step; COMMIT

So a step is written once, whatever dies in between. Where the answer to COMMIT was lost, the next try asks:
it waits for the lock until that transaction has ended, and finds the step or doesn't. Two state directories
can't write one target: its row names the writer. append and retract: records are added. upsert: the table is
what the view is, by real upserts and deletes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dbsp.circuits.errors import Error
from dbsp.targets.outlet import Outlet, held
from dbsp.targets.postgres.rows import as_csv
from dbsp.targets.postgres.statements import Statements
from dbsp.targets.target import Change

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

_SECONDS = 10


@dataclass
class Postgres:
    """A `Target`."""

    outlet: Outlet
    statements: Statements = field(init=False)
    _connection: Connection | None = None

    def __post_init__(self) -> None:
        self.outlet.check_package("psycopg", "postgres")
        self.statements = Statements.of(self.outlet.table, self.outlet.key)

    @property
    def directory(self) -> str | None:
        """Of files."""
        return None

    def write(self, step: int, changes: Sequence[Change]) -> None:
        """In a transaction, unless the table has the step."""
        try:
            is_fresh = self._connection is None
            if self._connection is None:
                self._connection = self._connected()
            with self._connection.transaction(), self._connection.cursor() as cursor:
                written, is_empty = self._claimed(cursor, step, is_fresh)
                if written >= step:
                    return
                # into an empty table rows go as they are: twice as fast
                is_staged = bool(self.statements.key) and not is_empty
                with cursor.copy(self.statements.copy(is_staged)) as copy:
                    for rows in self.outlet.records(step, changes):
                        copy.write(as_csv(held(rows) if is_empty else rows))
                for statement in self.statements.apply if is_staged else ():
                    cursor.execute(statement)
                cursor.execute(self.statements.note, (step, self.statements.name))
        except BaseException:
            self.close()  # what it was doing may not be over
            raise

    def why(self, error: Exception) -> str:
        """In one line; a url may have a password, and where it is broken psycopg's message is all of it."""
        message = str(error).replace(self._url, "the url") if self._url else str(error)
        return message.strip().split("\n", 1)[0]

    def close(self) -> None:
        """End the session, and its transaction."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()

    @property
    def _url(self) -> str:
        """What it leaves out libpq knows: PGHOST, PGPASSWORD, ~/.pgpass."""
        return self.outlet.option("url")

    def _connected(self) -> Connection:
        import psycopg  # noqa: PLC0415  only who writes to Postgres has it

        connection = psycopg.connect(
            self._url,
            autocommit=True,
            connect_timeout=_SECONDS,
            tcp_user_timeout=1000 * _SECONDS,  # where the machine is gone, nobody says so
            application_name="dbsp",
            client_encoding="utf8",
        )
        try:
            with connection.transaction(), connection.cursor() as cursor:
                for statement in (*self.statements.settings, *self.statements.create):
                    cursor.execute(statement)
                if self.statements.key:
                    cursor.execute(self.statements.stage)
        except BaseException:
            connection.close()
            raise
        return connection

    def _claimed(self, cursor: Cursor, step: int, is_fresh: bool) -> tuple[int, bool]:
        """The last step that the table has, and whether it is keyed and known to be empty.

        Raises StateError where it is another's, or lacks earlier steps.
        """
        name, writer = self.statements.name, self.outlet.writer()
        cursor.execute(self.statements.claim, (name, writer))
        is_new = cursor.rowcount == 1
        cursor.execute(self.statements.written, (name,))
        found = cursor.fetchone()
        assert found is not None
        owner, written = found
        cure = "give another dbtable, or empty this one and delete its row there"
        self.outlet.check_writer(owner, written, "dbsp_steps", cure)
        if is_fresh:
            self.outlet.check_steps(step, written, "dbsp_steps")
        if is_new and self.statements.key:
            cursor.execute(self.statements.has_rows)
            if cursor.fetchone() == (True,):
                raise Error(
                    f"{name} has rows that no step has written, and is to be what a view is; empty it"
                )
        return written, is_new and bool(self.statements.key)
