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

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import NoReturn

import pyarrow as pa

from dbsp.circuits.errors import ProgramError, did_you_mean
from dbsp.circuits.operators.emission.trigger import STATE
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.sql.compiler.targets.format_columns import FILLED, carries_changes
from dbsp.sql.plans.own_forms import own_form
from dbsp.sql.plans.program import (
    DEBEZIUM,
    FILE_FORMATS,
    OP,
    PYTHON,
    SHAPES,
    STEP,
    Insert,
    Schedule,
    Table,
    View,
)
from dbsp.sql.plans.schemas import Field, Key
from dbsp.sql.plans.types import ddl
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.statements import InsertInto
from dbsp.sql.text.tokens import Token


def find_target(
    source: Source, statement: InsertInto, tables: Mapping[str, Table], views: Mapping[str, View]
) -> Table:
    """The table with a sink that INSERT INTO names."""
    for table in tables.values():
        if table.name.lower() == statement.target.lower():
            if table.format is None:
                cure = f"declare it with CREATE TABLE {table.name} (...) USING format OPTIONS (...)"
                message = f"table '{table.name}' has no USING, so there is nowhere to write; {cure}"
                raise source.error(statement.start, message)
            return table
    if statement.target.lower() in {view.lower() for view in views}:
        message = f"can't insert into '{statement.target}': it is a view"
        raise source.error(statement.start, message)
    names = list(tables)
    listed = ", ".join(names) or "none yet"
    hint = did_you_mean(statement.target, names)
    message = f"unknown table '{statement.target}'; tables so far: {listed}{hint}"
    raise source.error(statement.start, message)


def by_name(statement: InsertInto, view: View) -> InsertInto:
    """The statement with the columns that BY NAME lists: those of the query."""
    if not statement.by_name:
        return statement
    start = statement.query.start
    listed = tuple(Token("word", column.name, start, start) for column in view.schema)
    return replace(statement, columns=listed, by_name=False)


def given_places(source: Source, statement: InsertInto, view: View, target: Table) -> dict[str, int | None]:
    """Of each column of the target, by name, its place in the view; None: it isn't given."""
    given = _Given(source, by_name(statement, view), view, target)
    return dict(zip((column.name for column in target.schema), given.columns(), strict=True))


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
    fit = _Fit(source, statement, view, target, key, never_null, promise, unselected)
    shape, columns = fit.shape(), fit.columns()
    fit.check_filled(shape)
    fit.check_given(columns)
    by = fit.upsert_key(columns, earlier) if shape == "upsert" else ()
    return Insert(target.name, view.name, source.location(statement.start), shape, columns, by)


@dataclass(frozen=True)
class _Given:
    """Which of the target's columns the view's are."""

    source: Source
    statement: InsertInto
    view: View
    target: Table

    def columns(self) -> tuple[int | None, ...]:
        """For each of the target's columns, the place of the query's."""
        columns: list[int | None] = [None] * len(self.target.schema)
        given = self._given()
        if len(self.view.schema) != len(given):
            listed = ", ".join(self.target.schema[i].name for i in given)
            what = f"the query has {len(self.view.schema)} columns"
            self._fail_query(f"{what}, table '{self.target.name}' has {len(given)}: {listed}")
        for place, i in enumerate(given):
            columns[i] = place
        return tuple(columns)

    def _given(self) -> list[int]:
        """The target's columns that the query gives, in its order."""
        names = [name.lower() for name in self._names()]
        listed = names
        if self.statement.columns is not None:
            for token in self.statement.columns:
                if token.text.lower() not in names:
                    hint = did_you_mean(token.text, self._names())
                    message = f"unknown column '{token.text}' in '{self.target.name}'; columns: "
                    raise self.source.error(token.start, f"{message}{', '.join(self._names())}{hint}")
            listed = [token.text.lower() for token in self.statement.columns]
        return [names.index(name) for name in listed if name not in FILLED]

    def _names(self) -> list[str]:
        return [column.name for column in self.target.schema]

    def _fail_query(self, message: str) -> NoReturn:
        raise self.source.error(self.statement.query.start, message)

    def _fail(self, message: str) -> NoReturn:
        raise self.source.error(self.statement.start, message)


@dataclass(frozen=True)
class _Fit(_Given):
    """And whether they are what the target takes."""

    key: Key
    never_null: Set[int]
    promise: Sequence[str]
    unselected: Sequence[str]

    def shape(self) -> str:
        target, filled = self.target, {WEIGHT, OP} & set(map(str.lower, self._names()))
        default = "upsert" if target.primary_key else "retract" if filled else "append"
        if target.append_only:
            default = "append"
        shape = target.changelog or default
        if shape == DEBEZIUM and target.value_format is not None:  # envelopes of the one or of the other
            return "upsert" if target.primary_key else "retract"
        if shape not in SHAPES:
            listed = ", ".join(SHAPES)
            self._fail(f"changelog = '{shape}' of '{target.name}' is only read; what is written is {listed}")
        if target.append_only and shape != "append":
            self._fail(
                f"table '{target.name}' is append_only, its changelog can't be '{shape}'; leave out one"
            )
        if shape == "retract" and not filled:
            cure = f"declare a column {WEIGHT} BIGINT or {OP} STRING in '{target.name}'"
            self._fail(
                f"changelog = 'retract' of '{target.name}' has nothing that says what is retracted; {cure}"
            )
        if shape == "append" and self.view.retracts:
            self._fail(
                f"what is inserted into '{target.name}' can retract rows, which a table of rows can't; "
                + self._cures()
            )
        if shape == "upsert" and self._format() == "jdbc":
            why = "jdbc only inserts rows, so the first change of a key would fail, or be a second row"
            cure = f"declare {WEIGHT} BIGINT and no key to get the changelog"
            self._fail(f"table '{target.name}' has a PRIMARY KEY, but {why}; {cure}")
        return shape

    def _format(self) -> str:
        return (self.target.format or "").lower()

    def _cures(self) -> str:
        """Of rows that are taken back, for a target that can't say so."""
        name, form = self.target.name, self._format()
        cures = []
        carries = carries_changes(self.target)
        if carries:
            cures.append(f"declare a column {WEIGHT} BIGINT in '{name}' to get the changelog")
        if form == "kafka" and not carries:
            cures.append("declare PRIMARY KEY (key) to get the record of each key")
        elif self.key and carries and form != "jdbc":
            cures.append(f"PRIMARY KEY ({self._spelled(self.key)}) to get the row of each key")
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
                written = f"column '{column.name}' of '{target}' is written as {ddl(data_type).upper()}"
                self._fail(f"{written}; declare it so")
            emission = self.view.emission
            if name == STATE and not (isinstance(emission, Schedule) and emission.flagged):
                self._fail(f"column '{STATE}' of '{target}' needs a view with EMIT (..., RESULT STATE FLAG)")
            if name == WEIGHT and shape == "upsert":
                cure = f"declare {OP} STRING instead, or changelog = 'retract'"
                self._fail(f"an upsert has no weight, but '{target}' has a column {WEIGHT}; {cure}")

    def check_given(self, columns: Sequence[int | None]) -> None:
        for wanted, place in zip(self.target.schema, columns, strict=True):
            what = f"column '{wanted.name}' of '{self.target.name}'"
            if place is None:
                if not wanted.nullable and wanted.name.lower() not in FILLED:
                    self._fail(
                        f"{what} is NOT NULL and is not listed; list it, or declare it without NOT NULL"
                    )
                continue
            given = self.view.schema[place]
            if given.type != wanted.type:
                kinds = f"is {ddl(wanted.type).upper()}, the query gives {_shown(given)}"
                self._fail_query(f"{what} {kinds}; CAST it")
            if place not in self.never_null and not wanted.nullable:
                cure = f"add WHERE {given.name} IS NOT NULL, or COALESCE it"
                self._fail_query(f"{what} is NOT NULL, the query may give NULL; {cure}")

    def upsert_key(self, columns: Sequence[int | None], earlier: Sequence[Insert]) -> tuple[int, ...]:
        """The places in the view of the target's key: it tells the rows apart, and deletions from rows."""
        target = self.target
        if not target.primary_key:
            cure = "declare changelog = 'retract'"
            if self.key:
                cure = f"declare PRIMARY KEY ({self._spelled(self.key)}) in it"
            self._fail(f"changelog = 'upsert' of '{target.name}' needs a key; {cure}")
        key = tuple(columns[self._names().index(name)] for name in target.primary_key)
        spelled = f"PRIMARY KEY ({', '.join(target.primary_key)}) of '{target.name}'"
        places = tuple(place for place in key if place is not None)
        if len(places) < len(key):
            self._fail(f"{spelled}: the query doesn't give all of it; list its columns")
        if self.key is None:
            cure = f"declare {WEIGHT} BIGINT and no key in '{target.name}' to get the changelog"
            missing = f"select what tells its rows apart, too ({', '.join(self.unselected)}), or "
            cure = missing * bool(self.unselected) + cure
            self._fail(
                f"{spelled}: what is inserted has no stream key, so a key could have several rows; {cure}"
            )
        if not set(self.key) <= set(places):
            cure = f"declare PRIMARY KEY ({self._spelled(self.key)})"
            self._fail(f"{spelled}: a key could have several rows; {cure}")
        for other in earlier:
            if other.target == target.name:
                self._fail(
                    f"{spelled}: a key could have a row of this query and one of that at {other.location}"
                )
        form = self._format()
        if own_form(form) is not None:
            self._check_held()
            return places
        if target.value_format is not None:  # a deletion is a message without a value
            return places
        if form == "kafka":
            self._check_records(columns)
        if self.view.retracts:
            self._check_deletions(places, columns)
        if form not in FILE_FORMATS | {"kafka", "console", "noop", PYTHON} and STEP not in map(
            str.lower, self._names()
        ):
            why = f"{form} is appended to, and nothing tells which row of a key is its last"
            self._fail(f"{spelled}: {why}; declare a column {STEP} BIGINT")
        return places

    def _check_held(self) -> None:
        """Such a table is upserted itself: it holds rows, and no records."""
        for name in self._names():
            if name.lower() in (OP, WEIGHT):
                why = "says what a record does, and the table is to hold the rows that the view has"
                cure = "leave it out, or declare changelog = 'retract'"
                self._fail(f"column '{name}' of '{self.target.name}' {why}; {cure}")

    def _check_records(self, columns: Sequence[int | None]) -> None:
        """Kafka keeps a key's last record in each partition of a topic; one without a value deletes it."""
        target, key = self.target.name, {name.lower() for name in self.target.primary_key}
        for name, place in zip(map(str.lower, self._names()), columns, strict=True):
            if (name in ("topic", "partition")) > (name in key):
                why = "would send the deletion of a key elsewhere than its record"
                self._fail(f"column '{name}' of '{target}' {why}; make it part of the PRIMARY KEY")
            if name == "value" and place not in self.never_null:
                why = "a record of kafka without a value is the deletion of its key"
                self._fail_query(f"{why}, and the query may give NULL; COALESCE it")
        if "key" not in key or "value" in key:
            self._fail(
                f"the records of kafka are told apart by their key; declare PRIMARY KEY (key) in '{target}'"
            )

    def _check_deletions(self, key: Sequence[int], columns: Sequence[int | None]) -> None:
        target = self.target.name
        for wanted, place in zip(self.target.schema, columns, strict=True):
            if place is not None and place not in key and not wanted.nullable:
                why = "is NOT NULL, but NULL where a key is deleted"
                self._fail(f"column '{wanted.name}' of '{target}' {why}; declare it without NOT NULL")
        told = self.never_null - set(key)
        if not told and OP not in map(str.lower, self._names()):
            cure = f"declare a column {OP} STRING"
            if not carries_changes(self.target):
                cure = "write it to another format"
            self._fail(f"in '{target}' nothing tells the deletion of a key from a row with NULLs; {cure}")

    def _spelled(self, key: Sequence[int]) -> str:
        """Columns of the view, by the names that they have in the target where that has them."""
        given = self._given()
        return ", ".join(
            self.target.schema[given[i]].name if i < len(given) else self.view.schema[i].name for i in key
        )


def _shown(column: Field) -> str:
    return "NULL" if column.type == pa.null() else ddl(column.type).upper()


def check_targets(tables: Collection[Table], inserts: Iterable[Insert], views: Mapping[str, View]) -> None:
    """A target is written, so nothing of the program reads it; what is no edge has no changelog."""
    for insert in inserts:
        for view in views.values():
            if insert.target in view.plan.scanned():
                message = (
                    f"table '{insert.target}' is written here and read by '{view.name}' ({view.location})"
                )
                raise ProgramError(f"{insert.location}: {message}; read the view that is inserted instead")
    targets = {insert.target for insert in inserts}
    _check_paths([table for table in tables if table.format is not None], targets)
    for table in tables:
        if table.changelog is not None and table.format is None:
            message = f"changelog is of a source or a target; '{table.name}' has no USING"
            raise ProgramError(f"{table.location}: {message}; leave it out")
        if table.is_snapshot and (table.format is None or table.name in targets):
            what = "is written" if table.name in targets else "has no USING"
            message = f"snapshot is of a source, which is compared with its table; '{table.name}' {what}"
            raise ProgramError(f"{table.location}: {message}; leave it out")


def _check_paths(tables: Sequence[Table], targets: Set[str]) -> None:
    """A sink replaces the step's directory under its path, and a source reads all that lies under its own."""
    places = [(table, path) for table in tables if (path := _path(table)) is not None]
    for sink, path in places:
        for other, around in places:
            inside = path == around or (other.name not in targets and path.startswith(around + "/"))
            if sink.name in targets and other is not sink and inside:
                what = "is written there, too" if other.name in targets else "is read from there"
                message = f"table '{sink.name}' is written to '{path}', and '{other.name}' ({other.location})"
                raise ProgramError(f"{sink.location}: {message} {what}; give each a path of its own")


def _path(table: Table) -> str | None:
    if (table.format or "").lower() not in FILE_FORMATS:
        return None
    path = next((value for name, value in table.options.items() if name.lower() == "path"), None)
    return posixpath.normpath(path) if path is not None else None
