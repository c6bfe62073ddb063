"""What statements change, found in a table's rows as they are, and queued for a step.

    of DELETE     −σ[c](t)                                of INSERT     q
    of UPDATE     π[e](σ[c](t)) − σ[c](t)                  of MERGE      `merged.py`

A statement reads the tables and views as of one step, and what the statements before it have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.forms.json_text import described
from dbsp.circuits.errors import DataError
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.traces.by_key import by_key
from dbsp.circuits.traces.zset import ZSet
from dbsp.dml.defaults import with_defaults, without_computed
from dbsp.dml.keys import Keys, key_of, position
from dbsp.dml.merged import merged
from dbsp.dml.seen import Seen
from dbsp.dml.statement import Delete, Insert, Merge, Statement, Update, Where
from dbsp.lineage.relational import demand_of, matching
from dbsp.rows.casting import Refused
from dbsp.rows.incoming import arrow_schema, whole_rows
from dbsp.rows.literals import array_of
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.types import ddl
from dbsp.sql.text.tokens import quoted

# what a statement gives, as Spark's do
COUNTED = pa.schema([pa.field("num_affected_rows", pa.int64(), nullable=False)])


def counted(rows: int) -> ZSet:
    """A row of COUNTED."""
    return ZSet(pa.RecordBatch.from_arrays([pa.array([rows])], schema=COUNTED), np.ones(1, dtype=np.int64))


@dataclass(frozen=True)
class Change:
    """Rows of a table and their weights, as `Pipeline.change` takes them."""

    table: str
    rows: pa.RecordBatch
    weights: np.ndarray


@dataclass
class Edits(Seen):
    """strict: a row whose key is there is no upsert, but an error, unless the statement says what to do.
    written: the rows that the last statement gave the table, of DELETE those that it took.
    """

    strict: bool = False
    changes: list[Change] = field(default_factory=list)
    written: ZSet | None = None

    def run(self, statement: Statement, timezone: str | None = None) -> int:
        """How many rows it inserts, changes or deletes. timezone: its session's; None: the program's.

        Raises dbsp.circuits.errors.Error, and then has done nothing.
        """
        self.timezone = timezone or self.program.timezone
        if isinstance(statement, Insert):
            return self._insert(statement)
        table = statement.table
        if table.append_only and not (isinstance(statement, Merge) and statement.only_inserts):
            raise DataError(
                f"table '{table.name}' is append-only; declare it without append_only to change its rows"
            )
        if isinstance(statement, Merge):
            return self._merge(statement)
        return self._update(statement) if isinstance(statement, Update) else self._delete(statement)

    def again(self) -> Edits:
        """As of the same step, with nothing changed."""
        return replace(self, changes=[], written=None, deltas={})

    # -- the statements -------------------------------------------------------------------------------

    def _delete(self, statement: Delete) -> int:
        table, gone = statement.table, self.selected(statement.table, statement.where, statement.ctes)
        self._queue(table, gone, None)
        return int(gone.weights.sum())

    def _update(self, statement: Update) -> int:
        table, where = statement.table, statement.where
        width = len(table.schema)
        if statement.values is not None:
            gone = self.selected(table, where, statement.ctes)
            columns = list(gone.rows.columns)
            for name, value in statement.values.items():
                i = position(table.schema, name)
                columns[i] = self._constant(table, name, value, len(gone))
        else:
            types = {one.name: one.type for one in table.schema}
            made = [
                f"CAST(({text}) AS {ddl(types[name])}) AS {quoted([f'set {name}'])}"
                for name, text in statement.texts.items()
            ]
            condition = f" WHERE {where.condition}" if where.condition else ""
            select = f"SELECT *, {', '.join(made)} FROM {self.called(table, where)}{condition}"
            found = self.asked(select, statement.ctes)
            gone = ZSet(found.rows.select(list(range(width))), found.weights)
            columns = list(gone.rows.columns)
            for offset, name in enumerate(statement.texts):
                columns[position(table.schema, name)] = found.rows.column(width + offset)
        come = ZSet(self._whole(table, columns, statement.texts), gone.weights)
        if {*table.primary_key} & {*statement.texts}:
            self._keys(table).check_new(gone, come)
        self._queue(table, gone, come)
        return int(gone.weights.sum())

    def _insert(self, statement: Insert) -> int:
        table, timezone = statement.table, self.timezone
        if statement.rows is not None:
            rows = self._filled(table, whole_rows(table, statement.rows, timezone))
        else:
            columns = self._named(statement) if statement.by_name else statement.columns
            asked = _cast_query(table, columns, statement.query)
            rows = self._new(table, columns, self.asked(asked, statement.ctes))
        come = ZSet(rows, np.ones(rows.num_rows, dtype=np.int64))
        gone = None
        if table.primary_key and (self.strict or statement.conflict is not None):
            gone, come = self._with_keys(statement, come)
        self._queue(table, gone, come)
        return len(come)

    def _named(self, statement: Insert) -> tuple[str, ...]:
        """The table's columns as the query calls its own. Raises DataError for one that isn't the table's."""
        table = statement.table
        none = f"SELECT * FROM ({statement.query}) AS given WHERE false"
        names = {one.name.lower(): one.name for one in table.schema}
        found = []
        for name in self.asked(none, statement.ctes).rows.schema.names:
            if name.lower() not in names:
                listed = ", ".join(names.values())
                raise DataError(f"table '{table.name}' has no column '{name}'; columns: {listed}")
            found.append(names[name.lower()])
        return tuple(found)

    def _new(self, table: Table, names: Sequence[str], found: ZSet) -> pa.RecordBatch:
        """Rows that have these columns, each as often as it was found; defaults, or NULL, in the others."""
        repeated = found.take(np.repeat(np.arange(len(found)), np.maximum(found.weights, 0)))
        given = dict(zip(names, repeated.rows.columns, strict=True))
        columns = [
            given[one.name] if one.name in given else pa.nulls(len(repeated), one.type)
            for one in table.schema
        ]
        whole = pa.Table.from_arrays(columns, names=[one.name for one in table.schema])
        return self._filled(table, whole_rows(table, whole, self.timezone, own=True))

    def _filled(self, table: Table, rows: pa.RecordBatch) -> pa.RecordBatch:
        """With DEFAULTs. What the clock of an earlier step gave could be late, where something can be."""
        may_be_late = table.lateness or any(view.lateness for view in self.program.views.values())
        return with_defaults(table, rows, None if may_be_late else self.moment)

    def _merge(self, statement: Merge) -> int:
        """As all clauses find it at first; several rows of the source change no row of the table."""
        table = statement.table
        schema, width = arrow_schema(table), len(table.schema)
        gone, come = [ZSet.empty(schema)], [ZSet.empty(schema)]
        changed = 0

        def ask(select: str) -> ZSet:
            return self.asked(select, statement.ctes)

        for found in merged(statement, self.called(table, Where(statement.name)), ask):
            if not found.goes:
                rows = self._new(table, found.columns, found.rows)
                come.append(ZSet(rows, np.ones(rows.num_rows, dtype=np.int64)))
                changed += rows.num_rows
                continue
            columns = list(found.rows.rows.columns[:width])
            old = pa.RecordBatch.from_arrays(columns, schema=schema)
            gone.append(ZSet(old, found.rows.weights))
            changed += int(found.rows.weights.sum())
            if found.columns:
                for offset, name in enumerate(found.columns):
                    columns[position(table.schema, name)] = found.rows.rows.column(width + offset)
                come.append(ZSet(self._whole(table, columns, found.columns), found.rows.weights))
        old_rows, new_rows = ZSet.sum(schema, gone).consolidate(), ZSet.sum(schema, come)
        self._check_once(table, old_rows)
        if table.primary_key and len(new_rows):
            self._keys(table).check_new(old_rows, new_rows)
        self._queue(table, old_rows, new_rows if statement.gives else None)
        return changed

    def _check_once(self, table: Table, gone: ZSet) -> None:
        """Raises DataError for a row that goes more often than it is there: with a key it is there once."""
        twice = gone.take(np.flatnonzero(gone.weights > 1))
        if len(twice) and not table.primary_key:
            schema = arrow_schema(table)
            whole = [Column(i, one.type, one.nullable) for i, one in enumerate(table.schema)]
            demand = demand_of(twice, table.schema, whole)
            like = self.like(table, twice, range(len(whole)))
            there = matching(like, table.schema, [demand])
            excess = (twice - there.under(schema)).consolidate()
            twice = excess.take(np.flatnonzero(excess.weights > 0))
        if len(twice):
            raise DataError(
                f"table '{table.name}': several rows of the source match the row "
                f"{described(twice.rows, 0)}, which a MERGE changes once; GROUP BY its key in the source, or "
                "say more in ON"
            )

    def _with_keys(self, statement: Insert, come: ZSet) -> tuple[ZSet | None, ZSet]:
        """(rows that are replaced, rows that come)"""
        table, keys = statement.table, self._keys(statement.table)
        there = keys.present(come)
        if not len(there):
            return None, come
        if statement.conflict is None:
            raise keys.there_already(there)
        met, new = keys.apart(come, there)
        assigned = statement.conflict.columns
        if not assigned:
            return None, new
        replaced = keys.replaced(met, there, assigned)
        if table.formulas or table.checks:
            rows = self._whole(table, list(replaced.rows.columns), assigned)
            replaced = ZSet(rows, replaced.weights).under(new.schema)
        return there, new + replaced

    def _keys(self, table: Table) -> Keys:
        return Keys(table, partial(self.like, table), partial(self.having, table))

    def _constant(self, table: Table, name: str, value: object, count: int) -> pa.Array:
        type_ = table.schema[position(table.schema, name)].type
        try:
            one = array_of([value], type_, self.timezone)
        except Refused as refused:
            raise DataError(
                f"table '{table.name}', column '{name}': {value!r} doesn't fit: {refused}"
            ) from None
        return one.take(pa.array(np.zeros(count, dtype=np.int64)))

    def _whole(self, table: Table, columns: list[pa.Array], said: Collection[str]) -> pa.RecordBatch:
        """Of rows that were there with other values; DEFAULTs for NULL. said: the columns that are set."""
        given = pa.RecordBatch.from_arrays(columns, names=[one.name for one in table.schema])
        rows = whole_rows(table, without_computed(table, given, said), self.timezone, own=True)
        return self._filled(table, rows)

    # -- what becomes of it ---------------------------------------------------------------------------

    def _queue(self, table: Table, gone: ZSet | None, come: ZSet | None) -> None:
        """As the table takes them: of a keyed one rows that come, and keys that go without one."""
        schema, self.written = arrow_schema(table), gone if come is None else come
        parts = [] if gone is None else [-gone]
        parts += [] if come is None else [come]
        delta = ZSet.sum(schema, [one.under(schema) for one in parts])
        if not len(delta):
            return
        self.see(table, delta)
        if table.primary_key and gone is not None:
            delta = by_key(delta.consolidate(), key_of(table))[0]
        self.changes.append(Change(table.name, delta.under(schema).rows, delta.weights))

    def queue(self, take: Callable[[str, pa.RecordBatch, np.ndarray], None]) -> None:
        """Hand all changes over, in their order: those of one table after the other at once."""
        for table, changes in groupby(self.changes, key=lambda change: change.table):
            parts = [ZSet(change.rows, change.weights) for change in changes]
            total = ZSet.sum(parts[0].schema, parts)
            take(table, total.rows, total.weights)


def _cast_query(table: Table, columns: Sequence[str], query: str) -> str:
    """Its rows, each column as the table's: values of SQL are cast as an assignment is."""
    types = {one.name: one.type for one in table.schema}
    names = [f"c{i}" for i in range(len(columns))]
    made = [
        f"CAST({name} AS {ddl(types[column])}) AS {quoted([column])}"
        for name, column in zip(names, columns, strict=True)
    ]
    return f"SELECT {', '.join(made)} FROM ({query}) AS given ({', '.join(names)})"
