"""GENERATED ALWAYS AS (expression) and CHECK (condition): what a table's rows are computed of, and must be.

Both are expressions of one row, of which Catalyst says what they mean as it does of a query of the table. So
they are deterministic, and read no other row, no clock and no function that is Python's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Expression, columns_of, substitute
from dbsp.circuits.functions.python.within import calls_python
from dbsp.circuits.operators.inputs.rules import Check, Formula
from dbsp.sql.catalyst.plans import plan
from dbsp.sql.compiler.scope.scope import Scope
from dbsp.sql.plans.nodes import Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.schemas import Field, Schema, columns_of_schema
from dbsp.sql.plans.types import UnsupportedType, ddl, literal_type, type_name
from dbsp.sql.text.statements.create_table import CreateTable
from dbsp.sql.text.tokens import Slice, quoted

_BOOLEAN = Field("condition", pa.bool_(), True)


def with_row_rules(scope: Scope, statement: CreateTable, table: Table) -> Table:
    """The table, which is registered, with what is said of its rows. Raises ProgramError."""
    computed = [at for at, column in enumerate(statement.columns) if column.computed is not None]
    if not computed and not statement.checks:
        return table
    if table.name.lower() in scope.written:
        what = "computed columns" if computed else "a CHECK"
        cure = "compute it, and CONSTRAINT c EXPECT (...) ON VIOLATION FAIL UPDATE, in the view"
        message = f"'{table.name}' is written, and takes what its view has: it can't have {what}; {cure}"
        raise scope.source.error(statement.start, message)
    formulas = tuple(_formula(scope, statement, table, at, computed) for at in computed)
    values = {one.column: one.value for one in formulas}
    checks = [
        Check(c.said, _value(scope, statement, c.condition, _BOOLEAN, c.said)) for c in statement.checks
    ]
    checks += _never_null(formulas, table.schema)
    checks = [replace(one, value=substitute(one.value, lambda c: values.get(c.index, c))) for one in checks]
    _check_defaults(scope, statement, table, checks)
    return replace(table, formulas=formulas, checks=tuple(checks))


def _check_defaults(scope: Scope, statement: CreateTable, table: Table, checks: Sequence[Check]) -> None:
    """Raises ProgramError where bad rows are kept, and only the step would know which are so."""
    waits = {one.column for one in table.defaults if not one.is_constant}
    for check in checks if table.keeps_bad_rows else ():
        for column in sorted(waits.intersection(columns_of(check.value))):
            name = table.schema[column].name
            message = (
                f"not supported: {check.said} of '{table.name}' reads column '{name}', whose DEFAULT is the "
                "step's, and bad rows are told from others before that; leave the DEFAULT out, or say "
                "mode = 'fail', so that such a row fails the step"
            )
            raise scope.source.error(statement.start, message)


def _formula(scope: Scope, statement: CreateTable, table: Table, at: int, computed: Sequence[int]) -> Formula:
    column = statement.columns[at]
    assert column.computed is not None
    if column.name in table.primary_key:
        message = f"column '{column.name}' is of the PRIMARY KEY, which every row says: it can't be computed"
        raise scope.source.error(column.computed.start, message)
    what = f"GENERATED column '{column.name}'"
    value = _value(scope, statement, column.computed, table.schema[at], what)
    for other in sorted({*columns_of(value)} & {*computed}):
        name = statement.columns[other].name
        message = f"{what} reads column '{name}', which is computed, too; write what that is computed of"
        raise scope.source.error(column.computed.start, message)
    return Formula(at, value)


def _never_null(formulas: Sequence[Formula], fields: Schema) -> Iterator[Check]:
    """NOT NULL of columns that are computed, where it doesn't follow."""
    for one in formulas:
        field = fields[one.column]
        if not field.nullable and one.value.nullable:
            there = Call("is_not_null", (one.value,), pa.bool_(), False)
            yield Check(f"NOT NULL of column '{field.name}', which is computed,", there)


def _value(scope: Scope, statement: CreateTable, text: Slice, wanted: Field, what: str) -> Expression:
    """The expression over the table's columns, as the wanted type. Raises ProgramError."""
    relation = quoted(statement.name.split("."))
    own = statement.name
    _, dumped = scope.dumped(text, own, checked=(f") AS c FROM {relation}",), before="SELECT (")
    given = dumped["types"][dumped["plan"]["out"][0][2]] if len(dumped["plan"]["out"]) == 1 else None
    spelled = ddl(wanted.type)
    if given is None or not scope.catalyst.becomes(given, scope.catalyst.column_type(spelled)):
        message = f"{what} is {_named(given)}, which is no {wanted.type_name} by itself; CAST it"
        raise scope.source.error(text.start, message)
    after = f") AS {spelled}) AS c FROM {relation}"
    query, dumped = scope.dumped(text, own, checked=(after,), before="SELECT CAST((")
    made = _of_the_row(plan(query, dumped["plan"]).plan)
    if made is None:
        message = (
            f"{what} is an expression of the row's own columns, and no query, aggregate, window or clock"
        )
        raise scope.source.error(text.start, message)
    (value,) = made
    if calls_python(value):
        message = (
            f"{what} calls a function that is Python's, which may be another one tomorrow; write it in SQL"
        )
        raise scope.source.error(text.start, message)
    return value


def _of_the_row(found: Plan) -> tuple[Expression, ...] | None:
    """What a plan computes of each row of the table; None of one that does more.

    Catalyst computes beneath what an expression has twice, as `length(s)` of `length(s) BETWEEN 1 AND 3`.
    """
    if isinstance(found, Scan) and not found.reads_arrival:
        return columns_of_schema(found.schema)
    below = _of_the_row(found.input) if isinstance(found, Project) else None
    if below is None:
        return None
    assert isinstance(found, Project)
    return tuple(substitute(one, lambda column: below[column.index]) for one in found.expressions)


def _named(given: Any) -> str:
    try:
        return type_name(literal_type(given))
    except UnsupportedType:
        return "of another type"
