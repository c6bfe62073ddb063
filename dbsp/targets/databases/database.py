"""A table in a database: the changes of a step and its number, in one transaction.

    begin; lock the target's row in dbsp_steps; unless it has the step: load, apply; note the step; commit

So a step is written once, whatever dies in between. Where the answer to the commit was lost, the next try
asks: it waits for the lock until that transaction has ended, and finds the step or doesn't. Two state
directories can't write one target: its row names the writer. append and retract: records are added. upsert:
the table is what the view is, by real upserts and deletes.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import pyarrow as pa

from dbsp.circuits.columns.forms.time_of_day import rows_in_microseconds
from dbsp.circuits.errors import Error
from dbsp.targets.databases.statements import Statements
from dbsp.targets.outlet import Outlet, held
from dbsp.targets.target import Change

# seconds
_IDLE = 30.0


class Session(Protocol):
    """A connection, over whose life a table is staged."""

    def transaction(self) -> AbstractContextManager[object]:
        """What is done within is committed, or after an error wasn't done."""
        ...

    def execute(self, statement: str, values: Sequence[object] = ()) -> int:
        """The number of rows that it changed."""
        ...

    def row(self, query: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        """The first row."""
        ...

    def load(self, rows: pa.RecordBatch, is_staged: bool) -> None:
        """Add rows to the target; or to the staged ones, with a last column `__op`."""
        ...

    def close(self) -> None: ...


class Connection(Protocol):
    def commit(self) -> object: ...
    def rollback(self) -> object: ...


@contextmanager
def committed(connection: Connection, begin: Callable[[], object]) -> Iterator[None]:
    """A transaction of a connection that begins, and ends, where it is told."""
    begin()
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


@dataclass
class Database(ABC):
    """A `Target`. is_shared: others can open the database while this one has."""

    outlet: Outlet
    statements: Statements = field(init=False)
    _session: Session | None = None
    _used: float = 0.0

    is_shared: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.statements = self.spelled()

    @abstractmethod
    def spelled(self) -> Statements:
        """Its statements. Raises ProgramError where what connects to it isn't installed."""

    @abstractmethod
    def opened(self) -> Session:
        """A session in which nothing is done yet."""

    def connected(self) -> Session:
        """A session in which the tables are there, and that which is staged."""
        session = self.opened()
        try:
            for statement in self.statements.settings:
                session.execute(statement)
            with session.transaction():
                for statement in self.statements.create:
                    session.execute(statement)
            if self.statements.key:
                session.execute(self.statements.stage)
        except BaseException:
            session.close()
            raise
        return session

    @property
    def directory(self) -> str | None:
        """Of files."""
        return None

    def write(self, step: int, changes: Sequence[Change]) -> None:
        """In a transaction, unless the table has the step."""
        try:
            self._look_after()
            is_fresh = self._session is None
            if self._session is None:
                self._session = self.connected()
            with self._session.transaction():
                written, is_empty = self._claimed(self._session, step, is_fresh)
                if written < step:
                    self._apply(self._session, step, changes, is_empty)
        except BaseException:
            self.close()  # what it was doing may not be over
            raise
        self._used = time.monotonic()
        if not self.is_shared:
            self.close()

    def _look_after(self) -> None:
        """Give up a session that was idle, where its server, or a firewall, has meanwhile, too."""
        if self._session is not None and time.monotonic() - self._used > _IDLE:
            try:
                self._session.row("SELECT 1")
            except Exception:  # each driver has errors of its own, and a new session says what is wrong
                self.close()

    def why(self, error: Exception) -> str:
        """In one line; a url may have a password, and where it is broken the message may be all of it."""
        url = self.outlet.table.option("url")
        message = str(error).replace(url, "the url") if url else str(error)
        return message.strip().split("\n", 1)[0]

    def close(self) -> None:
        """End the session, and its transaction."""
        session, self._session = self._session, None
        if session is not None:
            with suppress(Exception):
                session.close()

    def _apply(self, session: Session, step: int, changes: Sequence[Change], is_empty: bool) -> None:
        # into an empty table rows go as they are: twice as fast
        is_staged = bool(self.statements.key) and not is_empty
        if is_staged and self.statements.unstage:
            session.execute(self.statements.unstage)
        for rows in map(rows_in_microseconds, self.outlet.records(step, changes)):
            session.load(held(rows) if is_empty else rows, is_staged)
        for statement in self.statements.apply if is_staged else ():
            session.execute(statement)
        session.execute(self.statements.note, (step, self.statements.name))

    def _claimed(self, session: Session, step: int, is_fresh: bool) -> tuple[int, bool]:
        """The last step that the table has, and whether it is keyed and known to be empty.

        Raises StateError where it is another's, or lacks earlier steps.
        """
        name = self.statements.name
        is_new = session.execute(self.statements.claim, (name, self.outlet.writer())) == 1
        found = session.row(self.statements.written, (name,))
        assert found is not None
        owner, written = found
        cure = "give another dbtable, or empty this one and delete its row there"
        self.outlet.check_writer(owner, written, "dbsp_steps", cure)
        if is_fresh:
            self.outlet.check_steps(step, written, "dbsp_steps", cure)
        is_keyed = bool(self.statements.key)
        if is_new and is_keyed and session.row(self.statements.has_rows) in ((True,), (1,)):
            raise Error(f"{name} has rows that no step has written, and is to be what a view is; empty it")
        return written, is_new and is_keyed
