"""What a program's text says of its relations: the queries of views, and the DEFAULTs of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbsp.serving.page.text import told, without_users
from dbsp.sql.plans.program import Program
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.statements.create_table import CreateTable
from dbsp.sql.text.statements.create_view import CreateRecursiveView, CreateView
from dbsp.sql.text.statements.statements import statements


@dataclass(frozen=True)
class Definitions:
    """queries: by view. defaults: by table and column. All names are in lower case."""

    queries: Mapping[str, str]
    defaults: Mapping[tuple[str, str], str]

    def default(self, table: str, column: str) -> str | None:
        return self.defaults.get((table.lower(), column.lower()))


def definitions_of(program: Program) -> Definitions:
    """Of a program's text, of which nothing is shown that may be secret."""
    queries, defaults = dict[str, str](), dict[tuple[str, str], str]()
    for one in statements(as_it_is(told(program), program.name)):
        if isinstance(one, CreateView | CreateRecursiveView):
            queries[one.name.lower()] = without_users(one.query.text.strip())
        elif isinstance(one, CreateTable):
            for column in one.columns:
                if column.default is not None:
                    said = without_users(column.default.text.strip())
                    defaults[one.name.lower(), column.name.lower()] = said
    return Definitions(queries, defaults)
