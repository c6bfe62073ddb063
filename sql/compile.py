"""The compiler: statements → Catalyst's plans → rules → a circuit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from circuits.errors import ProgramError
from circuits.expressions.nodes import Column
from circuits.operators.late import LATE_ROWS
from circuits.waterline import Amount
from sql.annotations import (
    LatenessClause,
    LatenessStatement,
    check_ordered,
    constant_value,
    lateness_amount,
    not_constant,
)
from sql.append_only import append_only
from sql.canonical import canonical_text
from sql.catalyst import Catalyst, compile_session
from sql.catalyst.errors import spark_error
from sql.catalyst.plans import normalized_columns, plan
from sql.catalyst.query import Query
from sql.emission import resolved
from sql.inserts import check_fits, check_not_read, find_target
from sql.late_rows import LATE_TYPES, annotated_view, late_rows_view
from sql.lower import lower
from sql.plan import Distinct, Field, Plan, Project, Schema
from sql.program import ColumnLateness, Insert, Program, Table, View
from sql.recursion import check_declared, complete_components, reached, relations_in, too_early
from sql.rules import apply_rules
from sql.source import Source
from sql.statements import (
    CreateRecursiveView,
    CreateTable,
    CreateView,
    InsertInto,
    Statement,
    has_lateness,
    statements,
)
from sql.streams import Monotonic, Relations, annotated, check_stream, monotonic
from sql.tokens import Slice
from sql.types import UnsupportedType, arrow_type
from sql.windows import in_sparks_spelling

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def compile_source(source: Source, session: SparkSession | None) -> Program:
    """Raises ProgramError at the first thing that is wrong."""
    parsed = statements(source)
    if not any(isinstance(statement, CreateView | CreateRecursiveView) for statement in parsed):
        raise source.error(0, "the program defines no view; add CREATE VIEW name AS SELECT ...")
    with nullcontext(session) if session is not None else compile_session() as spark:
        # a program means the same whichever session happens to be active
        catalyst = Catalyst(spark, None if session is not None else "UTC")
        compiler = _Compiler(source, catalyst, frozenset(_defined(parsed)))
        if any(map(has_lateness, parsed)):
            compiler.declare_late_rows()
        for statement in parsed:
            if isinstance(statement, CreateRecursiveView):
                compiler.declare(statement)
        for statement in parsed:
            compiler.add(statement)
    return compiler.program()


def _defined(parsed: Iterable[Statement]) -> Iterator[str]:
    """The names of all tables and views of the program."""
    return (s.name for s in parsed if isinstance(s, CreateTable | CreateView | CreateRecursiveView))


@dataclass
class _Compiler:
    source: Source
    catalyst: Catalyst
    names: frozenset[str]
    tables: dict[str, Table] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    inserts: list[Insert] = field(default_factory=list)
    # of every stream, whether its history may be read
    streams: dict[str, bool] = field(default_factory=dict)
    # recursive views of the whole program, and those that wait for others: with what Catalyst says of them
    declared: dict[str, Schema] = field(default_factory=dict)
    waiting: dict[str, tuple[CreateRecursiveView, Query, Any]] = field(default_factory=dict)

    def program(self) -> Program:
        check_not_read(self.inserts, self.views)
        fingerprint = hashlib.sha256(
            canonical_text((self.catalyst.timezone, self.tables, self.views, self.inserts)).encode()
        ).hexdigest()
        return Program(
            self.source.text,
            self.source.name,
            fingerprint,
            self.catalyst.timezone,
            self.tables,
            self.views,
            tuple(self.inserts),
            lower(self.tables, self.views),
        )

    def add(self, statement: Statement) -> None:
        if isinstance(statement, CreateTable):
            self._table(statement)
        elif isinstance(statement, CreateView):
            self._view(statement)
        elif isinstance(statement, CreateRecursiveView):
            self._recursive_view(statement)
        elif isinstance(statement, LatenessStatement):
            self._lateness(statement)
        else:
            self._insert(statement)

    # ---- tables

    def _table(self, statement: CreateTable) -> None:
        self._check_new_name(statement.name, statement.start)
        names = {column.name.lower(): column.name for column in statement.columns}
        for key in statement.primary_key:
            if key.lower() not in names:
                raise self.source.error(
                    statement.start,
                    f"PRIMARY KEY of '{statement.name}' names an unknown column '{key}'; "
                    f"columns: {', '.join(names.values())}",
                )
        keys = tuple(names[key.lower()] for key in statement.primary_key)
        fields, spark = self._columns_of(statement, keys)
        lateness = [
            self._column_lateness(column.lateness, at, fields[at])
            for at, column in enumerate(statement.columns)
            if column.lateness is not None
        ]
        self.tables[statement.name] = Table(
            statement.name,
            fields,
            keys,
            statement.properties.get("append_only", False),
            statement.properties.get("unchecked", False),
            statement.format,
            statement.options,
            self.source.location(statement.start),
            tuple(lateness),
            tuple(column.name for column in statement.columns if column.constant_domain),
        )
        if statement.is_stream:
            self.streams[statement.name] = statement.properties.get("materialized", False)
        self.catalyst.register(statement.name, spark)

    def _columns_of(
        self, statement: CreateTable | CreateRecursiveView, keys: Sequence[str] = ()
    ) -> tuple[Schema, list[tuple[str, Any, bool]]]:
        """The columns as ours, and as Catalyst's."""
        fields: list[Field] = []
        spark: list[tuple[str, Any, bool]] = []
        for column in statement.columns:
            type_ = self._column_type(column.type)
            nullable = not (column.not_null or column.name in keys)
            spark.append((column.name, type_, nullable))
            try:
                fields.append(Field(column.name, arrow_type(type_), nullable))
            except UnsupportedType as error:
                message = f"column '{column.name}' of '{statement.name}': type {error} is not supported yet"
                raise self.source.error(column.type.start, message) from None
        return tuple(fields), spark

    # ---- lateness

    def declare_late_rows(self) -> None:
        """The system view of what arrived too late, for the program's own views to read."""
        self.views[LATE_ROWS] = late_rows_view()
        self.catalyst.register(LATE_ROWS, [(name, type_, False) for name, type_ in LATE_TYPES])

    def _lateness(self, statement: LatenessStatement) -> None:
        view = annotated_view(self.source, statement, self.views)
        if view.component:
            raise self.source.error(
                statement.start, f"not supported yet: LATENESS of '{view.name}': recursive"
            )
        names = [column.name.lower() for column in view.schema]
        at = names.index(statement.column.lower())
        if any(one.column == at for one in view.lateness):
            message = f"column '{view.schema[at].name}' of '{view.name}' has a LATENESS already"
            raise self.source.error(statement.start, message)
        lateness = self._column_lateness(statement.clause, at, view.schema[at])
        self.views[view.name] = replace(view, lateness=(*view.lateness, lateness))

    def _column_lateness(self, clause: LatenessClause, at: int, column: Field) -> ColumnLateness:
        jump = None if clause.jump is None else self._amount(clause.jump, column, "MAX JUMP")
        if clause.percentile is None:
            return ColumnLateness(at, self._amount(clause.amount, column, "lateness"), jump)
        check_ordered(self.source, clause.amount, column.type)
        return ColumnLateness(at, 0, jump, clause.percentile)

    def _amount(self, text: Slice, column: Field, what: str) -> Amount:
        constant = self._constant(text)
        if constant is None:
            raise not_constant(self.source, text)
        return lateness_amount(self.source, text, constant, column.type, what)

    def _microseconds(self, text: Slice) -> int:
        constant = self._constant(text)
        value = None if constant is None else constant_value(constant)
        if not isinstance(value, timedelta):
            message = (
                f"'{text.text}' is no constant of fixed length; write an interval, as INTERVAL 5 MINUTES"
            )
            raise self.source.error(text.start, message)
        return value // timedelta(microseconds=1)

    def _constant(self, text: Slice) -> Plan | None:
        """The plan of `SELECT text`; None where Spark can't read that."""
        dumped = self.catalyst.query(f"SELECT {text.text}")
        if "error" in dumped:
            return None
        try:
            return plan(Query(self.source, text, dumped["types"]), dumped["plan"]).plan
        except ProgramError:
            return None

    def _column_type(self, text: Slice) -> Any:
        type_ = self.catalyst.column_type(text.text)
        if isinstance(type_, dict) and "error" in type_:
            raise spark_error(self.source, text, type_["error"], {})
        return type_

    def _check_new_name(self, name: str, start: int) -> None:
        if name.lower() == LATE_ROWS:
            message = (
                f"'{name}' is the system's view of what comes too late for a LATENESS; choose another name"
            )
            raise self.source.error(start, message)
        for other in self._relations():
            if other.name.lower() == name.lower():
                raise self.source.error(start, f"'{name}' is already defined at {other.location}")

    # ---- views

    def _view(self, statement: CreateView) -> None:
        self._check_new_name(statement.name, statement.start)
        view, dumped = self._query(
            statement.name, statement.query, statement.kind, statement.columns, statement.start
        )
        self._check_columns(view, statement)
        if statement.emission is not None:
            view = replace(view, emission=resolved(self.source, statement.emission, self._microseconds))
        self.views[view.name] = view
        types = [dumped["types"][column[2]] for column in dumped["plan"]["out"]]
        self.catalyst.register(
            view.name,
            [(field.name, type_, field.nullable) for field, type_ in zip(view.schema, types, strict=True)],
        )

    def _query(
        self, name: str, text: Slice, kind: str, columns: Sequence[str], start: int
    ) -> tuple[View, Any]:
        query, dumped = self._dumped(text)
        for early in sorted(relations_in(dumped["plan"]) & self.declared.keys() - self.views.keys()):
            raise too_early(self.source, text, early, self._awaited(early))
        names = columns or dumped["names"]
        if len(names) != len(dumped["names"]):
            message = f"view '{name}' lists {len(names)} columns, its query has {len(dumped['names'])}"
            raise self.source.error(start, message)
        optimized = apply_rules(_renamed(plan(query, dumped["plan"]).plan, names))
        retracts_nothing = append_only(optimized, self._append_only())
        location = self.source.location(start)
        relations = Relations(self.streams, self._monotonic())
        if check_stream(self.source, text, optimized, relations, kind, retracts_nothing):
            self.streams[name] = kind != "local"
        return View(name, optimized.schema, kind, optimized, retracts_nothing, location), dumped

    def _dumped(self, text: Slice) -> tuple[Query, Any]:
        """What Catalyst says of a query. Raises ProgramError where it, or we, can't have it in a view."""
        text = in_sparks_spelling(self.source, text, self._microseconds)
        dumped = self.catalyst.query(text.text)
        if "error" in dumped:
            raise spark_error(self.source, text, dumped["error"], self._columns(), self.names)
        query = Query(self.source, text, dumped["types"], self.catalyst.timezone)
        for node in dumped["forbidden"]:
            raise query.error(node, f"{node['name']}() {node['why']}: not supported yet in a view")
        return query, dumped

    def _check_columns(self, view: View, statement: CreateView) -> None:
        seen: set[str] = set()
        for column in view.schema:
            if column.name.lower() in seen:
                message = f"view '{view.name}' has two columns '{column.name}'; rename one with AS"
                raise self.source.error(statement.query.start, message)
            seen.add(column.name.lower())
            if column.type == pa.null():
                message = f"column '{column.name}' of view '{view.name}' is always NULL of no type; CAST it"
                raise self.source.error(statement.query.start, message)

    def _columns(self) -> dict[str, list[str]]:
        return {relation.name: [column.name for column in relation.schema] for relation in self._relations()}

    def _monotonic(self) -> dict[str, Monotonic]:
        """The monotonic columns of all tables and views so far."""
        found: dict[str, Monotonic] = {}
        for relation in self._relations():
            below = monotonic(relation.plan, found) if isinstance(relation, View) else {}
            found[relation.name] = {**below, **annotated(relation)}
        return found

    def _append_only(self) -> dict[str, bool]:
        """An upsert of a present key retracts its old row, whatever the table allows its users."""
        tables = {t.name: t.append_only and not t.primary_key for t in self.tables.values()}
        return tables | {view.name: view.append_only for view in self.views.values()}

    def _relations(self) -> list[Table | View]:
        return [*self.tables.values(), *self.views.values()]

    # ---- recursive views

    def declare(self, statement: CreateRecursiveView) -> None:
        """Let the queries of all recursive views read it, those above it too."""
        self.declared[statement.name], spark = self._columns_of(statement)
        self.catalyst.register(statement.name, spark)

    def _recursive_view(self, statement: CreateRecursiveView) -> None:
        self._check_new_name(statement.name, statement.start)
        self.waiting[statement.name] = (statement, *self._dumped(statement.query))
        for component in complete_components(self._reads()):
            if component[0] in self.waiting:
                self._complete(component)

    def _reads(self) -> dict[str, set[str]]:
        """Which recursive views those read that have been defined and wait."""
        declared = self.declared.keys() - self.views.keys()
        return {
            name: relations_in(dumped["plan"]) & declared for name, (_, _, dumped) in self.waiting.items()
        }

    def _awaited(self, name: str) -> set[str]:
        """The recursive views that must be defined before this one can be read."""
        reads = self._reads()
        return reached(name, reads) - reads.keys() if name in reads else {name}

    def _complete(self, component: tuple[str, ...]) -> None:
        """All that these views depend on is there."""
        reads = self._reads()
        recursive = frozenset(component) if reads[component[0]] & {*component} else frozenset[str]()
        made = []
        for name in component:
            statement, query, dumped = self.waiting.pop(name)
            query = replace(query, recursive=recursive)
            rows = plan(query, dumped["plan"]).plan
            check_declared(self.source, name, statement.query, self.declared[name], rows)
            rows = normalized_columns(query, dumped["plan"], rows)
            columns = [column.name for column in self.declared[name]]
            optimized = apply_rules(Distinct(_renamed(rows, columns)))
            location = self.source.location(statement.start)
            made.append(
                View(
                    name,
                    self.declared[name],
                    statement.kind,
                    optimized,
                    True,
                    location,
                    component=tuple(sorted(recursive)),
                    max_iterations=statement.max_iterations,
                )
            )
        assumed = self._append_only() | dict.fromkeys(component, True)
        retracts_nothing = all(append_only(view.plan, assumed) for view in made)
        self.views |= {view.name: replace(view, append_only=retracts_nothing) for view in made}

    # ---- inserts

    def _insert(self, statement: InsertInto) -> None:
        target = find_target(self.source, statement, self.tables, self.views)
        view = self._inserted_view(statement)
        check_fits(self.source, statement, view, target)
        self.inserts.append(Insert(target.name, view.name, self.source.location(statement.start)))

    def _inserted_view(self, statement: InsertInto) -> View:
        """The view itself for `SELECT * FROM view`, else an anonymous one of the query."""
        words = statement.query.text.replace("`", "").split()
        if [word.upper() for word in words[:3]] == ["SELECT", "*", "FROM"] and len(words) == 4:
            for view in self.views.values():
                if view.name.lower() == words[3].lower() and view.kind != "local":
                    return view
        number = sum(insert.target.lower() == statement.target.lower() for insert in self.inserts) + 1
        name = f"insert into {statement.target}" + (f" #{number}" if number > 1 else "")
        view, _ = self._query(name, statement.query, "view", (), statement.query.start)
        self.views[name] = view
        return view


def _renamed(input_: Plan, names: Sequence[str]) -> Plan:
    """The plan under the user's column names."""
    if tuple(names) == tuple(column.name for column in input_.schema):
        return input_
    schema: Schema = tuple(
        Field(name, column.type, column.nullable) for name, column in zip(names, input_.schema, strict=True)
    )
    columns = tuple(Column(i, column.type, column.nullable) for i, column in enumerate(input_.schema))
    return Project(input_, columns, schema)
