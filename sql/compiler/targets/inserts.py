"""Standing INSERT INTO: its target, and whether a view's changes fit that, in which shape.

    append    the rows, each as often as it is there, of a view that retracts none
    retract   each changed row with its `__weight`, or with `__op` 'I' or 'D' as often as it changed
    upsert    of each changed key the row that it has now, or its deletion: the key, all else NULL;
              `__op` says 'I' of a new key, 'U' and 'D'

WITH (changelog = '...') of the target says which. Else it is upsert for a target with PRIMARY KEY, retract
for one with `__weight` or `__op`, and append. The query gives the columns, in order or as listed, but
for those of `FILLED`.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.operators.emission.trigger import STATE
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.sql.compiler.targets.format_columns import FILLED, carries_changes
from dbsp.sql.compiler.targets.given import Given
from dbsp.sql.compiler.targets.upsert_keys import UpsertKey
from dbsp.sql.plans.program import DEBEZIUM, OP, SHAPES, Insert, Schedule, Table, View
from dbsp.sql.plans.schemas import Field, Key
from dbsp.sql.plans.types import type_name
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.statements import InsertInto


def fitted(
    source: Source,
    statement: InsertInto,
    view: View,
    key: Key,
    target: Table,
    earlier: Sequence[Insert],
    never_null: Set[int],
    promise: Sequence[str],
    unselected: Sequence[str] = (),
) -> Insert:
    """The INSERT of a view's changes. Raises ProgramError where they don't fit.

    key: the view's stream key. unselected: columns that would be one. never_null: of its columns. promise: as
    `dbsp.sql.plans.properties.promises.to_promise`.
    """
    fit = _Fit(source, statement, view, target, key, never_null, promise)
    shape, columns = fit.shape(), fit.columns()
    fit.check_filled(shape)
    fit.check_given(columns)
    by: tuple[int, ...] = ()
    if shape == "upsert":
        by = UpsertKey(source, statement, view, target, key, never_null, unselected).places(columns, earlier)
    return Insert(target.name, view.name, source.location(statement.start), shape, columns, by)


@dataclass(frozen=True)
class _Fit(Given):
    """And whether they are what the target takes."""

    key: Key
    never_null: Set[int]
    promise: Sequence[str]

    def shape(self) -> str:
        target, filled = self.target, {WEIGHT, OP} & set(map(str.lower, self.names()))
        default = "upsert" if target.primary_key else "retract" if filled else "append"
        if target.append_only:
            default = "append"
        shape = target.changelog or default
        if shape == DEBEZIUM and target.value_format is not None:  # envelopes of the one or of the other
            return "upsert" if target.primary_key else "retract"
        if shape not in SHAPES:
            listed = ", ".join(SHAPES)
            self.fail(f"changelog = '{shape}' of '{target.name}' is only read; what is written is {listed}")
        if target.append_only and shape != "append":
            self.fail(
                f"table '{target.name}' is append_only, its changelog can't be '{shape}'; leave out one"
            )
        if shape == "retract" and not filled:
            cure = f"declare a column {WEIGHT} BIGINT or {OP} STRING in '{target.name}'"
            self.fail(
                f"changelog = 'retract' of '{target.name}' has nothing that says what is retracted; {cure}"
            )
        if shape == "append" and self.view.retracts:
            self.fail(
                f"what is inserted into '{target.name}' can retract rows, which a table of rows can't; "
                + self._cures()
            )
        if shape == "upsert" and self.format() == "jdbc":
            why = "jdbc only inserts rows, so the first change of a key would fail, or be a second row"
            cure = f"declare {WEIGHT} BIGINT and no key to get the changelog"
            self.fail(f"table '{target.name}' has a PRIMARY KEY, but {why}; {cure}")
        return shape

    def _cures(self) -> str:
        """Of rows that are taken back, for a target that can't say so."""
        name, form = self.target.name, self.format()
        cures = []
        carries = carries_changes(self.target)
        if carries:
            cures.append(f"declare a column {WEIGHT} BIGINT in '{name}' to get the changelog")
        if form == "kafka" and not carries:
            cures.append("declare PRIMARY KEY (key) to get the record of each key")
        elif self.key and carries and form != "jdbc":
            cures.append(f"PRIMARY KEY ({self.spelled(self.key)}) to get the row of each key")
        elif not cures:
            cures.append("write it to another format")
        if isinstance(self.view.emission, Schedule):
            return " or ".join(cures)
        if self.promise:
            listed = " and ".join(f"'{table}'" for table in self.promise)
            cures.append(f"declare {listed} WITH (append_only = true), if no row there is ever deleted")
        cures.append("write SELECT STREAM, which gives a row once, when LATENESS says that it is final")
        return ", or ".join(cures)

    def check_filled(self, shape: str) -> None:
        target = self.target.name
        for column in self.target.schema:
            name = column.name.lower()
            data_type = FILLED.get(name)
            if data_type is not None and column.type != data_type:
                written = f"column '{column.name}' of '{target}' is written as {type_name(data_type)}"
                self.fail(f"{written}; declare it so")
            emission = self.view.emission
            if name == STATE and not (isinstance(emission, Schedule) and emission.flagged):
                self.fail(f"column '{STATE}' of '{target}' needs a view with EMIT (..., RESULT STATE FLAG)")
            if name == WEIGHT and shape == "upsert":
                cure = f"declare {OP} STRING instead, or changelog = 'retract'"
                self.fail(f"an upsert has no weight, but '{target}' has a column {WEIGHT}; {cure}")

    def check_given(self, columns: Sequence[int | None]) -> None:
        for wanted, place in zip(self.target.schema, columns, strict=True):
            what = f"column '{wanted.name}' of '{self.target.name}'"
            if place is None:
                if not wanted.nullable and wanted.name.lower() not in FILLED:
                    self.fail(
                        f"{what} is NOT NULL and is not listed; list it, or declare it without NOT NULL"
                    )
                continue
            given = self.view.schema[place]
            if given.type != wanted.type:
                kinds = f"is {wanted.type_name}, the query gives {_shown(given)}"
                self.fail_query(f"{what} {kinds}; CAST it")
            if place not in self.never_null and not wanted.nullable:
                cure = f"add WHERE {given.name} IS NOT NULL, or COALESCE it"
                self.fail_query(f"{what} is NOT NULL, the query may give NULL; {cure}")


def _shown(column: Field) -> str:
    return "NULL" if column.type == pa.null() else column.type_name
