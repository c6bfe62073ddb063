"""What the views hold, for any thread: as of the last step, without waiting for one that is being made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from dbsp.circuits.errors import DamagedChunk, DataError, StateError
from dbsp.circuits.steps.state import State
from dbsp.history.asked import AsOf, step_of
from dbsp.pipeline.steps.position import Position
from dbsp.running.clock import moment as next_moment
from dbsp.sql.plans.program import Table, View
from dbsp.state.records.commits import Commit
from dbsp.views.changes import ViewChanges
from dbsp.views.live import Drawing, Live
from dbsp.views.outputs import before_of, changes_of, contents_of, output_view, output_views, state_of
from dbsp.views.search import Indexes
from dbsp.views.tables import kept_tables, table_contents
from dbsp.views.traces import Traces
from dbsp.views.view import Contents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbsp.dml.edits import Edits
    from dbsp.lineage.asking import Asking
    from dbsp.queries.plans import Plans
    from dbsp.views.derivation import Why

Read = TypeVar("Read")


class Reading:
    """lock: held by who makes a step. check_open: raises where the pipeline is closed. spark: the session of
    the pipeline's user; a query that is new is compiled in it, or in one that is started for that.
    live: shows a view's first rows, after each step.
    """

    def __init__(
        self,
        position: Position,
        lock: threading.RLock,
        check_open: Callable[[], None],
        spark: SparkSession | None,
        live: Callable[[str, int], Live],
    ) -> None:
        self.program, self.store = position.program, position.store
        self._position, self._lock, self._check_open = position, lock, check_open
        self._spark, self._live = spark, live
        self.indexes = Indexes(self.program)
        self.traces = Traces(self.program)

    # What is asked of a pipeline takes more modules than its steps do, and is imported when it is asked.

    @cached_property
    def plans(self) -> Plans:
        """The queries that are known."""
        from dbsp.queries.plans import Plans  # noqa: PLC0415

        known = {name: self.program.views[name].schema for name in output_views(self.program)}
        return Plans(self._session, self.program.timezone, known)

    @cached_property
    def _asking(self) -> Asking:
        from dbsp.lineage.asking import Asking  # noqa: PLC0415

        return Asking(self.traces, self.store)

    def view(self, name: str, as_of: AsOf | None = None) -> Contents:
        """A view, or a table, as of a step; see `Pipeline.view`."""
        if as_of is not None:
            return self._as_of(name, as_of)
        return self._last(partial(self._contents, name))

    def query(self, select: str, as_of: AsOf | None = None, timezone: str | None = None) -> Contents:
        """The rows of a query, as of one step; see `Pipeline.sql`."""
        from dbsp.history.travel import travels  # noqa: PLC0415
        from dbsp.queries.answer import answer_or_hand_over  # noqa: PLC0415
        from dbsp.queries.plans import named_in  # noqa: PLC0415

        select, asked = travels(select)
        names = named_in(select, self.readable)

        def read(step: int, state: State, before: Commit | None = None) -> tuple[int, dict[str, Contents]]:
            return step, {name: self._contents(name, step, state, before) for name in names}

        step, views = self._last(read) if as_of is None else self._at(as_of, read)
        views |= {travel.name: self._as_of(travel.view, travel.as_of) for travel in asked}
        return answer_or_hand_over(self._plans(timezone), select, views, self._spark, step)

    def _plans(self, timezone: str | None) -> Plans:
        return self.plans if timezone is None else self.plans.in_zone(timezone)

    def query_schema(self, select: str, timezone: str | None = None) -> pa.Schema:
        """The columns of a query's rows."""
        from dbsp.history.travel import travels  # noqa: PLC0415
        from dbsp.queries.answer import columns_of  # noqa: PLC0415
        from dbsp.queries.plans import named_in  # noqa: PLC0415

        self._check_open()
        select, asked = travels(select)
        relations = {name: name for name in named_in(select, self.readable)}
        relations |= {travel.name: travel.view for travel in asked}
        read = {name: self._relation(each).schema for name, each in relations.items()}
        return columns_of(self._plans(timezone), select, read)

    def changes_of(self, name: str, step: int) -> ViewChanges:
        """What a kept step changed in a view."""
        view = output_view(self.program, name)
        return self._kept(lambda: changes_of(self.program, self.store.commit_of(step), view, self.store))

    def drawing(self, name: str, count: int) -> Drawing:
        """The first rows of a view as of the last step, with those marked that it has brought."""
        from dbsp.views.marking import draw  # noqa: PLC0415

        contents = self.view(name)
        try:
            changes = self.changes_of(name, contents.step) if contents.step else None
        except StateError:  # another step has come, and this one may be forgotten
            changes = None
        return draw(contents, changes, count)

    def changes(self, name: str, since: AsOf, until: AsOf | None, each: bool) -> pa.Table:
        """What changed in a view between two steps; see `Pipeline.changes`."""
        from dbsp.history.between import as_table, changes_between, changes_of_each, interval  # noqa: PLC0415

        program, store, view = self.program, self.store, output_view(self.program, name)

        def read() -> pa.Table:
            first, last = interval(store, since, until, program.timezone)
            if each:
                return as_table(program, view, changes_of_each(program, store, view, first, last))
            return changes_between(program, store, view, first, last).to_arrow()

        return self._kept(read)

    def _as_of(self, name: str, as_of: AsOf) -> Contents:
        return self._at(as_of, partial(self._contents, name, past=True))

    def _at(self, as_of: AsOf, read: Callable[[int, State, Commit | None], Read]) -> Read:
        """Read the state of a kept step; with its commit, if that may be of a program before this one."""

        def found() -> Read:
            commit = self.store.commit_of(step_of(self.store, as_of, self.program.timezone))
            return read(commit.step, state_of(self.program, commit), before_of(self.program, commit))

        return self._kept(found)

    def _kept(self, read: Callable[[], Read]) -> Read:
        """Read of kept steps; only what can't be read waits for a step in the making."""
        self._glance()
        try:
            return read()
        except StateError:  # a step was forgotten meanwhile, or it is true
            with self._lock:
                self._settle()
                return read()

    def _last(self, read: Callable[[int, State], Read]) -> Read:
        """Read the last state. A step that is made meanwhile may delete files of the one before."""
        while True:
            self._glance()
            step, state = self._position.reached
            try:
                return read(step, state)
            except DamagedChunk:
                if state is self._position.state:
                    raise

    def _glance(self) -> None:
        """Find out whether the last attempt at a step is true, unless another thread is making one."""
        self._check_open()
        if self._lock.acquire(blocking=False):
            try:
                self._settle()
            finally:
                self._lock.release()

    def _settle(self) -> None:
        self._check_open()
        self._position.settle()

    def edits(self, strict: bool = False, moment: datetime | None = None) -> Edits:
        """To change rows of tables by statements, which all see the state as of the last step.

        What was read once stays readable, whatever later steps delete.
        """
        from dbsp.dml.edits import Edits  # noqa: PLC0415

        if strict and moment is None:
            moment, _ = next_moment(None, self.store.last, True)
        step, state = self._last(lambda step, state: (step, state))
        read = cache(partial(self._contents, step=step, state=state))
        return Edits(self.program, self.plans, read, self.readable, step, self._spark, moment, strict=strict)

    @cached_property
    def readable(self) -> list[str]:
        """The views, and the tables of which all rows are kept: what a query can name."""
        return [*output_views(self.program), *kept_tables(self.traces)]

    def _relation(self, name: str) -> Table | View:
        """The view or table of that name. Raises UnknownView."""
        for table in self.program.inputs.values():
            if table.name.lower() == name.lower():
                return table
        return self.program.views[output_view(self.program, name)]

    def _contents(
        self, name: str, step: int, state: State, before: Commit | None = None, past: bool = False
    ) -> Contents:
        """before: as of `before_of`. past: it was asked for as of that step, so that no later one
        is shown in its place.
        """
        relation = self._relation(name)
        known = self._spark, self.indexes, step
        if isinstance(relation, Table):
            return table_contents(self.traces, state, relation, self.store, *known, before is not None)
        view = relation.name
        explain = partial(self._why, view, step, state)
        follow = partial(_refuse_live, view, step) if past else partial(self._live, view)
        return contents_of(self.program, state, view, self.store, *known, explain, follow, before)

    def _why(self, *asked: Any) -> Why:
        return self._asking.why(*asked)

    def _session(self) -> SparkSession:
        from dbsp.running.spark.session import session  # noqa: PLC0415  only a query that is new pays for Spark

        return self._spark if self._spark is not None else session()


def _refuse_live(view: str, step: int, count: int) -> Live:
    raise DataError(f"'{view}' as of step {step} stays as it is; p['{view}'].live() follows the steps")
