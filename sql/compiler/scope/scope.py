"""What the texts of a program mean to Catalyst, in the light of what it has defined so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from dbsp.circuits.columns.variants.type import holds_variant
from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.operators.inputs.late import LATE_ROWS
from dbsp.sql.catalyst import Catalyst
from dbsp.sql.catalyst.plans import plan
from dbsp.sql.catalyst.reading.clock import inlined
from dbsp.sql.catalyst.reading.errors import forbidden, spark_error
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.compiler.functions.known import Functions
from dbsp.sql.compiler.scope.defined import ROW_ID, ROWTIME, Defined
from dbsp.sql.plans.collations import by_bytes, collated, kept_type, with_collation
from dbsp.sql.plans.nodes import Project
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.plans.types import UnsupportedType, coarse_time
from dbsp.sql.spellings.intervals import in_singular
from dbsp.sql.spellings.spark_spelling import in_sparks_spelling
from dbsp.sql.spellings.system_time import version_time_of
from dbsp.sql.spellings.type_names import spelled_column_type
from dbsp.sql.text.annotations import constant_value
from dbsp.sql.text.extensions import SPECIAL_TIME
from dbsp.sql.text.literals.shape import Shape
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.create_table import CreateTable
from dbsp.sql.text.statements.create_view import CreateRecursiveView
from dbsp.sql.text.tokens import Slice


@dataclass
class Scope:
    """names: of all relations of the program, also of those that come later. written: in lower case, the
    tables that something is inserted into. reading: only to read what its views hold, so that none of its
    code runs. notes: what of the text says nothing here. strict: where it says that state must be bounded.
    shows_key: see `sql/compiler/keys/shown.py`.
    shape: of a query whose literals may become parameters; then `parameters` are those that did.
    constants: of the session that are read, by their functions.
    """

    source: Source
    catalyst: Catalyst
    names: frozenset[str]
    written: frozenset[str]
    reading: bool = False
    defined: Defined = field(default_factory=Defined)
    functions: Functions = field(default_factory=Functions)
    notes: list[str] = field(default_factory=list)
    strict: int | None = None
    shows_key: bool = False
    shape: Shape | None = None
    parameters: Mapping[str, Sequence[int]] | None = None
    constants: set[str] = field(default_factory=set)

    def check_new_name(self, name: str, start: int) -> None:
        taken = {
            LATE_ROWS: "what comes too late for a LATENESS",
            BAD_ROWS: "what is no row of a source's table",
        }
        if name.lower() in taken:
            message = f"'{name}' is the system's view of {taken[name.lower()]}; choose another name"
            raise self.source.error(start, message)
        for other in self.defined.relations():
            if other.name.lower() == name.lower():
                raise self.source.error(start, f"'{name}' is already defined at {other.location}")

    def dumped(
        self, text: Slice, own: str = "", checked: Sequence[str | Slice] = (), before: str = "SELECT * FROM ("
    ) -> tuple[Query, Any]:
        """What Catalyst says of a query. own: the name of the view that it is of. checked: what follows
        `before` and the query, of what its rows must be.

        Raises ProgramError where it, or we, can't have it in a view.
        """
        text = in_sparks_spelling(self.source, text, self.microseconds, self.version_time, checked, before)
        # a text that was spelled anew has its literals elsewhere
        shape = None if text.made_of else self.shape
        asked = () if shape is None else (shape.described, shape.words)
        if self.defined.beside:
            lower = text.text.lower()
            named = frozenset(name for name in (ROWTIME, ROW_ID) if name in lower)
            self.catalyst.number(self.defined.numbered(named))
        dumped = self.catalyst.query(text.text, *asked)
        if "error" in dumped:
            raise spark_error(
                self.source,
                text,
                dumped["error"],
                self.defined.columns(),
                self.names,
                self.functions.names(),
                own,
                self.reading,
            )
        query = Query(
            self.source,
            text,
            dumped["types"],
            self.catalyst.timezone,
            functions=self.functions.by_name,
            arriving=self.defined.arriving(),
            relations={relation.name: relation.schema for relation in self.defined.relations()},
            views=self.defined.exact_views(),
            looked_into=self.defined.looked_into,
            portable=self.catalyst.portable,
        )
        if shape is not None:
            query = replace(query, shown=shape.shown)
            self.parameters = dumped["parameters"]
        for node in dumped["forbidden"]:
            if node["why"] == "special":
                raise query.error(node, f"{node['name']} {SPECIAL_TIME}")
            message = forbidden(node["name"].lower(), node["why"], query.spelled(node))
            raise query.error(node, message)
        self.constants.update(dumped.get("constants", ()))
        return query, {**dumped, "plan": inlined(dumped["plan"])}

    def constant(self, text: Slice) -> Plan | None:
        """The plan of `SELECT text`; None where Spark can't read that."""
        dumped = self.catalyst.query(f"SELECT {in_singular(self.source, text).text}")
        if "error" in dumped or dumped["plan"] is None:
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
        for relation in self.defined.relations():
            if relation.name.lower() == name.lower():
                return version_time_of(self.source, relation, place)
        listed = ", ".join(relation.name for relation in self.defined.relations())
        raise self.source.error(
            place, f"FOR SYSTEM_TIME AS OF '{name}', which isn't known; there are: {listed}"
        )

    def column_type(self, text: Slice) -> Any:
        text = spelled_column_type(self.source, text)
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
            if column.collation is not None:
                text = self.catalyst.column_type(f"STRING COLLATE {column.collation.text}")
                if isinstance(text, dict):
                    raise spark_error(self.source, column.collation, text["error"], {})
                type_ = with_collation(type_, text)
            nullable = not (column.not_null or column.name in keys or column.default is not None)
            spark.append((column.name, type_, nullable))
            what = f"column '{column.name}' of '{statement.name}'"
            try:
                kept = kept_type(type_)
                fields.append(Field(column.name, kept, nullable, collated=collated(type_)))
            except UnsupportedType as error:
                message = f"{what}: type {error} is not supported yet"
                raise self.source.error(column.type.start, message) from None
            if isinstance(statement, CreateTable) and (coarse := coarse_time(type_)):
                cure = f"nothing cuts what comes in; declare TIME, and CAST it AS {coarse.upper()} in a view"
                raise self.source.error(column.type.start, f"{what} is {coarse.upper()}: {cure}")
            is_recursive = isinstance(statement, CreateRecursiveView)
            if not by_bytes(fields[-1].collated) and (column.name in keys or is_recursive):
                use, one = ("of the PRIMARY KEY", "key") if column.name in keys else ("of a recursion", "row")
                message = (
                    f"{what} has a collation, by which texts that differ are one {one}, and is {use}; "
                    f"declare STRING, and say {column.name} COLLATE name where it is compared"
                )
                raise self.source.error(column.type.start, message)
            # Spark compares no two of them
            if holds_variant(fields[-1].type) and (
                column.name in keys or isinstance(statement, CreateRecursiveView)
            ):
                use = "be in a PRIMARY KEY" if column.name in keys else "make rows of a recursion distinct"
                message = f"{what} is a VARIANT, which can't {use}; take what is in it, as v:id::BIGINT"
                raise self.source.error(column.type.start, message)
        return tuple(fields), spark


def renamed(input_: Plan, names: Sequence[str]) -> Plan:
    """The plan under the user's column names."""
    if tuple(names) == tuple(column.name for column in input_.schema):
        return input_
    schema: Schema = tuple(
        replace(column, name=name) for name, column in zip(names, input_.schema, strict=True)
    )
    columns = tuple(Column(i, column.type, column.nullable) for i, column in enumerate(input_.schema))
    return Project(input_, columns, schema)
