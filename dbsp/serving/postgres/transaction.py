"""What a client writes, from its first statement to the end of its transaction, which is a step.

Its queries and statements see one step, and tables with what the transaction has changed. At its end the
statements are queued in the turn of who writes; where steps were made meanwhile, they are evaluated again,
and the transaction fails where that changes other rows: what commits is as if it had happened at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dbsp.circuits.traces.zset import ZSet
from dbsp.dml.edits import Edits
from dbsp.dml.reading.statements import read_statement
from dbsp.dml.returned import returned
from dbsp.dml.statement import Statement
from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.postgres.language.returning import Returning
from dbsp.serving.postgres.language.wrong import Wrong
from dbsp.serving.writes import Writes

# statements of a transaction
_LONGEST = 100_000


@dataclass(frozen=True)
class _Done:
    """count: the rows that it changed. returning: what it was asked for of them, and values of parameters as
    literals; returned: what it gave. zone: the session's time zone.
    """

    statement: Statement
    count: int
    returning: Returning | None
    values: Sequence[str]
    returned: pa.RecordBatch | None
    zone: str


@dataclass
class Transaction:
    """done: the statements. savepoints: names, and how many were done."""

    pipeline: Pipeline
    writes: Writes
    done: list[_Done] = field(default_factory=list)
    savepoints: list[tuple[str, int]] = field(default_factory=list)
    _edits: Edits | None = None

    def run(
        self, text: str, zone: str, returning: Returning | None = None, values: Sequence[str] = ()
    ) -> tuple[int, pa.RecordBatch | None]:
        """How many rows a statement changes, and what it was asked for of them. values: the parameters'.

        Raises Error; what was done before stays.
        """
        return self.do(read_statement(text, self.pipeline.program), zone, returning, values)

    def do(
        self, statement: Statement, zone: str, returning: Returning | None = None, values: Sequence[str] = ()
    ) -> tuple[int, pa.RecordBatch | None]:
        """The same of a statement that has been read."""
        if len(self.done) >= _LONGEST:
            raise Wrong("53400", f"a transaction has at most {_LONGEST:,} statements; COMMIT more often")
        edits, before = self.snapshot(), self.done
        done = _did(edits, statement, returning, values, zone)
        before.append(done)  # of what was given up meanwhile, where nobody waits any more
        return done.count, done.returned

    def snapshot(self) -> Edits:
        """What the transaction sees: the last step when it was first asked, and its own changes."""
        if self._edits is None:
            self._edits = self.pipeline.edits(strict=True)
        return self._edits

    @property
    def has_begun(self) -> bool:
        """Whether something was done that isn't a step yet."""
        return self._edits is not None

    async def commit(self) -> str:
        """Make the step, if there is anything to change; what else there is to say.

        Raises Error; then nothing is changed.
        """
        edits, done = self._edits, self.done
        self.clear()
        if edits is None or not edits.changes:
            return ""

        def queue() -> None:
            current = edits
            if self.pipeline.last_step != edits.step:
                current = self.pipeline.edits(strict=True, moment=edits.moment)
                for one in done:
                    if not _same(_again(current, one), one):
                        raise Wrong(
                            "40001",
                            "other rows are there since the transaction began; try it again from BEGIN",
                        )
            current.queue(self.pipeline.change)

        answer = await self.writes.stepped(queue)
        return str(answer.get("warning", ""))

    def clear(self) -> None:
        """Nothing is done."""
        self._edits, self.done, self.savepoints = None, [], []

    def save(self, name: str) -> None:
        """A savepoint, to which `back` goes."""
        self.savepoints.append((name, len(self.done)))

    def back(self, name: str) -> None:
        """As it was at the savepoint. Raises Wrong."""
        at = next((i for i in reversed(range(len(self.savepoints))) if self.savepoints[i][0] == name), None)
        if at is None:
            raise Wrong("3B001", f"no savepoint '{name}'")
        kept = self.done[: self.savepoints[at][1]]
        del self.savepoints[at + 1 :]
        self.done, self._edits = [], self.snapshot().again()
        for one in kept:
            self.done.append(_again(self._edits, one))


def _again(edits: Edits, one: _Done) -> _Done:
    return _did(edits, one.statement, one.returning, one.values, one.zone)


def _did(
    edits: Edits, statement: Statement, returning: Returning | None, values: Sequence[str], zone: str
) -> _Done:
    count, given = edits.run(statement, zone), None
    if returning is not None:
        assert edits.written is not None, "a statement says which rows it wrote"
        select, plans = returning.select(values), edits.plans.in_zone(zone)
        given = returned(edits.written, statement.table, returning.columns, select, plans, edits.moment)
    return _Done(statement, count, returning, values, given, zone)


def _same(one: _Done, other: _Done) -> bool:
    """Whether a client was told the same."""
    if one.returned is None or other.returned is None:
        return one.count == other.count
    given, before = (
        ZSet(rows, np.ones(rows.num_rows, dtype=np.int64)) for rows in (one.returned, other.returned)
    )
    return one.count == other.count and not len((given - before).consolidate())
