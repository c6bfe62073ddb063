"""SQL of a target in a database: the table, what is staged beside it, and the steps that it has.

dbsp_steps(target, writer, step)    in the schema of the target: the last step that is in it, and whose
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dbsp.sql.plans.program import DELETED, OP
from dbsp.sql.plans.schemas import Field
from dbsp.targets.outlet import Outlet


@dataclass(frozen=True)
class Statements(ABC):
    """name: of the target as OPTIONS say it, with its schema or without. key: of an upsert, else nothing.

    What databases spell differently: settings, of a session; mark, of a parameter; quote, around names;
    staged, the session's own table; name_type, of names in dbsp_steps; storage, of tables; and what is
    overridden.
    """

    name: str
    columns: Sequence[Field]
    key: Sequence[str]

    settings: ClassVar[Sequence[str]] = ()
    mark: ClassVar[str] = "?"
    quote: ClassVar[str] = '"'
    staged: ClassVar[str] = "dbsp_staged"
    name_type: ClassVar[str] = "text"
    storage: ClassVar[str] = ""

    @abstractmethod
    def type_of(self, column: Field) -> str:
        """As the database spells it."""

    @property
    def target(self) -> str:
        return ".".join(map(self.quoted, self.name.split(".")))

    @property
    def steps(self) -> str:
        return ".".join([*map(self.quoted, self.name.split(".")[:-1]), "dbsp_steps"])

    @property
    def create(self) -> list[str]:
        """What there must be, and isn't touched where it is."""
        columns = [f"{self._declared(c)}{'' if c.nullable else ' NOT NULL'}" for c in self.columns]
        if self.key:
            columns.append(f"PRIMARY KEY ({self.listed(self.key)})")
        noted = f"target {self.name_type} PRIMARY KEY, writer {self.name_type} NOT NULL, step bigint NOT NULL"
        return [
            f"CREATE TABLE IF NOT EXISTS {self.steps} ({noted}){self.storage}",
            f"CREATE TABLE IF NOT EXISTS {self.target} ({', '.join(columns)}){self.storage}",
        ]

    @property
    def stage(self) -> str:
        """A table of the session's own, of records with their `__op`."""
        columns = ", ".join(map(self._declared, self.columns))
        return f"CREATE TEMPORARY TABLE {self.staged} ({columns}, {self.quoted(OP)} {self.name_type})"

    @property
    def unstage(self) -> str:
        """At a transaction's begin, where its end doesn't do it."""
        return f"DELETE FROM {self.staged}"

    @property
    def claim(self) -> str:
        """A writer's first row; nothing where the target has one."""
        return (
            f"INSERT INTO {self._steps} VALUES ({self.mark}, {self.mark}, 0) ON CONFLICT (target) DO NOTHING"
        )

    @property
    def written(self) -> str:
        """Who wrote the target up to which step."""
        return f"SELECT writer, step FROM {self._steps} WHERE target = {self.mark}"

    @property
    def note(self) -> str:
        return f"UPDATE {self._steps} SET step = {self.mark} WHERE target = {self.mark}"

    @property
    def has_rows(self) -> str:
        return f"SELECT EXISTS (SELECT 1 FROM {self.target})"

    @property
    def apply(self) -> list[str]:
        """What is staged: of each key a record at most."""
        gone = self.delete(f" WHERE {self.quoted(OP)} = '{DELETED}'")
        return [gone, f"{self.insert_staged} ON CONFLICT ({self.listed(self.key)}) {self._update}"]

    def delete(self, which: str = "") -> str:
        """The rows whose keys are staged, or those of them that a condition says."""
        key = self.listed(self.key)
        row = f"({key})" if len(self.key) > 1 else key
        return f"DELETE FROM {self.target} WHERE {row} IN (SELECT {key} FROM {self.staged}{which})"

    @property
    def insert_staged(self) -> str:
        """The rows that are staged, as far as it is the same everywhere."""
        names = self.listed([column.name for column in self.columns])
        rows = f"SELECT {names} FROM {self.staged} WHERE {self.quoted(OP)} <> '{DELETED}'"
        return f"INSERT INTO {self.target} ({names}) {rows}"

    @property
    def others(self) -> list[str]:
        """The columns beside the key, quoted."""
        return [self.quoted(column.name) for column in self.columns if column.name not in self.key]

    @property
    def _update(self) -> str:
        update = ", ".join(f"{name} = EXCLUDED.{name}" for name in self.others)
        return f"DO UPDATE SET {update}" if update else "DO NOTHING"

    @property
    def _steps(self) -> str:
        """Beside parameters, which may begin with a percent sign."""
        return self.steps.replace("%", "%%") if self.mark.startswith("%") else self.steps

    def into(self, is_staged: bool) -> tuple[str, list[str]]:
        """(the table that rows are loaded into, its columns); those that are staged have their `__op`."""
        names = [self.quoted(column.name) for column in self.columns]
        return (self.staged, [*names, self.quoted(OP)]) if is_staged else (self.target, names)

    def quoted(self, name: str) -> str:
        """As an identifier."""
        return quoted(name, self.quote)

    def listed(self, names: Sequence[str]) -> str:
        """As identifiers."""
        return ", ".join(map(self.quoted, names))

    def _declared(self, column: Field) -> str:
        return f"{self.quoted(column.name)} {self.type_of(column)}"


def quoted(name: str, quote: str = '"') -> str:
    """As an identifier of SQL."""
    return quote + name.replace(quote, 2 * quote) + quote


def target_name(outlet: Outlet) -> str:
    """The name that OPTIONS give the target, else the table's."""
    return outlet.table.option("dbtable", outlet.table.name)
