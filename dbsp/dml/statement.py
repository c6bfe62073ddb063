"""A statement that changes rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dbsp.sql.plans.program import Table


@dataclass(frozen=True)
class Conflict:
    """What becomes of a row whose key is there: nothing, or these columns get its values."""

    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Insert:
    """rows: values by column; None: those of `query`, whose columns are these in their order."""

    table: Table
    columns: tuple[str, ...]
    rows: list[dict[str, Any]] | None
    query: str = ""
    conflict: Conflict | None = None


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


@dataclass(frozen=True)
class Update:
    """texts: per column the expression. values: the same, where all of them are values."""

    table: Table
    where: Where
    texts: dict[str, str]
    values: dict[str, Any] | None


Statement = Insert | Update | Delete
