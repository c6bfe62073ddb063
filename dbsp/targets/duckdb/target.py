"""A table in a file of DuckDB, which takes Arrow as it is.

One process at a time can have such a file: it is opened for a step, and closed again. A new one appears
whole: where a full disk or a kill cuts its making short, DuckDB leaves a file that it never opens again.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.sql.plans.schemas import Field
from dbsp.targets.databases.database import Database, committed
from dbsp.targets.databases.statements import Statements, target_name

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TYPES = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "varchar",
    pa.binary(): "blob",
    pa.date32(): "date",
    TIME: "time",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", tz="UTC"): "timestamptz",
}
_ROWS = "dbsp_rows"


class DuckdbStatements(Statements):
    settings: ClassVar[Sequence[str]] = ("SET TimeZone = 'UTC'",)

    def type_of(self, column: Field) -> str:
        return self._spelled(column.type)

    def _spelled(self, data_type: pa.DataType) -> str:
        if pt.is_decimal(data_type):
            return f"decimal({data_type.precision}, {data_type.scale})"
        if pt.is_struct(data_type):
            inside = (f"{self.quoted(field.name)} {self._spelled(field.type)}" for field in data_type)
            return f"struct({', '.join(inside)})"
        if pt.is_map(data_type):
            return f"map({self._spelled(data_type.key_type)}, {self._spelled(data_type.item_type)})"
        if pt.is_list(data_type):
            return f"{self._spelled(data_type.value_type)}[]"
        return _TYPES[data_type]

    @property
    def apply(self) -> list[str]:
        """Rows that change are written anew: in place a million of them take ten times as long."""
        return [self.delete(), self.insert_staged]

    def insert(self, is_staged: bool) -> str:
        """Of the rows that are registered."""
        table, names = self.into(is_staged)
        return f"INSERT INTO {table} ({', '.join(names)}) SELECT * FROM {_ROWS}"


class Duckdb(Database):
    """path: of the file, which is made where there is none."""

    statements: DuckdbStatements

    is_shared: ClassVar[bool] = False

    def spelled(self) -> DuckdbStatements:
        self.outlet.check_package("duckdb", "duckdb")
        return DuckdbStatements(target_name(self.outlet), self.outlet.table.schema, self.outlet.key)

    def opened(self) -> DuckdbSession:
        import duckdb  # noqa: PLC0415  only who writes to DuckDB has it

        path = Path(self.outlet.table.option("path"))
        if path.parent.is_dir() and not path.exists():
            make(path)
        return DuckdbSession(duckdb.connect(path), self.statements)


def make(path: Path) -> None:
    """An empty file, in one instant, unless there is one by then."""
    import duckdb  # noqa: PLC0415  only who writes to DuckDB has it

    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        duckdb.connect(partial).close()
        try:
            os.link(partial, path)
        except OSError:  # another process has made it, or there are no links here
            if not path.exists():
                partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)


@dataclass
class DuckdbSession:
    """A `Session`."""

    connection: DuckDBPyConnection
    statements: DuckdbStatements

    def transaction(self) -> AbstractContextManager[None]:
        return committed(self.connection, self.connection.begin)

    def execute(self, statement: str, values: Sequence[object] = ()) -> int:
        found = self.connection.execute(statement, values).fetchall()
        return int(found[0][0]) if found else 0

    def row(self, query: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        return next(iter(self.connection.execute(query, values).fetchall()), None)

    def load(self, rows: pa.RecordBatch, is_staged: bool) -> None:
        self.connection.register(_ROWS, pa.Table.from_batches([rows]))
        self.execute(self.statements.insert(is_staged))
        self.connection.unregister(_ROWS)

    def close(self) -> None:
        self.connection.close()
