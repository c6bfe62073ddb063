"""The compiler: statements → Catalyst's plans → rules → a circuit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dbsp.sql.catalyst import Catalyst, compile_session
from dbsp.sql.compiler.keys.shown import with_keys_shown
from dbsp.sql.compiler.registered import add_function, add_sql_function, declare_function
from dbsp.sql.compiler.scope.scope import Scope
from dbsp.sql.compiler.session_statements import USER, add_session_statement, user_said
from dbsp.sql.compiler.sources.bad_rows import check_mode, keeps_bad_rows
from dbsp.sql.compiler.streams.watermarks import with_watermarks
from dbsp.sql.compiler.tables import add_lateness, add_table, declare_bad_rows, declare_late_rows
from dbsp.sql.compiler.targets.format_columns import check_source
from dbsp.sql.compiler.targets.roles import check_targets
from dbsp.sql.compiler.targets.standing import Inserts
from dbsp.sql.compiler.views.views import Views
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.declared import Declared
from dbsp.sql.plans.identity.fingerprint import fingerprint
from dbsp.sql.plans.program import Program, identifying_views, inputs_of
from dbsp.sql.plans.properties.keys import keys_of
from dbsp.sql.plans.properties.nullability import with_not_null
from dbsp.sql.plans.shown.bounds import bounds
from dbsp.sql.spellings.unfilled import unfilled
from dbsp.sql.text.annotations import LatenessStatement
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.create_function import CreateFunction
from dbsp.sql.text.statements.create_sql_function import CreateSqlFunction
from dbsp.sql.text.statements.create_table import CreateTable
from dbsp.sql.text.statements.create_view import CreateRecursiveView, CreateView
from dbsp.sql.text.statements.statements import InsertInto, Statement, has_lateness, statements

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def compile_source(
    source: Source,
    session: SparkSession | None,
    functions: Sequence[Declared] = (),
    reading: bool = False,
    definitions: Mapping[str, Any] | None = None,
) -> Program:
    """Raises ProgramError at the first thing that is wrong. reading: none of the program's code runs.

    definitions: plans of the session's JVM that queries read by these names.
    """
    parsed = with_watermarks(source, statements(source))
    if not any(isinstance(statement, CreateView | CreateRecursiveView | InsertInto) for statement in parsed):
        raise source.error(0, "the program defines no view; add CREATE VIEW name AS SELECT ...")
    with nullcontext(session) if session is not None else compile_session() as spark:
        # a program means the same whichever session happens to be active
        catalyst = Catalyst(spark, None if session is not None else "UTC")
        said = user_said(parsed)
        if said is not None:
            catalyst.call_user(said)
        for name, defined in (definitions or {}).items():
            catalyst.define(name, defined)
        written = frozenset(s.target.lower() for s in parsed if isinstance(s, InsertInto))
        scope = Scope(source, catalyst, frozenset(_defined(parsed)), written, reading)
        compiler = Compiler(scope, says_user=said is not None)
        handled = {s.name.lower() for s in parsed if isinstance(s, CreateFunction) and s.handler is not None}
        for function in functions:
            if function.is_record and function.name.lower() in handled:
                scope.functions.recorded[function.name.lower()] = function.python
            else:
                declare_function(scope, function)
        if any(map(has_lateness, parsed)):
            declare_late_rows(scope)
        if any(keeps_bad_rows(statement, written) for statement in parsed):
            declare_bad_rows(scope)
        for statement in parsed:
            if isinstance(statement, CreateRecursiveView):
                compiler.views.recursions.declare(statement)
        for statement in parsed:
            compiler.add(statement)
    return compiler.program()


def _defined(parsed: Iterable[Statement]) -> Iterator[str]:
    """The names of all tables and views of the program."""
    return (s.name for s in parsed if isinstance(s, CreateTable | CreateView | CreateRecursiveView))


@dataclass
class Compiler:
    """Adds statement by statement to a program."""

    scope: Scope
    says_user: bool = True
    views: Views = field(init=False)
    standing: Inserts = field(init=False)

    def __post_init__(self) -> None:
        self.views = Views(self.scope)
        self.standing = Inserts(self.scope, self.views)

    def program(self) -> Program:
        source, defined, inserts = self.scope.source, self.scope.defined, self.standing.inserts
        self.views.histories.check()
        if self.scope.shows_key:
            keys = keys_of(defined.tables, defined.views)
            defined.views, inserts = with_keys_shown(defined.views, inserts, self.views.exact(), keys)
        check_targets(defined.tables.values(), inserts, defined.views)
        inputs = inputs_of(defined.tables, inserts)
        for name, statement in defined.definitions.items():
            check_mode(source, statement, name in inputs)
        for table in inputs.values():
            if table.format is not None:
                check_source(source, defined.definitions[table.name], table)
        timezone = self.scope.catalyst.timezone
        identifying = identifying_views(defined.tables, defined.views)
        program = Program(
            source.text,
            source.name,
            fingerprint(timezone, defined.tables, identifying, inserts),
            timezone,
            defined.tables,
            with_not_null(defined.views),
            tuple(inserts),
            lower(inputs, defined.views),
            tuple(self.scope.functions.declared),
            tuple(self.scope.notes),
            told if (told := self._told()) != source.text else "",
        )
        self._check_bounded(program)
        return program

    def _told(self) -> str:
        """The text for others, to whom current_user() would be another one."""
        told = unfilled(self.scope.source)
        if self.says_user or USER not in self.scope.constants:
            return told
        return f"{told}\n;\nSET {USER} = '{self.scope.catalyst.user}';\n"

    def _check_bounded(self, program: Program) -> None:
        """SET strict = true: Raises ProgramError for state that can grow without bound."""
        if self.scope.strict is None:
            return
        grown = [str(bound) for bound in bounds(program) if not bound.is_bounded]
        if grown:
            message = f"SET strict = true, and {len(grown)} states can grow without bound: {'; '.join(grown)}"
            raise self.scope.source.error(self.scope.strict, message)

    def add(self, statement: Statement) -> None:
        if isinstance(statement, CreateTable):
            add_table(self.scope, statement)
        elif isinstance(statement, CreateView):
            self.views.add(statement)
        elif isinstance(statement, CreateRecursiveView):
            self.views.recursions.add(statement)
        elif isinstance(statement, CreateFunction):
            add_function(self.scope, statement)
        elif isinstance(statement, CreateSqlFunction):
            add_sql_function(self.scope, statement)
        elif isinstance(statement, LatenessStatement):
            add_lateness(self.scope, statement)
        elif isinstance(statement, InsertInto):
            self.standing.add(statement)
        else:
            add_session_statement(self.scope, statement)
