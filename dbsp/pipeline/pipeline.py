"""The pipeline: a program, its state directory, and the deltas queued for the next step."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING
from weakref import WeakSet

from dbsp.circuits.errors import DataError, StateError
from dbsp.history.asked import AsOf
from dbsp.pipeline.arguments import check_arguments
from dbsp.pipeline.asked import Asked
from dbsp.pipeline.beside.background import Background
from dbsp.pipeline.beside.subscriptions import Subscriptions
from dbsp.pipeline.delivering import Delivering
from dbsp.pipeline.driven import Driven
from dbsp.pipeline.feeding import Feeding
from dbsp.pipeline.reading import Reading
from dbsp.pipeline.runners import read_again, runner_of
from dbsp.pipeline.spark.in_tasks import ReadInTasks
from dbsp.pipeline.stepping import Stepping
from dbsp.pipeline.steps.position import Position
from dbsp.pipeline.udf import Function, declared_of
from dbsp.running.observed import Observed
from dbsp.running.queue import Rows
from dbsp.running.runner import Runner
from dbsp.sql.compiler.load import load_program
from dbsp.sql.plans.program import Program, Table
from dbsp.state.keeping.keep import Keep
from dbsp.state.records.identity import OtherProgram, identity_of
from dbsp.state.store import Store
from dbsp.targets.function import Sink, sinks_of
from dbsp.views.changes import Changes
from dbsp.views.live import Live, in_notebook
from dbsp.views.outputs import check_state
from dbsp.views.view import Contents

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer
    from pyspark.sql import SparkSession

    from dbsp.dml.edits import Edits
    from dbsp.pipeline.sinks import Sinks
    from dbsp.pipeline.spark.runs.streaming import Run

log = logging.getLogger("dbsp")


class Pipeline(Feeding, Delivering, Stepping, Asked, Driven):
    """Deltas in, changes of all views out, step by step.

    program: a file, or a compiled Program; or sql: the text itself. state: the directory to keep state in, or
    a store's URI, and to go on from if it is there; without one, state ends with the pipeline. runner:
    'spark' or 'inline'.
    partitions: over how many tasks a large step is spread. keep_steps, keep_for: how many of the last
    steps stay readable, and for how long (a timedelta, or '7d'), by their clocks; the directory remembers it.
    functions: what `dbsp.udf` and `dbsp.udaf` made, for the program to call. sinks: what `dbsp.sink` made, of
    the tables USING python that the program writes. verify: when stored rows are
    compared with their checksums: all at 'open', each at its 'first read', or 'never'. max_undelivered: how
    many steps a sink that fails may be without before no more are made; they are kept for it. evolve: the
    state may be of another program, which is changed into this one at a step of its own; `progress` is told
    how. backfill: 'from-source' reads a table's files or messages again, where a new view needs rows that
    nothing holds. tracer: of OpenTelemetry, which gets a span of each step.

    In the examples of its methods a table sale (id, buyer, price) has the PRIMARY KEY id, and a view turnover
    sums up the prices by buyer:

    Examples:
        >>> p["turnover"].rows()
        [{'buyer': 'Ada', 'total': 5}, {'buyer': 'Bob', 'total': 7}]
    """

    def __init__(
        self,
        program: str | Path | Program | None = None,
        *,
        sql: str | None = None,
        state: str | Path | None = None,
        spark: SparkSession | None = None,
        partitions: int | None = None,
        runner: str = "spark",
        define: Mapping[str, str] | None = None,
        keep_steps: int | None = None,
        keep_for: timedelta | str | None = None,
        functions: Sequence[Function] = (),
        sinks: Sequence[Sink] = (),
        verify: str = "first read",
        max_undelivered: int = 0,
        evolve: bool = False,
        backfill: str | None = None,
        progress: Callable[[str], None] = log.info,
        tracer: Tracer | None = None,
    ) -> None:
        check_arguments(program, sql, spark, runner, verify, partitions, max_undelivered, evolve, backfill)
        # first, so that a program that isn't in the cache is compiled in the session that will run it
        self.runner: Runner = runner_of(runner, spark)
        declared = declared_of(functions)
        if isinstance(program, Program):
            self.program = program
        elif program is not None:
            self.program = load_program(Path(program), define=define, session=spark, functions=declared)
        else:
            assert sql is not None
            self.program = load_program(sql + "\n", define=define, session=spark, functions=declared)
        self.spark = spark
        self.partitions = partitions
        self.max_undelivered = max_undelivered
        keep = Keep.of(keep_steps, keep_for)
        program = self.program
        self._functions = sinks_of(program, sinks)
        if state is not None and evolve:
            from dbsp.evolution.evolve import evolve as change_program  # noqa: PLC0415  few programs change

            again = read_again(program, self.runner, spark) if backfill else None
            change_program(program, state, self.runner, partitions, keep, progress, again)
        self.store = _store_of(program, state, keep, verify, max_undelivered + 1)
        self._observed = Observed(tracer)
        self._subscriptions = Subscriptions(lambda: self.last_step, self.changes_of)
        self._sinks: Sinks | None = None
        self._lives: WeakSet[Live] = WeakSet()
        self._closed = False
        self.given: set[str] = set()
        self._background: Background | None = None
        self._lock = threading.RLock()
        # held by a thread that queues and then steps, where others do so too
        self.turn = threading.RLock()
        # a run's answer to what its sources have that isn't read: see `unread`
        self.behind: Callable[[], dict[str, tuple[int, str]]] = dict
        # and to which of them don't answer: see `absent_sources`
        self.away: Callable[[], dict[str, str]] = dict
        try:
            self._position = Position(program, self.store)
            self._reading = Reading(self._position, self._lock, self._open, spark, self._live)
            if verify == "open":
                check_state(program, self._position.state, self.store.segments)
            if self.store.last is not None:
                self._resume()
        except BaseException:
            self.store.close()
            raise

    # -- statements --------------------------------------------------------------------------------

    def sql(self, select: str, as_of: AsOf | None = None, timezone: str | None = None) -> Contents:
        """The rows that a query has over the views, as of the last step, or as of another as in `view`.

        Examples:
            >>> p.sql("SELECT buyer, total * 2 AS twice FROM turnover WHERE total > 5").rows()
            [{'buyer': 'Bob', 'twice': 14}]

        It means what it would as a view, and is evaluated once, in process, without a Spark job. One that is
        new is compiled: 0.1 s, and once the start of a JVM where none runs. now() is the machine's clock.
        timezone: of the query's session; None: the program's.
        A view as of yet another step is asked for by FOR SYSTEM_TIME AS OF. What no view can say, as rand()
        and TABLESAMPLE, Spark evaluates, and `note` of the rows says so. Raises ProgramError for what reads
        something else than views and tables; `p[view].to_spark()` has all of Spark.

        INSERT INTO, UPDATE, DELETE FROM and TRUNCATE queue what they change for the next step, and give
        `num_affected_rows`; they see tables and views as of the last step.

        Examples:
            >>> p.sql("UPDATE sale SET price = price * 2 WHERE buyer = 'Ada'").rows()
            [{'num_affected_rows': 1}]
            >>> p.step()["turnover"].rows()
            [({'buyer': 'Ada', 'total': 5}, -1), ({'buyer': 'Ada', 'total': 10}, 1)]
        """
        from dbsp.dml.reading.statements import is_statement  # noqa: PLC0415  a step reads no SQL

        if is_statement(select):
            return self._changed(select, as_of, timezone)
        return self._reading.query(select, as_of, timezone)

    def edits(self, strict: bool = False, moment: datetime | None = None) -> Edits:
        """What several statements change, all as of the last step and of those before; `queue` queues it.

        strict: INSERT INTO a keyed table refuses a row whose key is there, and is no upsert; and all of them
        happen at one moment, `moment` or now, which DEFAULTs of the clock have.
        """
        return self._reading.edits(strict, moment)

    def _changed(self, text: str, as_of: AsOf | None, timezone: str | None) -> Contents:
        if as_of is not None:
            raise DataError("as_of is of a query; a statement changes the tables as they are")
        from dbsp.dml.edits import COUNTED, counted  # noqa: PLC0415  a step reads no SQL
        from dbsp.dml.reading.statements import read_statement  # noqa: PLC0415

        statement, edits = read_statement(text, self.program), self.edits()
        count = edits.run(statement, timezone)
        edits.queue(self.change)
        return Contents("sql", COUNTED, [counted(count)], step=self.last_step)

    def _repr_html_(self) -> str:
        from dbsp.views.explained.summary import closed, shown  # noqa: PLC0415  of notebooks

        if self._closed:
            return closed(self.program.name)
        sizes = {name: len(self[name]) for name in self.views}
        return shown(self.program.name, self.last_step, self.clock, sizes, self.undelivered)

    # -- the end ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Release the state directory, after a step of another thread. What is queued is given up.

        Examples:
            >>> p.close()
            >>> p.step()
            Traceback (most recent call last):
                ...
            dbsp.circuits.errors.StateError: ...: the pipeline is closed; open a new one

        What `start` began is stopped; what had ended it is only logged.
        """
        try:
            self.stop()
        except Exception as error:  # of a run that ended long ago: whoever closes wants the directory back
            log.error("%s: the run in the background had ended: %s", self.program.name, error)
        finally:
            for live in [*self._lives]:
                live.stop()
            self._release()

    def _release(self) -> None:
        with self._lock:
            self._closed = True
            self._subscriptions.wake()
            try:
                if self._sinks is not None:
                    self._sinks.close()
                self.runner.close()
            finally:
                self.store.close()

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        if self._closed:
            raise StateError(f"{self.store.root}: the pipeline is closed; open a new one")

    def _live(self, view: str, count: int) -> Live:
        steps = self._subscriptions
        live = Live(
            view,
            lambda: self._reading.drawing(view, count),
            steps.last,
            steps.watchers,
            lambda: self._closed,
            in_notebook(),
        )
        self._lives.add(live)
        return live

    def _open_sinks(self) -> Sinks:
        from dbsp.pipeline.sinks import Sinks  # noqa: PLC0415  few programs write

        return Sinks(self, self._functions)

    def _run_of(self, on_step: Callable[[Changes], None] | None, stop: threading.Event) -> Run:
        from dbsp.pipeline.spark.runs.streaming import Run  # noqa: PLC0415  only who has sources pays for Spark

        return Run(self, on_step, stop)

    def _staged(self, table: Table, rows: object, weight: int) -> Sequence[Rows]:
        from dbsp.pipeline.spark.staging import stage, stage_read  # noqa: PLC0415  others pay for no Spark

        if isinstance(rows, ReadInTasks):
            return stage_read(self, table, rows, weight)
        return stage(self, table, rows, weight)


def _store_of(
    program: Program, state: str | Path | None, keep: Keep | None, verify: str, at_least: int
) -> Store:
    identity = identity_of(program)
    if state is None:
        return Store.temporary(identity, keep, at_least)
    try:
        return Store.open(state, identity, keep, verify=verify, at_least=at_least)
    except OtherProgram as error:
        from dbsp.evolution.evolve import explained  # noqa: PLC0415  few programs change

        raise explained(error, program, state) from None
