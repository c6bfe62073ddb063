"""Which columns a format of USING has, to read and to write.

Some sources give columns of their own. Some sinks take columns of certain names, or of certain types, and
of a few of these Spark's writer would leave out others without a word: an `__op` that isn't written makes an
insertion of a deletion. Here is what Spark's own formats and Kafka's connector have; the connector is a
package, which the compiler's session need not have. Of other formats nothing is known, and all passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.time_of_day import holds_time
from dbsp.circuits.columns.variants.type import holds_variant
from dbsp.circuits.operators.emission.trigger import STATE
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.sql.plans.own_forms import OWN_FORMS, OwnForm, own_form
from dbsp.sql.plans.program import EXCEL, FILE_FORMATS, HIVE, OP, PYTHON, STEP, Table
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.types import type_name
from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.create_table import CreateTable

# Columns of a target that no query gives: what a record did, in which step, and the state of a result that
# EMIT (... RESULT STATE FLAG) says.
FILLED = {WEIGHT: pa.int64(), OP: pa.string(), STEP: pa.int64(), STATE: pa.string()}

_TIME = pa.timestamp("us", tz="UTC")
_HEADERS = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))
_BYTES = (pa.binary(), pa.string())

_RATE = {"timestamp": _TIME, "value": pa.int64()}
_GIVEN: dict[str, dict[str, pa.DataType]] = {
    "kafka": {
        "key": pa.binary(),
        "value": pa.binary(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": _TIME,
        "timestampType": pa.int32(),
    },
    "rate": _RATE,
    "rate-micro-batch": _RATE,
    "socket": {"value": pa.string()},
    "binaryfile": {
        "path": pa.string(),
        "modificationTime": _TIME,
        "length": pa.int64(),
        "content": pa.binary(),
    },
}
# more of them, where an option is 'true'
_ASKED = {
    "kafka": ("includeHeaders", "headers", _HEADERS),
    "socket": ("includeTimestamp", "timestamp", _TIME),
}
_TAKEN = {
    "kafka": {
        "key": _BYTES,
        "value": _BYTES,
        "headers": (_HEADERS,),
        "topic": (pa.string(),),
        "partition": (pa.int32(),),
    }
}
_OWN = tuple(name for name, form in OWN_FORMS.items() if not form.is_source)
# no streams: read whole
_WHOLE = ("jdbc", EXCEL, HIVE)
_NOT_READ = (*_WHOLE, "console", "noop", *_OWN, PYTHON)
_BY_JDBC = ("postgres", "mariadb", "mysql", "sqlite", "duckdb")
_STREAMS = ("kafka", "rate", "rate-micro-batch", "socket")
_WITHOUT_VARIANTS = ("orc", "avro")
_NOT_WRITTEN = (EXCEL, HIVE, "binaryfile", "rate", "rate-micro-batch", "socket")


def given_columns(format_: str, options: Mapping[str, str]) -> dict[str, pa.DataType] | None:
    """The columns that a source of the format gives, in order; None: those of its table, or unknown."""
    columns = _GIVEN.get(format_.lower())
    if columns is None or format_.lower() not in _ASKED:
        return columns
    option, name, type_ = _ASKED[format_.lower()]
    asked = any(key.lower() == option.lower() and options[key].lower() == "true" for key in options)
    return {**columns, name: type_} if asked else columns


def carries_changes(target: Table) -> bool:
    """Whether it can have a column `__weight` or `__op` beside the rows' own."""
    return target.value_format is not None or (target.format or "").lower() not in ("kafka", "text")


def _read_otherwise(format_: str) -> str:
    """How a table of it is read, if one is."""
    if format_ in _WHOLE:
        return "; WITH (snapshot = 'every step') compares it"
    if format_ in _BY_JDBC:
        return "; USING jdbc OPTIONS (url 'jdbc:...', dbtable '...') WITH (snapshot = 'every step') reads it"
    return ""


def check_source(source: Source, statement: CreateTable, table: Table) -> None:
    """Raises ProgramError where the format can't give these columns, or they are a changelog's."""
    assert table.format is not None
    what = _Columns(source, statement, table)
    if table.is_snapshot:
        what.check_snapshot()
    elif table.format.lower() in _NOT_READ:
        why = f"{table.format} is no stream, so it can't be read; nothing is inserted into '{table.name}'"
        what.fail(f"{why} either{_read_otherwise(table.format.lower())}")
    for column in table.schema:
        if column.name.lower() in FILLED:
            why = "is what a sink writes of changes, and no column of rows"
            what.fail(f"column '{column.name}' of source '{table.name}' {why}; leave it out", column)
    if table.value_format is not None:
        return
    given = given_columns(table.format, table.options)
    if given is not None:
        what.check_given(given)
    elif table.format.lower() == "text" and all(column.type != pa.string() for column in table.schema):
        what.fail(f"text gives lines, in a column of type STRING, which '{table.name}' lacks")
    elif table.format.lower() in _WITHOUT_VARIANTS and any(holds_variant(c.type) for c in table.schema):
        column = next(c for c in table.schema if holds_variant(c.type))
        what.unfit(column, f"{table.format} has no such values; declare STRING, and use parse_json")
    elif table.format.lower() in ("csv", EXCEL):
        for column in table.schema:
            if pt.is_nested(column.type):
                form = table.format.lower()
                what.unfit(column, f"{form} has no such values; declare STRING, and use from_json or split")


def check_sink(source: Source, statement: CreateTable, table: Table) -> None:
    """Raises ProgramError where Spark's writer would leave out a column, or fail on it."""
    assert table.format is not None
    form, own = table.format.lower(), own_form(table.format)
    what = _Columns(source, statement, table)
    if table.value_format is not None:
        return
    if form in _NOT_WRITTEN:
        what.fail(f"nothing can be inserted into '{table.name}': {table.format} is only read")
    if form in _TAKEN:
        what.check_taken(_TAKEN[form])
    if form == "kafka":
        what.check_topic()
    if own is not None:
        what.check_own(own)
    # of files the step is the directory's name
    columns = [c for c in table.schema if not (form in FILE_FORMATS and c.name.lower() == STEP)]
    if form == "text" and [column.type for column in columns] != [pa.string()]:
        listed = ", ".join(column.name for column in columns)
        cure = "make one of them by to_json(struct(...)) or concat_ws, or write json"
        what.fail(f"a line of text is one column of type STRING, '{table.name}' has: {listed}; {cure}")
    for column in columns:
        if form == "csv" and pt.is_nested(column.type):
            what.unfit(column, "csv has no such values; declare STRING and give to_json(...)")
        if form == "csv" and pt.is_binary(column.type):
            what.unfit(column, "csv has no such values; declare STRING and give base64(...) or hex(...)")
        if form == "jdbc" and (pt.is_struct(column.type) or pt.is_map(column.type)):
            what.unfit(column, "jdbc has no such values; declare STRING and give to_json(...)")
        if form in _WITHOUT_VARIANTS and holds_variant(column.type):
            what.unfit(column, f"{form} has no such values; declare STRING and give to_json(...)")
        if form == "xml" and pt.is_duration(column.type):
            what.unfit(column, "xml has no such values; declare STRING and CAST it")


class _Columns:
    """What is wrong with a table's columns, each at its place."""

    def __init__(self, source: Source, statement: CreateTable, table: Table) -> None:
        self.source, self.statement, self.table = source, statement, table

    def check_given(self, given: Mapping[str, pa.DataType]) -> None:
        """By name if all are there that aren't filled in, else by position."""
        table, types = self.table, {name.lower(): type_ for name, type_ in given.items()}
        columns = list(table.schema)
        filled = table.filled
        if all(column.name.lower() in types or column.name in filled for column in columns):
            pairs = [(c, types[c.name.lower()]) for c in columns if c.name.lower() in types]
        elif len(columns) == len(given):
            pairs = list(zip(columns, given.values(), strict=True))
        else:
            unknown = next(c for c in columns if c.name.lower() not in types and c.name not in filled)
            self.fail(
                f"column '{unknown.name}' of '{table.name}': the columns of format {table.format} are: "
                f"{_listed(given)}; declare these (all, or some by name)",
                unknown,
            )
        for column, type_ in pairs:
            if column.type != type_:
                text = column.type == pa.string() and type_ == pa.binary()
                cure = (
                    f"declare it so, and CAST({column.name} AS STRING) in a view" if text else "declare it so"
                )
                self.fail(
                    f"column '{column.name}' of '{table.name}' is {type_name(column.type)}, {table.format} "
                    f"gives {type_name(type_)}; {cure}",
                    column,
                )

    def check_snapshot(self) -> None:
        """Of a source that is read whole: all that its table holds is kept, and it isn't a stream's."""
        table, form = self.table, (self.table.format or "").lower()
        if form in _STREAMS or (form in _NOT_READ and form not in _WHOLE):
            self.fail(
                f"{form} can't be read whole, as snapshot = 'every step' of '{table.name}' says; leave it out"
            )
        for is_so, why in (
            (table.append_only, "append_only says that no row is taken back"),
            (table.unchecked and not table.primary_key, "unchecked rows aren't kept"),
            (bool(table.lateness), "rows below a LATENESS aren't kept"),
            (
                bool(table.defaults),
                "a DEFAULT is filled in when a row arrives, and its source has none to compare",
            ),
            (table.changelog is not None, "a changelog is read once, and says its changes itself"),
        ):
            if is_so:
                self.fail(
                    f"snapshot = 'every step' of '{table.name}' compares all rows, and {why}; leave one out"
                )

    def check_taken(self, taken: Mapping[str, Sequence[pa.DataType]]) -> None:
        table = self.table
        for column in table.schema:
            name, types = column.name.lower(), taken.get(column.name.lower())
            if types is None:
                cure = "put it into value, as by to_json(struct(...))"
                if name in FILLED:
                    cure = "leave it out"
                    if name != STEP:
                        cure += ", and declare PRIMARY KEY (key), where a value of NULL is a deletion"
                what = f"a record of {table.format} has no column '{column.name}', it would be left out"
                self.fail(f"{what}; it has {', '.join(taken)}; {cure}", column)
            if column.type not in types:
                wanted = " or ".join(map(type_name, reversed(types)))
                what = f"column '{column.name}' of '{table.name}' is {type_name(column.type)}"
                self.fail(f"{what}, {table.format} takes {wanted}; declare it so", column)

    def check_topic(self) -> None:
        """What makes Kafka's records: a value, and a topic, which the option says for all of them."""
        columns = {column.name.lower(): column for column in self.table.schema}
        options = {name.lower() for name in self.table.options}
        name, topic = self.table.name, columns.get("topic")
        if "value" not in columns:
            self.fail(f"a record of kafka needs a value; declare a column value STRING in '{name}'")
        if topic is None and "topic" not in options:
            self.fail(f"nothing says to which topic '{name}' is written; give OPTIONS (topic '...')")
        if topic is not None and "topic" in options:
            self.fail(f"option topic of '{name}' would win over its column 'topic'; leave one out", topic)
        if topic is not None and topic.nullable:
            why = "is the topic of a record, which needs one"
            self.fail(f"column 'topic' of '{name}' {why}; declare it NOT NULL", topic)

    def check_own(self, own: OwnForm) -> None:
        """What a format of this project's own can't hold."""
        if own.is_keyed and not self.table.primary_key:
            name = self.table.name
            self.fail(f"{own.name} holds a row for each key; declare the PRIMARY KEY of '{name}'")
        for column in self.table.schema:
            none = f"{own.name} is given no such values; declare STRING"
            if holds_variant(column.type) or (not own.takes_nested and pt.is_nested(column.type)):
                self.unfit(column, f"{none} and give to_json(...)")
            if holds_time(column.type) and not own.takes_time:
                self.unfit(column, f"{none} and CAST it")
            if _has_duration(column.type):
                self.unfit(column, f"{none} or BIGINT and CAST it")
            if any(character in column.name for character in own.not_in_names):
                self.unfit(column, f"{own.name} has no such names; give it another")

    def unfit(self, column: Field, why: str) -> NoReturn:
        self.fail(f"column '{column.name}' of '{self.table.name}' is {type_name(column.type)}: {why}", column)

    def fail(self, message: str, column: Field | None = None) -> NoReturn:
        start = self.statement.start
        if column is not None:
            start = self.statement.columns[self.table.schema.index(column)].start
        raise self.source.error(start, message)


def _has_duration(type_: pa.DataType) -> bool:
    """Whether the type, or one inside of it, is an interval."""
    inside = range(type_.num_fields) if pt.is_nested(type_) else ()
    return bool(pt.is_duration(type_)) or any(_has_duration(type_.field(i).type) for i in inside)


def _listed(columns: Mapping[str, pa.DataType]) -> str:
    return ", ".join(f"{name} {type_name(type_)}" for name, type_ in columns.items())
