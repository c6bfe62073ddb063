"""An Iceberg table: the changes of a step and its number, in one commit of the table's metadata.

    load the table; unless its property dbsp.step is at the step: delete the rows of keys that change, append,
    and set dbsp.step, in one transaction

So a step is written once, whatever dies in between: files that no metadata names are nobody's rows, and where
the answer to a commit was lost, the next try finds the step. A commit is made only upon the snapshot that was
read, and none is tried again upon another: so a try that is still under way can't add its step any more. Two
state directories can't write one table: its property dbsp.writer names the one that does. append and retract:
records are added. upsert: the table is what the view is; files that have a key that changes are written anew.

Iceberg table spec, "Optimistic Concurrency". By pyiceberg: what Iceberg has for Spark is of each Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.errors import Error, ProgramError
from dbsp.sql.plans.program import DELETED
from dbsp.targets.iceberg.catalog import TABLE, catalog_of
from dbsp.targets.iceberg.commits import STEP, WRITER, once
from dbsp.targets.iceberg.types import schema_of, widened
from dbsp.targets.outlet import Outlet
from dbsp.targets.target import Change

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.table import Table

_CURE = f"give another table, or empty it and unset its property {WRITER}"


@dataclass
class Iceberg:
    """A `Target`."""

    outlet: Outlet
    _table: Table | None = None

    def __post_init__(self) -> None:
        self.outlet.check_package("pyiceberg", "iceberg")
        table = self.outlet.table
        if "." not in table.option(TABLE):
            what = f"table '{table.name}' USING iceberg needs OPTIONS (table 'namespace.name')"
            raise ProgramError(f"{table.location}: {what}, and those of its catalog, as uri and warehouse")

    @property
    def directory(self) -> str | None:
        """Of files that a step adds: the metadata says which they are."""
        return None

    def write(self, step: int, changes: Sequence[Change]) -> None:
        """In one commit, unless the table has the step."""
        is_fresh = self._table is None
        try:
            self._table = self._opened() if self._table is None else self._table.refresh()
            written = self._claimed(self._table)
            if is_fresh:
                self.outlet.check_steps(step, written, STEP, _CURE)
            if written < step:
                self._add(once(self._table), step, list(self.outlet.records(step, changes)))
        except BaseException:
            self.close()  # what is known of the table may not be so any more
            raise

    def why(self, error: Exception) -> str:
        """In one line."""
        lines = [line.strip() for line in str(error).strip().splitlines()]
        return " ".join(lines[:3]) or type(error).__name__

    def close(self) -> None:
        """Forget the table, which holds nothing open."""
        self._table = None

    def _opened(self) -> Table:
        from pyiceberg.exceptions import NoSuchTableError  # noqa: PLC0415  an extra

        catalog, name = catalog_of(self.outlet.table), self.outlet.table.option(TABLE)
        try:
            table = catalog.load_table(name)
        except NoSuchTableError:
            table = self._made(catalog, name)
        self._check_columns(table)
        if WRITER not in table.properties and self.outlet.key and table.current_snapshot() is not None:
            raise Error("it has rows that no step has written, and is to be what a view is; empty it")
        return table

    def _made(self, catalog: Catalog, name: str) -> Table:
        catalog.create_namespace_if_not_exists(name.rpartition(".")[0])
        declared = pa.schema([(column.name, column.type) for column in self.outlet.table.schema])
        return catalog.create_table_if_not_exists(name, schema_of(declared))

    def _check_columns(self, table: Table) -> None:
        there = {field.name for field in table.schema().fields}
        declared = {column.name for column in self.outlet.table.schema}
        if there != declared:
            given, listed = (", ".join(sorted(names)) for names in (declared, there))
            raise Error(f"it has the columns: {listed}; declared are: {given}; declare the same")

    def _claimed(self, table: Table) -> int:
        """The last step that the table has. Raises StateError where it is another's."""
        is_new = WRITER not in table.properties
        owner = self.outlet.writer() if is_new else table.properties[WRITER]
        written = 0 if is_new else int(table.properties.get(STEP, 0))
        self.outlet.check_writer(owner, written, STEP, _CURE)
        return written

    def _add(self, table: Table, step: int, records: Sequence[pa.RecordBatch]) -> None:
        with table.transaction() as commit:
            if records:
                rows = pa.Table.from_batches(records)
                if self.outlet.key:
                    is_row = pc.not_equal(rows.column(-1), DELETED)
                    if table.current_snapshot() is not None:
                        commit.delete(_any_of(rows.select([*self.outlet.key])))
                    rows = rows.filter(is_row).select(range(rows.num_columns - 1))
                commit.append(widened(rows))
            commit.set_properties({WRITER: self.outlet.writer(), STEP: str(step)})


def _any_of(keys: pa.Table) -> BooleanExpression:
    """Whether a row has one of the keys."""
    from pyiceberg.expressions import EqualTo, In  # noqa: PLC0415  an extra

    keys = widened(keys)
    names = keys.schema.names
    if len(names) == 1:
        return In(names[0], keys.column(0).to_pylist())
    rows = keys.to_pylist()
    same = [_balanced([EqualTo(name, row[name]) for name in names], every=True) for row in rows]
    return _balanced(same, every=False)


def _balanced(parts: Sequence[BooleanExpression], every: bool) -> BooleanExpression:
    """AND or OR of all, as deep as a tree must be: pyiceberg walks it by recursion."""
    from pyiceberg.expressions import And, Or  # noqa: PLC0415  an extra

    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    both = _balanced(parts[:half], every), _balanced(parts[half:], every)
    return And(*both) if every else Or(*both)
