"""Which columns of its target an INSERT INTO gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from dbsp.circuits.errors import did_you_mean
from dbsp.sql.compiler.targets.format_columns import FILLED
from dbsp.sql.plans.program import Table, View
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
    given = Given(source, by_name(statement, view), view, target)
    return dict(zip((column.name for column in target.schema), given.columns(), strict=True))


@dataclass(frozen=True)
class Given:
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
            self.fail_query(f"{what}, table '{self.target.name}' has {len(given)}: {listed}")
        for place, i in enumerate(given):
            columns[i] = place
        return tuple(columns)

    def _given(self) -> list[int]:
        """The target's columns that the query gives, in its order."""
        names = [name.lower() for name in self.names()]
        listed = names
        if self.statement.columns is not None:
            for token in self.statement.columns:
                if token.text.lower() not in names:
                    hint = did_you_mean(token.text, self.names())
                    message = f"unknown column '{token.text}' in '{self.target.name}'; columns: "
                    raise self.source.error(token.start, f"{message}{', '.join(self.names())}{hint}")
            listed = [token.text.lower() for token in self.statement.columns]
        return [names.index(name) for name in listed if name not in FILLED]

    def names(self) -> list[str]:
        return [column.name for column in self.target.schema]

    def fail_query(self, message: str) -> NoReturn:
        raise self.source.error(self.statement.query.start, message)

    def fail(self, message: str) -> NoReturn:
        raise self.source.error(self.statement.start, message)

    def format(self) -> str:
        return (self.target.format or "").lower()

    def spelled(self, key: Sequence[int]) -> str:
        """Columns of the view, by the names that they have in the target where that has them."""
        given = self._given()
        return ", ".join(
            self.target.schema[given[i]].name if i < len(given) else self.view.schema[i].name for i in key
        )
