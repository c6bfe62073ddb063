"""Programs of the laws: tables and views as values, with the text that declares them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tests.generators.python_functions import declarations
from tests.generators.wide.sql_functions import called


@dataclass(frozen=True)
class Column:
    """bound: the largest magnitude of a number. exact: not rounded. summable: can't cancel in a sum.

    default: what a row has that says nothing of it. always: what no row says, as it stands behind GENERATED.
    """

    name: str
    type: str
    nullable: bool = True
    bound: int = 100
    exact: bool = True
    summable: bool = True
    default: str = ""
    always: str = ""


@dataclass(frozen=True)
class Table:
    """key: the PRIMARY KEY's columns; without it, a bag. timed: a view reads when its rows arrived."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    append_only: bool = False
    timed: bool = False

    @property
    def held(self) -> Table:
        """With the column that rows have and nobody declares."""
        return (
            replace(self, columns=(*self.columns, Column("rowtime", "TIMESTAMP", False)))
            if self.timed
            else self
        )

    @property
    def ddl(self) -> str:
        columns = [
            f"{c.name} {c.type}{'' if c.nullable else ' NOT NULL'}{c.default and f' DEFAULT {c.default}'}"
            f"{c.always and f' GENERATED {c.always}'}"
            for c in self.columns
        ]
        if self.key:
            columns.append(f"PRIMARY KEY ({', '.join(self.key)})")
        options = " WITH (append_only = true)" if self.append_only else ""
        return f"CREATE TABLE {self.name} ({', '.join(columns)}){options};"


@dataclass(frozen=True)
class View:
    """duckdb: the query in DuckDB's spelling; None where it has none that means the same.

    recursive: the declared columns of a recursive view. emission: TRIGGER or EMIT.
    """

    name: str
    query: str
    duckdb: str | None
    local: bool = False
    recursive: str = ""
    emission: str = ""

    @property
    def ddl(self) -> str:
        kind = ("LOCAL " if self.local else "") + ("RECURSIVE " if self.recursive else "")
        columns = f" ({self.recursive})" if self.recursive else ""
        emission = f" {self.emission}" if self.emission else ""
        return f"CREATE {kind}VIEW {self.name}{columns} AS {self.query}{emission};"


@dataclass(frozen=True)
class Upsert:
    """A standing UPSERT INTO a target of two numbers, the first its key. duckdb: the rows as they arrive."""

    target: str
    query: str
    duckdb: str

    @property
    def ddl(self) -> str:
        columns = "g BIGINT PRIMARY KEY, x BIGINT, __op STRING"
        return f"CREATE TABLE {self.target} ({columns}) USING python; UPSERT INTO {self.target} {self.query};"


@dataclass(frozen=True)
class Program:
    tables: tuple[Table, ...]
    views: tuple[View, ...]
    upserts: tuple[Upsert, ...] = ()

    @property
    def text(self) -> str:
        functions = [f"CREATE FUNCTION {function};" for function in self.sql_functions]
        items = [
            *(t.ddl for t in self.tables),
            *functions,
            *(each.ddl for each in (*self.views, *self.upserts)),
        ]
        return declarations(view.query for view in self.views) + "\n".join(items) + "\n"

    @property
    def sql_functions(self) -> list[str]:
        """Those that views call, as they stand after CREATE FUNCTION."""
        return called(view.query for view in self.views)

    def at(self, clock: datetime | None) -> Program:
        """The program with the step's clock in place of NOW(), as the oracles read it."""
        if clock is None:
            return self
        moment = clock.astimezone(UTC).replace(tzinfo=None)
        spelled = {"now()": f"TIMESTAMP '{moment}'", "current_date()": f"DATE '{moment.date()}'"}
        views = []
        for view in self.views:
            query, duckdb = view.query, view.duckdb
            for name, literal in spelled.items():
                query, duckdb = query.replace(name, literal), duckdb and duckdb.replace(name, literal)
            views.append(replace(view, query=query, duckdb=duckdb))
        return replace(self, views=tuple(views))

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(view.name for view in self.views if not view.local)

    @property
    def in_duckdb(self) -> bool:
        return all(view.duckdb is not None for view in self.views)

    def table(self, name: str) -> Table:
        return next(table for table in self.tables if table.name == name)


def program(tables: Iterable[Table], **views: str) -> Program:
    """A program by hand, of queries that read the same in both dialects."""
    return Program(tuple(tables), tuple(View(name, query, query) for name, query in views.items()))


def table(name: str, columns: str, key: Sequence[str] = (), append_only: bool = False) -> Table:
    """A table by hand: `table("t", "k BIGINT NOT NULL, s STRING")`."""
    parsed = []
    for text in columns.split(", "):
        column, kind = text.split(" ", 1)
        required = kind.endswith(" NOT NULL") or column in key
        parsed.append(Column(column, kind.removesuffix(" NOT NULL"), not required))
    return Table(name, tuple(parsed), tuple(key), append_only)
