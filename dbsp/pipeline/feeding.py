"""What a pipeline is given for its next step: rows, changes, waterlines."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dbsp.circuits.errors import DataError
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.segments.chunk import Chunk
from dbsp.pipeline.arguments import check_frame
from dbsp.pipeline.deltas.advancing import moved_with, waterline_at, waterline_of
from dbsp.pipeline.spark.in_tasks import ReadInTasks
from dbsp.pipeline.steps.position import Position
from dbsp.rows.incoming import key_rows, whole_rows
from dbsp.running.queue import Rows, weighted
from dbsp.running.runner import Runner
from dbsp.sql.plans.program import Program, Table
from dbsp.state.store import Store

if TYPE_CHECKING:
    from dbsp.pipeline.deltas.replacing import Replacing


class Feeding(ABC):
    """The half of a Pipeline that queues. _lock: held by who queues or makes a step. given: the tables that a
    caller has given rows, which needn't hold what their source does.
    """

    program: Program
    runner: Runner
    store: Store
    partitions: int | None
    given: set[str]
    _position: Position
    _lock: threading.RLock
    _closed: bool

    @abstractmethod
    def _open(self) -> None:
        """Raises StateError where the pipeline is closed."""

    @abstractmethod
    def _staged(self, table: Table, rows: object, weight: int) -> Sequence[Rows]:
        """A DataFrame of Spark's, or what tasks read, as they have written it."""

    def insert(self, table: str, rows: object) -> None:
        """Queue rows for the next step. In a keyed table a row of a present key replaces it.

        Examples:
            >>> p.insert("sale", [{"id": 3, "buyer": "Ada", "price": 4}])
            >>> p.step()["turnover"].rows()
            [({'buyer': 'Ada', 'total': 5}, -1), ({'buyer': 'Ada', 'total': 9}, 1)]
        """
        self._take(self.program.input(table), rows, 1)

    def delete(self, table: str, rows: object) -> None:
        """Queue retractions: a copy per row of a bag; of a keyed table, by keys or rows that have them.

        Examples:
            >>> p.delete("sale", [{"id": 2}])
            >>> p.step()["turnover"].rows()
            [({'buyer': 'Bob', 'total': 7}, -1)]
        """
        target = self.program.input(table)
        if target.append_only:
            raise DataError(
                f"table '{target.name}' is append-only; declare it without append_only to delete from it"
            )
        self._take(target, rows, -1)

    def upsert(self, table: str, rows: object) -> None:
        """Queue rows of a keyed table, replacing those with the same keys.

        Examples:
            >>> p.upsert("sale", [(2, "Bob", 8)])
            >>> p.step()["turnover"].rows()
            [({'buyer': 'Bob', 'total': 7}, -1), ({'buyer': 'Bob', 'total': 8}, 1)]
        """
        target = self.program.input(table)
        if not target.primary_key:
            raise DataError(f"table '{target.name}' has no PRIMARY KEY, so nothing to upsert by; use insert")
        self._take(target, rows, 1)

    def replace(self, table: str, rows: object) -> None:
        """Queue what makes the table hold these rows and no others: their difference from what it holds.

        Examples:
            >>> p.replace("sale", [(2, "Bob", 7), (3, "Eve", 1)])
            >>> p.step()["turnover"].rows()
            [({'buyer': 'Ada', 'total': 5}, -1), ({'buyer': 'Eve', 'total': 1}, 1)]

        Rows of a keyed table are compared by key, those of a bag as often as they are there; DEFAULTs aren't
        filled in. Raises DataError where rows are queued for the table already, or not all that it holds is
        kept: of append_only and unchecked tables, and of those with LATENESS.
        """
        self.given.add(self.program.input(table).name)
        self._replace(table, lambda target: self._given(target, rows, 1, retracted=True))

    def hold(self, table: str, rows: Sequence[Rows]) -> None:
        """`replace` by rows that are known to fit, as `change` takes them, with weights of 1."""
        self._replace(table, lambda _: rows)

    def _replace(self, table: str, rows: Callable[[Table], Sequence[Rows]]) -> None:
        target = self.program.input(table)
        self._replacing.check(target)
        with self._lock:
            self._open()
            self._position.settle()
            if self.queued.get(target.name):
                raise DataError(
                    f"table '{target.name}' has rows queued; make a step, or `discard` them, and replace then"
                )
            wanted = rows(target)
            partitions = self.partitions or self.runner.partitions
            self._enqueue(
                target.name, self._replacing.difference(self._position.state, target, wanted, partitions)
            )

    @cached_property
    def _replacing(self) -> Replacing:
        from dbsp.pipeline.deltas.replacing import Replacing  # noqa: PLC0415  a step replaces nothing

        return Replacing(self.program.circuit, self.store, self.runner)

    def change(self, table: str, rows: pa.RecordBatch | Chunk, weights: np.ndarray | None = None) -> None:
        """Queue a delta that is known to fit: rows of the table's schema and their int64 weights.

        Without weights: a batch, or a chunk in the state's segments, whose last column is `__weight`. In a
        keyed table weight 1 is an upsert, −1 a delete by key, and rows apply in order.
        """
        if weights is not None:
            assert isinstance(rows, pa.RecordBatch)
            rows = weighted(rows, weights)
        self._enqueue(self.program.input(table).name, [rows])

    def advance(self, table: str, column: str, value: object) -> None:
        """Queue that the waterline of a column with LATENESS moves to a value, without a row.

        Rows of the steps after the next one that are below it are late. It never falls: a lower value does
        nothing. Of a column with WATERMARK the rows up to it, which wait, are released by the next step.
        table: or a view that has one. Raises DataError.
        """
        one = waterline_of(self.program.circuit, table, column)
        scalar = waterline_at(one, value, self.program.timezone)
        with self._lock:
            self._open()
            self._position.settle()
            for name, to in moved_with(self.program.circuit, one, scalar).items():
                self._position.queue.advance(name, to)

    def refuse(self, rows: Rows) -> None:
        """Queue what a source brought that is no row of its table: of REFUSED_SCHEMA and weights."""
        self._enqueue(BAD_ROWS, [rows])

    def excuse(self, table: str) -> list[Chunk]:
        """Have what is queued for a bag take back no row that isn't there: such rows are bad instead.

        Gives them as `refuse` takes them, for the caller to do so. The machine's clock is read here, and what
        is queued has it from then on.
        """
        target = self.program.input(table)
        with self._lock:
            self._open()
            self._position.settle()
            position, partitions = self._position, self.partitions or self.runner.partitions
            queued = position.queue.inputs.get(target.name, [])
            clock = position.hold_clock()
            circuit, state = self.program.circuit, position.state
            from dbsp.pipeline.deltas.absences import absences  # noqa: PLC0415  a step excuses nothing

            found = absences(circuit, state, target, queued, self.store, self.runner, partitions, clock)
            self._enqueue(target.name, found.rows)
        return found.bad

    def discard(self) -> None:
        """Forget what is queued, as after a step that can't succeed.

        Examples:
            >>> p.insert("sale", [(3, "Eve", 1)])
            >>> p.discard()
            >>> p.step()["turnover"].rows()
            []
        """
        with self._lock:
            if not self._closed:
                self._position.discard()

    @property
    def queued(self) -> dict[str, int]:
        """Rows waiting for the next step, per table.

        Examples:
            >>> p.insert("sale", [(3, "Eve", 1), (4, "Eve", 2)])
            >>> p.queued
            {'sale': 2}
        """
        return self._position.queue.rows

    def _take(self, table: Table, rows: object, weight: int) -> None:
        self._open()
        self.given.add(table.name)
        self._enqueue(table.name, self._given(table, rows, weight, retracted=weight < 0))

    def _given(self, table: Table, rows: object, weight: int, retracted: bool) -> Sequence[Rows]:
        """What was handed over, checked. retracted: values that aren't given are NULL, and no DEFAULT."""
        check_frame(table.name, rows)
        if isinstance(rows, ReadInTasks) or type(rows).__module__.startswith("pyspark."):
            return self._staged(table, rows, weight)
        if weight < 0 and table.primary_key:
            batch = key_rows(table, rows, self.program.timezone)
        else:
            batch = whole_rows(table, rows, self.program.timezone, retracted)
        return [weighted(batch, np.full(batch.num_rows, weight, np.int64))] if batch.num_rows else []

    def _enqueue(self, table: str, parts: Sequence[Rows]) -> None:
        with self._lock:
            self._open()
            self._position.settle()
            self._position.queue.add(table, parts)
