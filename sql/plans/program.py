"""A compiled program: what `dbsp` runs. Plain values: picklable, comparable, free of Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import ProgramError, did_you_mean
from dbsp.circuits.expressions.nodes import Expression, columns_of
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.operators.inputs.late import LATE_ROWS
from dbsp.circuits.progress.percentile import Percentile
from dbsp.circuits.progress.waterline import Amount
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Schema

if TYPE_CHECKING:
    from dbsp.circuits.operators.inputs.defaults import Default
    from dbsp.circuits.operators.inputs.rules import Check, Formula
    from dbsp.sql.plans.declared import Declared


# Shapes of a changelog: rows that are only added, rows with weights, per key its row or its deletion.
SHAPES = ("append", "retract", "upsert")
# What WITH (changelog = '...') takes: of a source also what others write of their changes.
DEBEZIUM, MAXWELL, CHANGE_FEED = "debezium", "maxwell", "change-data-feed"
CHANGELOGS = (*SHAPES, DEBEZIUM, MAXWELL, CHANGE_FEED)
# A record has rows within a row.
ENVELOPES = frozenset({DEBEZIUM, MAXWELL})
# Views that the system defines, for the program's own to read.
SYSTEM_VIEWS = frozenset({LATE_ROWS, BAD_ROWS})
# What WITH (format = '...') takes: how a message's value, or its key, holds columns.
MESSAGE_FORMATS = ("json", "csv", "raw", "avro", "protobuf")
# What a record of a changelog did: inserted a row, or a key's row; replaced, or deleted it.
OP, INSERTED, UPDATED, DELETED = "__op", "I", "U", "D"
STEP = "__step"
# columns of a query that is asked once, by which it is ordered and which it doesn't show
UNSHOWN = "__order"
# Formats of files under a path, in lower case.
FILE_FORMATS = frozenset({"csv", "json", "parquet", "orc", "text", "xml", "avro", "binaryfile"})
# Written by a function of the user's.
PYTHON = "python"
# Read by calamine, whole.
EXCEL = "excel"
# a table of the session's catalogue, which may be Hive's
HIVE = "hive"
# Those that Spark has without any package; in lower case.
BUILT_IN = (FILE_FORMATS - {"avro"}) | {
    "console",
    "jdbc",
    "noop",
    "rate",
    "rate-micro-batch",
    "socket",
}


@dataclass(frozen=True, slots=True)
class ColumnLateness:
    """amount, jump: in the units of `dbsp.circuits.progress.waterline`. percentile: instead of an amount."""

    column: int
    amount: Amount
    jump: Amount | None
    percentile: Percentile | None = None
    decreasing: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """format: of USING, or None: fed from the API, the CLI or a replay file.

    constant_domain: the columns whose set of values does not grow. changelog: of a target the shape that what
    is inserted has, of `SHAPES`, or None: as its columns say; of a source what its records are, of
    `CHANGELOGS`, or None: rows that are inserted. defaults: what rows have where they are given no value;
    such a column is never NULL. records: the columns of a source whose rows carry changes, in order: the
    table's own, and those that say what a row does. is_snapshot: its source is read whole at every step,
    or when snapshot_every, in microseconds, has gone by since it was.
    keeps_bad_rows: what is no row of it goes to `bad_rows`, until there are more than max_bad_rows of them.
    value_format, key_format: of messages, of `MESSAGE_FORMATS`; None: what USING says holds the columns.
    says_keep: it is said, and not the default. idle_timeout: after how many microseconds without a row its
    waterlines follow those of others; 0: never. in_transactions: of a target's messages, exactly once.
    schema_registry: where the schemas of messages are, whose numbers stand before them.
    watermarks: by which rows wait until later ones have come by so much. formulas: columns that are computed
    of the others. checks: what must be so of each row.
    """

    name: str
    schema: Schema
    primary_key: tuple[str, ...]
    append_only: bool
    unchecked: bool
    format: str | None
    options: dict[str, str]
    location: str
    lateness: tuple[ColumnLateness, ...] = ()
    constant_domain: tuple[str, ...] = ()
    changelog: str | None = None
    defaults: tuple[Default, ...] = ()
    records: Schema = ()
    is_snapshot: bool = False
    keeps_bad_rows: bool = False
    max_bad_rows: int | None = None
    value_format: str | None = None
    key_format: str | None = None
    snapshot_every: int = 0
    schema_registry: str | None = field(default=None, repr=False)  # it may have a password
    says_keep: bool = False
    idle_timeout: int = 0
    in_transactions: bool = False
    watermarks: tuple[ColumnLateness, ...] = ()
    formulas: tuple[Formula, ...] = ()
    checks: tuple[Check, ...] = ()

    @property
    def filled(self) -> frozenset[str]:
        """The columns that a row needn't bring: each has a DEFAULT, or is computed."""
        columns = [*(one.column for one in self.defaults), *(one.column for one in self.formulas)]
        return frozenset(self.schema[column].name for column in columns)

    @property
    def judged_by(self) -> frozenset[int]:
        """The columns that say whether a row is one of the table, but for their types and NOT NULL."""
        values = [*(one.value for one in self.formulas), *(one.value for one in self.checks)]
        computed = (one.column for one in self.formulas)
        return frozenset((*computed, *(column for value in values for column in columns_of(value))))

    @property
    def row_format(self) -> str:
        """What holds the columns of a row, in lower case."""
        return (self.value_format or self.format or "").lower()

    def option(self, name: str, default: str = "") -> str:
        """Of OPTIONS, whose names have no case."""
        return next((value for key, value in self.options.items() if key.lower() == name.lower()), default)

    @property
    def is_file(self) -> bool:
        """Whether it is files under a path."""
        return self.format is not None and self.format.lower() in FILE_FORMATS


@dataclass(frozen=True, slots=True)
class Triggers:
    """delay: microseconds on the step clock. A key's changes leave when any of them fires.

    once: of SELECT STREAM: no key fires twice, so that what leaves is never a retraction. paced: the delay is
    since the first record that waits, and not since the last: so a key fires once in that time, and does.
    """

    counting: int | None
    delay: int | None
    waterline: bool
    location: str
    once: bool = False
    paced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered(Triggers):
    """Of SELECT STREAM … ORDER BY: rows leave when nothing can come before them.

    by: monotonic, over the view's columns.
    """

    by: Expression


@dataclass(frozen=True, slots=True)
class Schedule:
    """Microseconds relative to the window's end: first <= complete <= last. every or rows: between the first
    and the complete result. rate_only: nothing else is said, so that it may be of keys that are no windows.
    """

    first: int
    complete: int
    last: int
    every: int | None
    rows: int | None
    late: bool
    flagged: bool
    location: str
    rate_only: bool = False

    @property
    def once(self) -> bool:
        """Whether each key has one result, which nothing follows."""
        is_one = self.first == self.complete == self.last
        return is_one and not (self.late or self.flagged or self.rate_only)

    @property
    def of_any_key(self) -> Triggers:
        """What the rate says of keys that are no windows."""
        return Triggers(self.rows, self.every, False, self.location, paced=self.every is not None)


Emission = Triggers | Schedule


@dataclass(frozen=True, slots=True)
class View:
    """kind: 'view', 'local' or 'materialized'. schema: the columns' names are the user's.

    append_only: the view's changes are never retractions. component: the recursive views that it is defined
    together with, itself included; () where it isn't recursive. max_iterations: until it must be complete.
    emission: when its changes leave; None: at every step. order: in which its rows are shown, over its
    columns; no part of what is stored, but for a stream, whose emission says so. unshown: of a query that is
    asked once, how many of its last columns only say the order. tick: in which its NOW() goes on, as its plan
    says, in microseconds; 0: in steps.
    """

    name: str
    schema: Schema
    kind: str
    plan: Plan
    append_only: bool
    location: str
    lateness: tuple[ColumnLateness, ...] = ()
    component: tuple[str, ...] = ()
    max_iterations: int = 0
    emission: Emission | None = None
    order: tuple[SortOrder, ...] = field(default=(), compare=False)
    unshown: int = field(default=0, compare=False)
    tick: int = field(default=0, compare=False)

    @property
    def retracts(self) -> bool:
        """Whether what leaves may be a retraction: of a row, or of what was said of a result's state."""
        if isinstance(self.emission, Schedule) and self.emission.flagged:
            return True
        if isinstance(self.emission, Schedule) and self.emission.once:
            return False
        return not (self.append_only or self.emits_once)

    @property
    def emits_once(self) -> bool:
        """Whether its rows wait until they are final."""
        return isinstance(self.emission, Triggers) and self.emission.once


@dataclass(frozen=True, slots=True)
class Insert:
    """Standing INSERT INTO target: every change of `view` is written to the target's sink.

    shape: of `SHAPES`. columns: for each of the target's, the place of the view's, or None: what
    `dbsp.sql.compiler.targets.inserts` lists is filled in, anything else is NULL. key: of an upsert, its
    places in the view.
    """

    target: str
    view: str
    location: str
    shape: str
    columns: tuple[int | None, ...]
    key: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """fingerprint: equal for programs whose state is interchangeable.

    text: after substitution. told: the same for others, where that differs (`sql/spellings/unfilled.py`).
    tables and views are in the order of the file. functions: those whose code isn't in the text. notes: what
    of the text says nothing here, and why.
    """

    text: str
    name: str
    fingerprint: str
    timezone: str
    tables: dict[str, Table]
    views: dict[str, View]
    inserts: tuple[Insert, ...]
    circuit: Circuit
    functions: tuple[Declared, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    told: str = ""

    @property
    def inputs(self) -> dict[str, Table]:
        return inputs_of(self.tables, self.inserts)

    def input(self, name: object) -> Table:
        """The table that takes rows under that name, whatever its case. Raises ProgramError."""
        wanted = str(name).lower()
        for table in self.inputs.values():
            if table.name.lower() == wanted:
                return table
        names = list(self.inputs)
        listed = f"tables: {', '.join(names) or 'none'}"
        for insert in self.inserts:
            if insert.target.lower() == wanted:
                message = f"table '{insert.target}' takes no rows: INSERT INTO at {insert.location} writes it"
                raise ProgramError(f"{message}; {listed}")
        for view in self.views.values():
            if view.name.lower() == wanted:
                message = f"'{view.name}' is a view ({view.location}); rows go into tables"
                raise ProgramError(f"{message}; {listed}")
        raise ProgramError(f"unknown table '{name}'; {listed}{did_you_mean(str(name), names)}")

    @property
    def waits_for_more(self) -> bool:
        """Whether rows wait while more may come: they leave once, to where none is taken back, or a WATERMARK
        holds them back.
        """
        leave_once = any(view.emits_once for view in self.views.values())
        scheduled = {view.name for view in self.views.values() if isinstance(view.emission, Schedule)}
        appended = any(insert.shape == "append" and insert.view in scheduled for insert in self.inserts)
        return leave_once or appended or any(table.watermarks for table in self.inputs.values())


def identifying_views(tables: Mapping[str, Table], views: Mapping[str, View]) -> dict[str, View]:
    """The views that a program's identity is of: `bad_rows` only where a source says that it keeps them.

    Sources came to do so by themselves, and a program that says nothing goes on with the state that it had.
    """
    said = any(table.says_keep for table in tables.values())
    return {name: view for name, view in views.items() if said or name != BAD_ROWS}


def inputs_of(tables: Mapping[str, Table], inserts: Iterable[Insert]) -> dict[str, Table]:
    """The tables that take rows: all but those that the program itself inserts into."""
    targets = {insert.target for insert in inserts}
    return {name: table for name, table in tables.items() if name not in targets}
