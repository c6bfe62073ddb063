"""What columns of a view may be: each has a name of its own to read it by, and a type, the declared one."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa

from dbsp.sql.compiler.scope.scope import Scope
from dbsp.sql.plans.collations import collated, kept_type
from dbsp.sql.plans.program import View
from dbsp.sql.text.statements.create_view import CreateView
from dbsp.sql.text.tokens import Slice


def check_named(scope: Scope, query: Slice, names: Sequence[str]) -> None:
    """What Spark calls a column that calls one of our functions is nothing to read it by.

    Raises ProgramError.
    """
    for number, name in enumerate(names, 1):
        called = [known for known in scope.functions.in_python() if re.search(rf"\b{known}\(", name)]
        if called:
            message = f"column {number} calls '{called[0]}' and has no name; name it with AS"
            raise scope.source.error(query.start, message)


def check_columns(scope: Scope, view: View, statement: CreateView) -> None:
    """Raises ProgramError. Declared types are those of the query: a view converts nothing."""
    seen: dict[str, str] = {}
    for column in view.schema:
        before = seen.get(column.name.lower())
        if before is not None:
            other = f"columns '{before}' and '{column.name}', which differ in case alone"
            has = f"two columns '{before}'" if before == column.name else other
            message = f"view '{view.name}' has {has}; rename one with AS"
            raise scope.source.error(statement.query.start, message)
        seen[column.name.lower()] = column.name
        if column.type == pa.null():
            message = f"column '{column.name}' of view '{view.name}' is always NULL of no type; CAST it"
            raise scope.source.error(statement.query.start, message)
    for column, declared in zip(view.schema, statement.types, strict=False):
        wanted = None if declared is None else scope.column_type(declared)
        if wanted is None or declared is None:
            continue
        if (kept_type(wanted), collated(wanted)) != (column.type, column.collated):
            given = f"declared {declared.text}, its query gives {column.type_name}; CAST it"
            raise scope.source.error(declared.start, f"column '{column.name}' of '{view.name}' is {given}")
