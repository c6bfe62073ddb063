"""What a program has defined so far, and what its texts mean to Catalyst in the light of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.circuits.operators.inputs.late import LATE_ROWS
from dbsp.sql.catalyst import Catalyst
from dbsp.sql.catalyst.plans import plan
from dbsp.sql.catalyst.reading.clock import inlined
from dbsp.sql.catalyst.reading.errors import spark_error
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.compiler.streams import Monotonic, annotated, monotonic
from dbsp.sql.plans.declared import Declared
from dbsp.sql.plans.plan import Plan, Project
from dbsp.sql.plans.program import Table, View
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.plans.types import UnsupportedType, arrow_type
from dbsp.sql.spellings.spark_spelling import in_sparks_spelling
from dbsp.sql.spellings.system_time import version_time_of
from dbsp.sql.text.annotations import constant_value
from dbsp.sql.text.create_table import CreateTable
from dbsp.sql.text.create_view import CreateRecursiveView
from dbsp.sql.text.extensions import SPECIAL_TIME
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice


@dataclass
class Scope:
    """names: of all relations of the program, also of those that come later.

    streams: of every stream, whether its history may be read. forgetful: relations whose rows leave by the
    clock. functions: those written in Python, by name in lower case. recorded: those of modules, as they
    were. declared: those whose code isn't in the text. looked_into: views whose plans are part of others'.
    definitions: of the tables.
    """

    source: Source
    catalyst: Catalyst
    names: frozenset[str]
    tables: dict[str, Table] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    streams: dict[str, bool] = field(default_factory=dict)
    forgetful: set[str] = field(default_factory=set)
    functions: dict[str, PythonFunction] = field(default_factory=dict)
    recorded: dict[str, PythonFunction] = field(default_factory=dict)
    declared: list[Declared] = field(default_factory=list)
    looked_into: set[str] = field(default_factory=set)
    definitions: dict[str, CreateTable] = field(default_factory=dict)

    # ---- what there is

    def arriving(self) -> frozenset[str]:
        """The tables whose rows have an order of arrival: none of those whose weights may be negative."""
        return frozenset(t.name for t in self.tables.values() if t.primary_key or not t.unchecked)

    def exact_views(self) -> dict[str, Plan]:
        """The views that are their plans' rows: of others, late ones are left out."""
        views = [view for view in self.views.values() if not view.component and not view.lateness]
        return {view.name: view.plan for view in views if view.name != LATE_ROWS}

    def function_names(self) -> list[str]:
        return [function.name for function in self.functions.values()]

    def columns(self) -> dict[str, list[str]]:
        return {relation.name: [column.name for column in relation.schema] for relation in self.relations()}

    def monotonic(self) -> dict[str, Monotonic]:
        """The monotonic columns of all tables and views so far."""
        found: dict[str, Monotonic] = {}
        for relation in self.relations():
            below = monotonic(relation.plan, found) if isinstance(relation, View) else {}
            found[relation.name] = {**below, **annotated(relation)}
        return found

    def append_only(self) -> dict[str, bool]:
        """An upsert of a present key retracts its old row, whatever the table allows its users."""
        tables = {t.name: t.append_only and not t.primary_key for t in self.tables.values()}
        return tables | {view.name: view.append_only for view in self.views.values()}

    def relations(self) -> list[Table | View]:
        return [*self.tables.values(), *self.views.values()]

    def check_new_name(self, name: str, start: int) -> None:
        if name.lower() == LATE_ROWS:
            message = (
                f"'{name}' is the system's view of what comes too late for a LATENESS; choose another name"
            )
            raise self.source.error(start, message)
        for other in self.relations():
            if other.name.lower() == name.lower():
                raise self.source.error(start, f"'{name}' is already defined at {other.location}")

    # ---- what a text means

    def dumped(self, text: Slice, own: str = "") -> tuple[Query, Any]:
        """What Catalyst says of a query. own: the name of the view that it is of.

        Raises ProgramError where it, or we, can't have it in a view.
        """
        text = in_sparks_spelling(self.source, text, self.microseconds, self.version_time)
        dumped = self.catalyst.query(text.text)
        if "error" in dumped:
            raise spark_error(
                self.source, text, dumped["error"], self.columns(), self.names, self.function_names(), own
            )
        query = Query(
            self.source,
            text,
            dumped["types"],
            self.catalyst.timezone,
            functions=self.functions,
            arriving=self.arriving(),
            views=self.exact_views(),
            looked_into=self.looked_into,
        )
        for node in dumped["forbidden"]:
            if node["why"] == "special":
                raise query.error(node, f"{node['name']} {SPECIAL_TIME}")
            raise query.error(node, f"{node['name']}() {node['why']}: not supported yet in a view")
        return query, {**dumped, "plan": inlined(dumped["plan"])}

    def constant(self, text: Slice) -> Plan | None:
        """The plan of `SELECT text`; None where Spark can't read that."""
        dumped = self.catalyst.query(f"SELECT {text.text}")
        if "error" in dumped:
            return None
        try:
            return plan(Query(self.source, text, dumped["types"]), dumped["plan"]).plan
        except ProgramError:
            return None

    def microseconds(self, text: Slice) -> int:
        constant = self.constant(text)
        value = None if constant is None else constant_value(constant)
        if not isinstance(value, timedelta):
            message = (
                f"'{text.text}' is no constant of fixed length; write an interval, as INTERVAL 5 MINUTES"
            )
            raise self.source.error(text.start, message)
        return value // timedelta(microseconds=1)

    def version_time(self, name: str, place: int) -> str:
        """The column of a table or view that says since when a row is valid."""
        for relation in self.relations():
            if relation.name.lower() == name.lower():
                return version_time_of(self.source, relation, place)
        listed = ", ".join(relation.name for relation in self.relations())
        raise self.source.error(
            place, f"FOR SYSTEM_TIME AS OF '{name}', which isn't known; there are: {listed}"
        )

    def column_type(self, text: Slice) -> Any:
        type_ = self.catalyst.column_type(text.text)
        if isinstance(type_, dict) and "error" in type_:
            raise spark_error(self.source, text, type_["error"], {})
        return type_

    def columns_of(
        self, statement: CreateTable | CreateRecursiveView, keys: Sequence[str] = ()
    ) -> tuple[Schema, list[tuple[str, Any, bool]]]:
        """The columns as ours, and as Catalyst's."""
        fields: list[Field] = []
        spark: list[tuple[str, Any, bool]] = []
        for column in statement.columns:
            type_ = self.column_type(column.type)
            nullable = not (column.not_null or column.name in keys or column.default is not None)
            spark.append((column.name, type_, nullable))
            try:
                fields.append(Field(column.name, arrow_type(type_), nullable))
            except UnsupportedType as error:
                message = f"column '{column.name}' of '{statement.name}': type {error} is not supported yet"
                raise self.source.error(column.type.start, message) from None
        return tuple(fields), spark


def renamed(input_: Plan, names: Sequence[str]) -> Plan:
    """The plan under the user's column names."""
    if tuple(names) == tuple(column.name for column in input_.schema):
        return input_
    schema: Schema = tuple(
        Field(name, column.type, column.nullable) for name, column in zip(names, input_.schema, strict=True)
    )
    columns = tuple(Column(i, column.type, column.nullable) for i, column in enumerate(input_.schema))
    return Project(input_, columns, schema)
