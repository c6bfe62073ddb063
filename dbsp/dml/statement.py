"""A statement that changes rows of a table. ctes: its WITH, as its queries begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dbsp.sql.plans.program import Table


@dataclass(frozen=True)
class Conflict:
    """What becomes of a row whose key is there: nothing, or these columns get its values."""

    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Insert:
    """rows: values by column, or as Arrow; None: those of `query`, whose columns are these in their order or,
    by_name, are called as the table's.
    """

    table: Table
    columns: tuple[str, ...]
    rows: list[dict[str, Any]] | pa.Table | None
    query: str = ""
    conflict: Conflict | None = None
    ctes: str = ""
    by_name: bool = False


@dataclass(frozen=True)
class Where:
    """equal: the values that columns have, where the condition is no more than that. name: of the row."""

    name: str = ""
    condition: str = ""
    equal: dict[str, Any] | None = None


@dataclass(frozen=True)
class Delete:
    table: Table
    where: Where
    ctes: str = ""


@dataclass(frozen=True)
class Update:
    """texts: per column the expression. values: the same, where all of them are values."""

    table: Table
    where: Where
    texts: dict[str, str]
    values: dict[str, Any] | None
    ctes: str = ""


@dataclass(frozen=True)
class When:
    """What becomes of rows for which `condition`, and none of an earlier clause of their kind, is true.

    of: 'matched', 'target' (a row that no row of the source matches) or 'source' (a row of the source that
    matches none). texts: per column what it gets; None: the row goes. stays: nothing is done.
    """

    of: str
    condition: str
    texts: dict[str, str] | None
    stays: bool = False


@dataclass(frozen=True)
class Merge:
    """name: of a row of the table. source: a relation, or a query in parentheses, with its name."""

    table: Table
    name: str
    source: str
    on: str
    clauses: tuple[When, ...]
    ctes: str = ""

    @property
    def gives(self) -> bool:
        """Whether any row may come."""
        return any(clause.texts is not None for clause in self.clauses)

    @property
    def only_inserts(self) -> bool:
        return all(clause.of == "source" for clause in self.clauses)


Statement = Insert | Update | Delete | Merge
