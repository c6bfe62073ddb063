"""Rows handed to a table, as one Arrow batch of the table's schema.

Anything Arrow-shaped is taken: dicts or tuples, a pyarrow Table or RecordBatch, any object with
`__arrow_c_stream__` or `__arrow_c_array__` (pandas, polars, DuckDB). Columns go by name, whatever their
case and order; tuples go by position. Dicts may leave out columns that can be NULL; what is inserted, in
any shape, may leave out those with a DEFAULT, or have NULL there. What is computed of a row needs no value.
Values must arrive unchanged: a cast that would lose something is refused. A row that breaks a CHECK is, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.errors import DataError, did_you_mean
from dbsp.rows.casting import Refused, cast_array, first_refused
from dbsp.rows.literals import array_of
from dbsp.sql.plans.collations import arrow_field
from dbsp.sql.plans.types import type_name

if TYPE_CHECKING:
    from dbsp.sql.compiler.queries.evaluable import Evaluable
    from dbsp.sql.plans.program import Table, View


class BadRow(DataError):
    """problem: the message without the place. row: its position among the rows given, or None. column:
    the one that has no value there. refused: where that is known, all rows that are none of the table's, by
    position, and why.
    """

    column: str | None = None
    refused: Mapping[int, str] | None = None

    def __init__(self, table: str, problem: str, row: int | None) -> None:
        where = f"table '{table}'" + (f", row {row}" if row is not None else "")
        super().__init__(f"{where}: {problem}")
        self.table, self.problem, self.row = table, problem, row


SHAPES = "a list of dicts or tuples, a pyarrow Table or RecordBatch, or an object with __arrow_c_stream__"


def arrow_schema(relation: Table | View | Evaluable) -> pa.Schema:
    """Its columns as Arrow fields."""
    return pa.schema(map(arrow_field, relation.schema))


def whole_rows(
    table: Table, rows: object, timezone: str = "UTC", retracted: bool = False, own: bool = False
) -> pa.RecordBatch:
    """The rows with all columns of the table. timezone: of datetimes that have none. own: they are of this
    project's types, as those of a query over tables; see `cast_array`.

    Raises DataError naming table, row, column, the value, what fits.
    """
    names = [field.name for field in table.schema]
    defaults = () if retracted else table.defaults
    filled = {names[one.column] for one in defaults} | {names[one.column] for one in table.formulas}
    whole = _Reader(table, names, timezone, filled=frozenset(filled), own=own).read(rows)
    if not table.formulas and not table.checks:
        return whole
    from dbsp.circuits.operators.inputs.rules import Rules  # noqa: PLC0415  few tables have some

    judged, refused = Rules(defaults, table.formulas, table.checks).judged(whole)
    if refused:
        row, problem = next(iter(refused.items()))
        error = BadRow(table.name, problem, row)
        error.refused = refused
        raise error
    return judged


def key_rows(table: Table, rows: object, timezone: str = "UTC", own: bool = False) -> pa.RecordBatch:
    """Keys, or rows of which only the key counts: all columns of the table, NULL where not in the key.

    own: as of `whole_rows`.
    """
    names = [field.name for field in table.schema]
    width = _tuple_width(rows)
    wanted = names if width == len(names) != len(table.primary_key) else list(table.primary_key)
    keys = _Reader(table, wanted, timezone, required=table.primary_key, own=own).read(rows)
    columns = [
        keys.column(wanted.index(field.name))
        if field.name in table.primary_key
        else pa.nulls(keys.num_rows, field.type)
        for field in table.schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=arrow_schema(table))


def _tuple_width(rows: object) -> int | None:
    if isinstance(rows, list | tuple) and rows and isinstance(rows[0], list | tuple):
        return len(rows[0])
    return None


class _Reader:
    """columns: those read, in order. required: those that can't be NULL or left out. filled: those that are
    filled in, so that they needn't be there. own: whether Arrow's arrays are of this project's types.
    """

    def __init__(
        self,
        table: Table,
        columns: list[str],
        timezone: str,
        required: Sequence[str] | None = None,
        filled: frozenset[str] = frozenset(),
        own: bool = False,
    ) -> None:
        self.table = table
        self.columns = columns
        self.timezone = timezone
        self.own = own
        self.types = {field.name: field.type for field in table.schema}
        if required is None:
            required = [f.name for f in table.schema if not f.nullable or f.name in table.primary_key]
        self.required = set(required) - filled
        self.filled = filled
        self.spelling = {name.lower(): name for name in self.types}

    def read(self, rows: object) -> pa.RecordBatch:
        if hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__"):
            arrays = self._from_arrow(_arrow_table(rows))
        elif isinstance(rows, dict | str | bytes) or not isinstance(rows, Iterable):
            raise self._error(f"rows are {SHAPES}; not {_article(type(rows).__name__)}")
        else:
            arrays = self._from_python(list(rows))
        for name, array in zip(self.columns, arrays, strict=True):
            if name in self.required and array.null_count:
                at = pc.index(pc.is_null(array), True).as_py()
                error = self._error(f"no value; a row needs one in {self._named(name)}", at)
                error.column = name
                raise error
        schema = pa.schema(
            [pa.field(name, self.types[name], name not in self.required) for name in self.columns]
        )
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _from_arrow(self, given: pa.Table) -> list[pa.Array]:
        position: dict[str, int] = {}
        for i, name in enumerate(given.column_names):
            column = self._column(name)
            if column in position:
                raise self._error(f"two columns are named '{column}'")
            position[column] = i
        for name in self.columns:
            if name not in position and name not in self.filled:
                there = ", ".join(given.column_names) or "none"
                raise self._error(f"column '{name}' is missing; columns given: {there}")
        return [
            self._cast(name, given.column(position[name]))
            if name in position
            else pa.nulls(given.num_rows, self.types[name])
            for name in self.columns
        ]

    def _cast(self, name: str, values: pa.ChunkedArray) -> pa.Array:
        array = (
            values.chunk(0) if values.num_chunks == 1 else pa.concat_arrays(values.chunks or [_none(values)])
        )
        if not len(array):  # of no values there is a type only by chance: pandas' is float64
            return pa.nulls(0, self.types[name])
        try:
            return cast_array(array, self.types[name], self.timezone, self.own)
        except Refused as refused:
            at = first_refused(array, self.types[name], self.timezone, self.own)
            raise self._misfit(name, at, array[at].as_py() if at is not None else None, refused) from None

    def _from_python(self, rows: list[Any]) -> list[pa.Array]:
        if rows and hasattr(rows[0], "_asdict"):
            rows = [row._asdict() for row in rows]
        classes = set(map(type, rows))
        if all(issubclass(kind, dict) for kind in classes):
            columns = self._from_dicts(rows)
        elif all(issubclass(kind, list | tuple) for kind in classes):
            columns = self._from_tuples(rows)
        else:
            first = dict if isinstance(rows[0], dict) else list | tuple
            at = next(i for i, row in enumerate(rows) if not isinstance(row, first))
            if not isinstance(rows[0], dict | list | tuple):
                at = 0
            raise self._error(f"{rows[at]!r} is {_article(type(rows[at]).__name__)}; rows are {SHAPES}", at)
        return [self._build(name, values) for name, values in zip(self.columns, columns, strict=True)]

    def _from_dicts(self, rows: list[dict[str, Any]]) -> list[list[Any]]:
        spellings: dict[str, list[str]] = {}
        for name in dict.fromkeys(name for keys in dict.fromkeys(map(tuple, rows)) for name in keys):
            try:
                spellings.setdefault(self._column(name), []).append(name)
            except BadRow as error:
                at = next(i for i, row in enumerate(rows) if name in row)
                raise self._error(error.problem, at) from None
        for names in spellings.values():
            if len(names) > 1:
                for at, row in enumerate(rows):
                    if sum(name in row for name in names) > 1:
                        raise self._error(f"{' and '.join(map(repr, names))} are one column", at)
        columns = []
        for column in self.columns:
            names = spellings.get(column, [column])
            if len(names) > 1:
                rows = [{(column if k in names else k): v for k, v in row.items()} for row in rows]
            name = names[0] if len(names) == 1 else column
            columns.append([row.get(name) for row in rows])
        return columns

    def _from_tuples(self, rows: list[Sequence[Any]]) -> list[list[Any]]:
        width = len(self.columns)
        if set(map(len, rows)) - {width}:
            at = next(i for i, row in enumerate(rows) if len(row) != width)
            wanted = f"{width} ({', '.join(self.columns)})"
            raise self._error(f"{tuple(rows[at])!r} has {len(rows[at])} values, needs {wanted}", at)
        return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in self.columns]

    def _build(self, name: str, values: list[Any]) -> pa.Array:
        type_ = self.types[name]
        try:
            return array_of(values, type_, self.timezone)
        except Refused as refused:
            for at, value in enumerate(values):
                try:
                    array_of([value], type_, self.timezone)
                except Refused as one:
                    raise self._misfit(name, at, value, one) from None
            raise self._misfit(name, None, None, refused) from None

    def _column(self, name: object) -> str:
        found = self.spelling.get(str(name).lower())
        if found is None:
            existing = list(self.types)
            hint = did_you_mean(str(name), existing)
            raise self._error(f"unknown column '{name}'; columns: {', '.join(existing)}{hint}")
        return found

    def _named(self, name: str) -> str:
        not_null = " NOT NULL" if name in self.required else ""
        return f"column '{name}' ({type_name(self.types[name])}{not_null})"

    def _misfit(self, name: str, at: int | None, value: object, refused: Refused) -> BadRow:
        shown = str(value) if isinstance(value, Decimal) else repr(value)
        if len(shown) > 80:
            shown = shown[:77] + "..."
        what = f"{shown} doesn't fit {self._named(name)}" if at is not None else f"{self._named(name)}"
        return self._error(f"{what}: {refused}", at)

    def _error(self, problem: str, at: int | None = None) -> BadRow:
        return BadRow(self.table.name, problem, at)


def _arrow_table(rows: Any) -> pa.Table:
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    if type(rows).__module__.startswith("pandas"):  # its own stream would bring the index along
        return pa.Table.from_pandas(rows, preserve_index=False)
    return pa.table(rows)


def _none(values: pa.ChunkedArray) -> pa.Array:
    return pa.nulls(0, values.type)


def _article(noun: str) -> str:
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"
