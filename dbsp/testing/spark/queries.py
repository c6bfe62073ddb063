"""The queries of a program's views as Spark SQL runs them, and which views it can't have, and why.

What is compiled and what is run here differ in nothing but who evaluates it: both are the user's text in
Spark's spelling (`dbsp.sql.spellings`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.operators.inputs.arrival_times import ArrivalTime
from dbsp.circuits.operators.inputs.arrivals import Arrival
from dbsp.circuits.operators.inputs.waiting import Waiting
from dbsp.circuits.operators.joins.lookup import Lookup
from dbsp.circuits.operators.operator import Operator
from dbsp.queries.plans import named_in
from dbsp.sql.catalyst import Catalyst
from dbsp.sql.compiler.scope.scope import Scope
from dbsp.sql.plans.program import SYSTEM_VIEWS, Program, View
from dbsp.sql.spellings.spark_spelling import in_sparks_spelling
from dbsp.sql.text.expectations import checked
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.statements.create_function import CreateFunction
from dbsp.sql.text.statements.create_sql_function import CreateSqlFunction
from dbsp.sql.text.statements.create_view import CreateRecursiveView, CreateView
from dbsp.sql.text.statements.statements import Statement, statements

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class SparkQuery:
    """columns: names of its own, or () for the query's. schema: of a recursive view, else ''."""

    name: str
    text: str
    columns: tuple[str, ...]
    schema: str = ""


@dataclass(frozen=True)
class Queries:
    """functions: statements that define them, each after so many views, which it may read. left_out: of views
    that aren't compared, why.
    """

    functions: tuple[tuple[int, str], ...]
    views: tuple[SparkQuery, ...]
    left_out: Mapping[str, str]


def queries_of(program: Program, session: SparkSession) -> Queries:
    """session: reads what only Catalyst can, such as the lengths of windows."""
    source = as_it_is(program.text, program.name)
    scope = Scope(source, Catalyst(session, program.timezone), frozenset(), frozenset(), reading=True)
    scope.defined.tables |= program.tables
    scope.defined.views |= program.views
    parsed = statements(source)
    left_out = _left_out(program, parsed)
    functions: list[tuple[int, str]] = []
    views: list[SparkQuery] = []
    for statement in parsed:
        if isinstance(statement, CreateSqlFunction):
            text = in_sparks_spelling(source, statement.definition, scope.microseconds, scope.version_time)
            functions.append((len(views), f"CREATE TEMPORARY FUNCTION `{statement.name}`{text.text}"))
        elif isinstance(statement, CreateView) and statement.name not in left_out:
            expected = checked(statement.name, statement.columns, statement.expectations)
            text = in_sparks_spelling(
                source, statement.query, scope.microseconds, scope.version_time, expected
            )
            views.append(SparkQuery(statement.name, text.text, statement.columns))
        elif isinstance(statement, CreateRecursiveView) and statement.name not in left_out:
            text = in_sparks_spelling(source, statement.query, scope.microseconds, scope.version_time)
            columns = ", ".join(f"`{column.name}` {column.type.text}" for column in statement.columns)
            views.append(SparkQuery(statement.name, text.text, (), columns))
    return Queries(tuple(functions), tuple(views), left_out)


def _left_out(program: Program, parsed: Iterable[Statement]) -> dict[str, str]:
    """Of each view that Spark can't compute from the tables, why."""
    in_python = [s.name for s in parsed if isinstance(s, CreateFunction)]
    in_python += [function.name for function in program.functions]
    found: dict[str, str] = {}
    for statement in parsed:
        if isinstance(statement, CreateView | CreateRecursiveView):
            view, text = program.views[statement.name], statement.query.text
            reason = next(_reasons(program, view, text, in_python, found), None)
            if reason is not None:
                found[view.name] = reason
    return found


def _reasons(
    program: Program, view: View, text: str, in_python: list[str], left_out: Mapping[str, str]
) -> Iterator[str]:
    if view.emission is not None:
        yield "its changes wait (TRIGGER, EMIT, SELECT STREAM)"
    if view.lateness:
        yield "its LATENESS leaves rows out"
    if len(view.component) > 1:
        yield "Spark has no views that are defined by each other"
    if "." in view.name or any("." in name for name in program.tables):
        yield "its program names schemas"
    for name in named_in(text, in_python):
        yield f"it calls {name}, a function in Python"
    for name in named_in(text, SYSTEM_VIEWS):
        yield f"it reads {name}"
    for name in named_in(text, left_out):
        yield f"it reads {name}, which isn't compared"
    operators = [] if view.kind == "local" else list(_operators(program.circuit, view.name))
    if any(isinstance(operator, Arrival) for operator in operators):
        yield "its first or last row, or a list, is by the order of arrival, which Spark doesn't have"
    if any(isinstance(operator, ArrivalTime) for operator in operators):
        yield "it reads when rows arrived (rowtime), which Spark doesn't know"
    if any(isinstance(operator, Waiting) for operator in operators):
        yield "rows of its tables wait (WATERMARK)"
    if any(isinstance(operator, Lookup) for operator in operators):
        yield "its rows are joined with a table as it is when they arrive"


def _operators(circuit: Circuit, view: str) -> Iterator[Operator]:
    """All that the view is made by."""
    return (circuit.nodes[i].operator for i in circuit.above([circuit.output(view).node]))
