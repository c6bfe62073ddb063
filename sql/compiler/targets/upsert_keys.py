"""The key of a target that is upserted: it tells the rows apart, and deletions from rows."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from dbsp.circuits.traces.zset import WEIGHT
from dbsp.sql.compiler.targets.format_columns import carries_changes
from dbsp.sql.compiler.targets.given import Given
from dbsp.sql.plans.own_forms import own_form
from dbsp.sql.plans.program import FILE_FORMATS, OP, PYTHON, STEP, Insert
from dbsp.sql.plans.schemas import Key


@dataclass(frozen=True)
class UpsertKey(Given):
    """key: the view's stream key. unselected: columns that would be one. never_null: of its columns."""

    key: Key
    never_null: Set[int]
    unselected: Sequence[str]

    def places(self, columns: Sequence[int | None], earlier: Sequence[Insert]) -> tuple[int, ...]:
        """Of the target's key, in the view. Raises ProgramError where it can't do what a key must.

        columns: for each of the target's, the place of the view's. earlier: INSERTs of the program.
        """
        target = self.target
        if not target.primary_key:
            cure = "declare changelog = 'retract'"
            if self.key:
                cure = f"declare PRIMARY KEY ({self.spelled(self.key)}) in it"
            self.fail(f"changelog = 'upsert' of '{target.name}' needs a key; {cure}")
        key = tuple(columns[self.names().index(name)] for name in target.primary_key)
        spelled = f"PRIMARY KEY ({', '.join(target.primary_key)}) of '{target.name}'"
        places = tuple(place for place in key if place is not None)
        if len(places) < len(key):
            self.fail(f"{spelled}: the query doesn't give all of it; list its columns")
        if self.key is None:
            cure = f"declare {WEIGHT} BIGINT and no key in '{target.name}' to get the changelog"
            missing = f"select what tells its rows apart, too ({', '.join(self.unselected)}), or "
            cure = missing * bool(self.unselected) + cure
            self.fail(
                f"{spelled}: what is inserted has no stream key, so a key could have several rows; {cure}"
            )
        if not set(self.key) <= set(places):
            cure = f"declare PRIMARY KEY ({self.spelled(self.key)})"
            self.fail(f"{spelled}: a key could have several rows; {cure}")
        for other in earlier:
            if other.target == target.name:
                self.fail(
                    f"{spelled}: a key could have a row of this query and one of that at {other.location}"
                )
        form = self.format()
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
            str.lower, self.names()
        ):
            why = f"{form} is appended to, and nothing tells which row of a key is its last"
            self.fail(f"{spelled}: {why}; declare a column {STEP} BIGINT")
        return places

    def _check_held(self) -> None:
        """Such a table is upserted itself: it holds rows, and no records."""
        for name in self.names():
            if name.lower() in (OP, WEIGHT):
                why = "says what a record does, and the table is to hold the rows that the view has"
                cure = "leave it out, or declare changelog = 'retract'"
                self.fail(f"column '{name}' of '{self.target.name}' {why}; {cure}")

    def _check_records(self, columns: Sequence[int | None]) -> None:
        """Kafka keeps a key's last record in each partition of a topic; one without a value deletes it."""
        target, key = self.target.name, {name.lower() for name in self.target.primary_key}
        for name, place in zip(map(str.lower, self.names()), columns, strict=True):
            if (name in ("topic", "partition")) > (name in key):
                why = "would send the deletion of a key elsewhere than its record"
                self.fail(f"column '{name}' of '{target}' {why}; make it part of the PRIMARY KEY")
            if name == "value" and place not in self.never_null:
                why = "a record of kafka without a value is the deletion of its key"
                self.fail_query(f"{why}, and the query may give NULL; COALESCE it")
        if "key" not in key or "value" in key:
            self.fail(
                f"the records of kafka are told apart by their key; declare PRIMARY KEY (key) in '{target}'"
            )

    def _check_deletions(self, key: Sequence[int], columns: Sequence[int | None]) -> None:
        target = self.target.name
        for wanted, place in zip(self.target.schema, columns, strict=True):
            if place is not None and place not in key and not wanted.nullable:
                why = "is NOT NULL, but NULL where a key is deleted"
                self.fail(f"column '{wanted.name}' of '{target}' {why}; declare it without NOT NULL")
        told = self.never_null - set(key)
        if not told and OP not in map(str.lower, self.names()):
            cure = f"declare a column {OP} STRING"
            if not carries_changes(self.target):
                cure = "write it to another format"
            self.fail(f"in '{target}' nothing tells the deletion of a key from a row with NULLs; {cure}")
