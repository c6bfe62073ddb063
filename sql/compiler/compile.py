"""The compiler: statements → Catalyst's plans → rules → a circuit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dbsp.circuits.errors import did_you_mean
from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.catalyst import Catalyst, compile_session
from dbsp.sql.catalyst.arrival.arrived import numbered_by_arrival
from dbsp.sql.catalyst.order import order_of
from dbsp.sql.catalyst.plans import plan
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.catalyst.widened import widened
from dbsp.sql.compiler.keys.shown import with_keys_shown
from dbsp.sql.compiler.recursion import relations_in, too_early
from dbsp.sql.compiler.recursive_views import Recursions
from dbsp.sql.compiler.registered import add_function, add_sql_function, declare_function
from dbsp.sql.compiler.scope import Scope, renamed
from dbsp.sql.compiler.session_statements import add_session_statement
from dbsp.sql.compiler.shown_order import shown_order
from dbsp.sql.compiler.sources.bad_rows import check_mode, keeps_bad_rows
from dbsp.sql.compiler.streams.histories import Histories
from dbsp.sql.compiler.streams.on_arrival import follows, on_arrival
from dbsp.sql.compiler.streams.select_stream import (
    Relations,
    check_stream,
    emission_of_stream,
    is_streaming,
    words_of,
)
from dbsp.sql.compiler.streams.watermarks import with_watermarks
from dbsp.sql.compiler.tables import add_lateness, add_table, declare_bad_rows, declare_late_rows
from dbsp.sql.compiler.targets.format_columns import check_sink, check_source
from dbsp.sql.compiler.targets.inserts import by_name, check_targets, find_target, fitted
from dbsp.sql.compiler.targets.unselected import with_hidden_key
from dbsp.sql.compiler.targets.upserts import check_upsert, has_several, last_of_each_key
from dbsp.sql.compiler.view_columns import check_columns, check_named, check_visible
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.declared import Declared
from dbsp.sql.plans.identity.fingerprint import fingerprint
from dbsp.sql.plans.own_forms import own_form
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import (
    UNSHOWN,
    Insert,
    Ordered,
    Program,
    Table,
    View,
    identifying_views,
    inputs_of,
)
from dbsp.sql.plans.properties.keys import keys_of
from dbsp.sql.plans.properties.nullability import never_null, with_not_null
from dbsp.sql.plans.properties.promises import to_promise
from dbsp.sql.plans.shown.bounds import bounds
from dbsp.sql.rules import apply_rules
from dbsp.sql.spellings.unfilled import unfilled
from dbsp.sql.text.annotations import LatenessStatement
from dbsp.sql.text.create_function import CreateFunction
from dbsp.sql.text.create_sql_function import CreateSqlFunction
from dbsp.sql.text.create_table import CreateTable
from dbsp.sql.text.create_view import CreateRecursiveView, CreateView
from dbsp.sql.text.emission_clauses import resolved
from dbsp.sql.text.expectations import checked
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements import InsertInto, Statement, has_lateness, statements
from dbsp.sql.text.tokens import Slice

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
        for name, defined in (definitions or {}).items():
            catalyst.define(name, defined)
        written = frozenset(s.target.lower() for s in parsed if isinstance(s, InsertInto))
        scope = Scope(source, catalyst, frozenset(_defined(parsed)), written, reading)
        compiler = Compiler(source, scope)
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
                compiler.recursions.declare(statement)
        for statement in parsed:
            compiler.add(statement)
    return compiler.program()


def _defined(parsed: Iterable[Statement]) -> Iterator[str]:
    """The names of all tables and views of the program."""
    return (s.name for s in parsed if isinstance(s, CreateTable | CreateView | CreateRecursiveView))


@dataclass
class Compiler:
    """Adds statement by statement to a program."""

    source: Source
    scope: Scope
    inserts: list[Insert] = field(default_factory=list)
    recursions: Recursions = field(init=False)
    histories: Histories = field(init=False)
    # the plans of views as they are written, before columns are left out that nothing reads
    written: dict[str, Plan] = field(default_factory=dict)
    queries: dict[str, Query] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.recursions = Recursions(self.scope)
        self.histories = Histories(self.source, self.scope.defined.streams, self.scope.defined.views)

    def program(self) -> Program:
        scope = self.scope
        self.histories.check()
        if scope.shows_key:
            keys = keys_of(scope.defined.tables, scope.defined.views)
            views, written = scope.defined.views, self._written()
            scope.defined.views, self.inserts = with_keys_shown(views, self.inserts, written, keys)
        check_targets(scope.defined.tables.values(), self.inserts, scope.defined.views)
        inputs = inputs_of(scope.defined.tables, self.inserts)
        for name, statement in scope.defined.definitions.items():
            check_mode(self.source, statement, name in inputs)
        for table in inputs.values():
            if table.format is not None:
                check_source(self.source, scope.defined.definitions[table.name], table)
        program = Program(
            self.source.text,
            self.source.name,
            fingerprint(
                scope.catalyst.timezone,
                scope.defined.tables,
                identifying_views(scope.defined.tables, scope.defined.views),
                self.inserts,
            ),
            self.scope.catalyst.timezone,
            self.scope.defined.tables,
            with_not_null(self.scope.defined.views),
            tuple(self.inserts),
            lower(inputs_of(self.scope.defined.tables, self.inserts), self.scope.defined.views),
            tuple(self.scope.functions.declared),
            tuple(self.scope.notes),
            told if (told := unfilled(self.source)) != self.source.text else "",
        )
        self._check_bounded(program)
        return program

    def _check_bounded(self, program: Program) -> None:
        """SET strict = true: Raises ProgramError for state that can grow without bound."""
        if self.scope.strict is None:
            return
        grown = [str(bound) for bound in bounds(program) if not bound.is_bounded]
        if grown:
            message = f"SET strict = true, and {len(grown)} states can grow without bound: {'; '.join(grown)}"
            raise self.source.error(self.scope.strict, message)

    def add(self, statement: Statement) -> None:
        if isinstance(statement, CreateTable):
            add_table(self.scope, statement)
        elif isinstance(statement, CreateView):
            self._view(statement)
        elif isinstance(statement, CreateRecursiveView):
            self.recursions.add(statement)
        elif isinstance(statement, CreateFunction):
            add_function(self.scope, statement)
        elif isinstance(statement, CreateSqlFunction):
            add_sql_function(self.scope, statement)
        elif isinstance(statement, LatenessStatement):
            add_lateness(self.scope, statement)
        elif isinstance(statement, InsertInto):
            self._insert(statement)
        else:
            add_session_statement(self.scope, statement)

    def _view(self, statement: CreateView) -> None:
        self.scope.check_new_name(statement.name, statement.start)
        expected = checked(statement.name, statement.columns, statement.expectations)
        view, dumped = self._query(
            statement.name,
            statement.query,
            statement.kind,
            statement.columns,
            statement.start,
            expected,
            statement.arrival,
            tick=statement.tick,
            grows=statement.grows,
        )
        check_columns(self.scope, view, statement)
        if statement.grows and not view.append_only:
            message = (
                f"streaming table '{view.name}' would take rows back, as its query does; read tables WITH "
                "(append_only = true), or write CREATE MATERIALIZED VIEW"
            )
            raise self.source.error(statement.start, message)
        if statement.emission is not None:
            if view.emits_once:
                message = "rows of SELECT STREAM leave when they are final; leave this, or STREAM, out"
                raise self.source.error(statement.emission.start, message)
            view = replace(view, emission=resolved(self.source, statement.emission, self.scope.microseconds))
        if statement.emit_final is not None and not view.emits_once:
            view = self._final(view, statement.emit_final, statement.start)
        self.scope.defined.views[view.name] = view
        types = [dumped["types"][column[2]] for column in dumped["plan"]["out"]]
        if statement.arrival is not None:
            types.append("long")
        self.scope.catalyst.register(
            view.name,
            [(field.name, type_, field.nullable) for field, type_ in zip(view.schema, types, strict=True)],
        )

    def _final(self, view: View, column: str, start: int) -> View:
        """The view whose rows leave once, when the waterline has passed the column.

        column: its name, or its place, from 0.
        """
        names = [field.name for field in view.schema]
        at = next((i for i, name in enumerate(names) if name.lower() == column.lower()), None)
        if at is None and column.isdecimal() and int(column) < len(names):
            at = int(column)
        if at is None:
            message = f"emit_final: unknown column '{column}' in '{view.name}'; columns: {', '.join(names)}"
            raise self.source.error(start, message + did_you_mean(column, names))
        by = Column(at, view.schema[at].type, view.schema[at].nullable)
        location = self.source.location(start)
        return replace(view, emission=Ordered(None, None, True, location, once=True, by=by))

    def add_query(self, name: str, text: Slice, once: bool = False) -> None:
        """A view of a query, of which nothing else is said. once: see `View.unshown`. Raises ProgramError."""
        view, _ = self._query(name, text, "view", (), text.start, once=once)
        self.scope.defined.views[name] = view

    def _query(
        self,
        name: str,
        text: Slice,
        kind: str,
        columns: Sequence[str],
        start: int,
        expected: Sequence[str | Slice] = (),
        arrival: str | None = None,
        once: bool = False,
        tick: int = 0,
        grows: bool = False,
    ) -> tuple[View, Any]:
        query, dumped = self.scope.dumped(text, name, expected)
        query = replace(query, tick=tick)
        unshown = 0
        if once:
            wide, unshown = widened(query, dumped["plan"])
            more = [f"{UNSHOWN}{i}" for i in range(unshown)]
            dumped = {**dumped, "plan": wide, "names": [*dumped["names"], *more]}
        for early in sorted(relations_in(dumped["plan"]) & self.recursions.undefined):
            raise too_early(self.source, text, early, self.recursions.awaited(early))
        names = columns or dumped["names"]
        check_named(self.scope, text, names)
        if not dumped["names"]:
            raise self.source.error(text.start, f"view '{name}' has no columns; select at least one")
        if len(names) != len(dumped["names"]):
            message = f"view '{name}' lists {len(names)} columns, its query has {len(dumped['names'])}"
            raise self.source.error(start, message)
        written = renamed(plan(query, dumped["plan"]).plan, names)
        if kind != "local":
            check_visible(self.scope, text, name, written.schema)
        if arrival is not None:
            written = numbered_by_arrival(query, dumped["plan"], written, arrival)
        self.written[name], self.queries[name] = written, query
        optimized = apply_rules(written)
        streaming = is_streaming(words_of(self.source, text))
        if streaming:
            streams = self.scope.defined.streams.keys()
            optimized = on_arrival(optimized, streams, self.scope.defined.append_only())
        elif grows or kind == "local":
            optimized = self._arriving(optimized, dumped, text)
        retracts_nothing = optimized.append_only(self.scope.defined.append_only())
        location = self.source.location(start)
        asked = order_of(query, dumped["plan"])
        order = shown_order(query, asked, name, kind, streaming)
        relations = Relations(
            self.scope.defined.streams, self.scope.defined.monotonic(), self.scope.defined.forgetful
        )
        history = check_stream(query, text, optimized, relations, kind, asked, order)
        if streaming:
            self.histories.serve(optimized)
        elif history is False:
            self.histories.add(name, kind, text, optimized)
        if history is not None:
            self.scope.defined.streams[name] = history
        if optimized.forgets(self.scope.defined.forgetful):
            self.scope.defined.forgetful.add(name)
        emission = None if kind == "local" else emission_of_stream(self.source, text, retracts_nothing, order)
        view = View(
            name,
            written.schema,  # rules keep its columns, not all that is known of them
            kind,
            optimized,
            retracts_nothing,
            location,
            emission=emission,
            order=order,
            unshown=unshown,
            tick=tick,
        )
        return view, dumped

    def _arriving(self, plan: Plan, dumped: Any, text: Slice) -> Plan:
        """The plan of what reads relations by STREAM(…). Raises ProgramError."""
        streamed = frozenset(dumped.get("streamed", ()))
        if not streamed:
            return plan
        for name in dumped["twice"]:
            message = f"not supported yet: '{name}' is read by STREAM and without in one query"
            raise self.source.error(text.start, message)
        plan = on_arrival(plan, streamed, self.scope.defined.append_only(), as_it_is=True)
        later = follows(plan, streamed)
        if later is not None:
            raise self.source.error(
                text.start,
                f"not supported yet: rows of a stream meet '{later}', read without STREAM, other than by an "
                "inner, left, semi or anti join, with the stream on the left; write such a join",
            )
        return plan

    def _insert(self, statement: InsertInto) -> None:
        target = find_target(self.source, statement, self.scope.defined.tables, self.scope.defined.views)
        definition = self.scope.defined.definitions[target.name]
        check_sink(self.source, definition, target)
        if definition.partitioned is not None and (target.is_file or own_form(target.format) is not None):
            why = "each step is one directory; leave it out"
            if not target.is_file:
                why = "make the table with its partitions, and leave it out here"
            message = f"not supported yet: PARTITIONED BY of '{target.name}', which is written: {why}"
            raise self.source.error(definition.partitioned, message)
        check_upsert(self.source, statement, target)
        view = self._inserted_view(statement)
        if statement.upsert:
            view = self._upserted(statement, view, target)
        statement = by_name(statement, view)
        keys = keys_of(self.scope.defined.tables, self.scope.defined.views)
        statement, view, unselected = with_hidden_key(
            statement,
            view,
            self.written.get(view.name),
            self._written(),
            keys,
            target,
            self._name_of(statement),
        )
        self.scope.defined.views[view.name] = view
        key = keys_of(self.scope.defined.tables, self.scope.defined.views)[view.name]
        filled = never_null(view, self.scope.defined.views)
        promise = to_promise(view, self.scope.defined.tables, self.scope.defined.views)
        self.inserts.append(
            fitted(self.source, statement, view, key, target, self.inserts, filled, promise, unselected)
        )

    def _upserted(self, statement: InsertInto, view: View, target: Table) -> View:
        """The view, or of each of the target's keys the row of it that came last."""
        key = keys_of(self.scope.defined.tables, self.scope.defined.views)[view.name]
        if not has_several(self.source, statement, view, key, target):
            return view
        name = self._name_of(statement)
        if view.name != name and view.emission is None:
            self.add_query(name, statement.query)
            view = self.scope.defined.views[name]
        query = self.queries[view.name]
        return last_of_each_key(self.source, statement, view, query, key, target)

    def _written(self) -> dict[str, Plan]:
        """The plans of the views that are their plans' rows."""
        exact = self.scope.defined.exact_views()
        return {name: plan for name, plan in self.written.items() if name in exact}

    def _inserted_view(self, statement: InsertInto) -> View:
        """The view itself for `SELECT * FROM view`, else an anonymous one of the query."""
        words = statement.query.text.replace("`", "").split()
        if [word.upper() for word in words[:3]] == ["SELECT", "*", "FROM"] and len(words) == 4:
            for view in self.scope.defined.views.values():
                if view.name.lower() == words[3].lower() and view.kind != "local":
                    return view
        name = self._name_of(statement)
        self.add_query(name, statement.query)
        return self.scope.defined.views[name]

    def _name_of(self, statement: InsertInto) -> str:
        """Of a view that only the statement reads."""
        number = sum(insert.target.lower() == statement.target.lower() for insert in self.inserts) + 1
        return f"insert into {statement.target}" + (f" #{number}" if number > 1 else "")
