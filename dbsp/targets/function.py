"""A function in Python as a target: called with each step's changes of a view, in order, at least once.

    @dbsp.sink
    def alerts(step, view, changes): ...         -- of CREATE TABLE alerts (...) USING python

changes: a pyarrow Table of the target's columns, in the shape that the INSERT has. A step that changes none
isn't told. A call that raises, or that a crash interrupts, is made again with the same step, after a restart
too: so whoever keeps the last step beside what he did with it does it once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import pyarrow as pa

from dbsp.circuits.errors import Error
from dbsp.sql.plans.program import PYTHON, Program, Table
from dbsp.state.store import Store

if TYPE_CHECKING:
    from dbsp.targets.target import Change

Run = Callable[[int, str, pa.Table], Any]


@dataclass(frozen=True)
class Sink:
    """Still callable as what was declared. name: of the target."""

    run: Run
    name: str

    def __call__(self, step: int, view: str, changes: pa.Table) -> Any:
        return self.run(step, view, changes)


@overload
def sink(run: Run) -> Sink: ...
@overload
def sink(*, name: str) -> Callable[[Run], Sink]: ...
def sink(run: Run | None = None, *, name: str | None = None) -> Sink | Callable[[Run], Sink]:
    """Declare what writes a table USING python. name: of the table; default the function's own.

    Examples:
        >>> @dbsp.sink
        ... def told(step, view, changes):
        ...     print(step, view, changes.num_rows)
        >>> told.name
        'told'
    """
    if run is None:
        return lambda run: Sink(run, _name_of(run, name))
    return Sink(run, _name_of(run, name))


def _name_of(run: Run, name: str | None) -> str:
    name = str(name or getattr(run, "__name__", ""))
    if not name.isidentifier():
        raise Error(f"'{name}' can't be a table's name: give the sink one, as name='t'")
    return name


def sinks_of(program: Program, given: Iterable[Sink]) -> dict[str, Sink]:
    """Per table USING python its sink. Raises Error where one has none, or one is for no table."""
    targets = {insert.target for insert in program.inserts}
    tables = [table for name, table in program.tables.items() if name in targets]
    wanted = {t.name.lower(): t for t in tables if (t.format or "").lower() == PYTHON}
    found: dict[str, Sink] = {}
    for one in given:
        if not isinstance(one, Sink):
            raise Error(f"sinks are what @dbsp.sink makes; not {one!r}")
        table = wanted.get(one.name.lower())
        listed = ", ".join(table.name for table in wanted.values()) or "none"
        if table is None:
            raise Error(f"sink '{one.name}' is for no table; tables USING python that are written: {listed}")
        if table.name in found:
            raise Error(f"two sinks are named '{one.name}'")
        found[table.name] = one
    for table in wanted.values():
        if table.name not in found:
            name = table.name
            cure = f"declare @dbsp.sink def {name}(step, view, changes), and Pipeline(..., sinks=[{name}])"
            raise Error(
                f"{table.location}: table '{table.name}' is written by a function, and none is given: {cure}"
            )
    return found


@dataclass
class FunctionTarget:
    """A `Target`."""

    program: Program
    store: Store
    table: Table
    sink: Sink

    directory = None

    def write(self, step: int, changes: Sequence[Change]) -> None:
        from dbsp.targets.reading import reading_of  # noqa: PLC0415  whoever only declares one writes nothing

        for insert, chunks in changes:
            reading = reading_of(self.program, self.store, insert, step, chunks)
            parts = [reading.read(self.store.segments, task) for task in range(reading.tasks)]
            self.sink(step, insert.view, pa.Table.from_batches(parts))

    def why(self, error: Exception) -> str:
        return f"the sink raised {type(error).__name__}: {' '.join(str(error).split()) or 'nothing more'}"

    def close(self) -> None:
        """Nothing is open between two calls."""
