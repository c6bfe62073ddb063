"""SQL of a target in Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.sql.plans.program import OP
from dbsp.sql.plans.schemas import Field
from dbsp.targets.databases.statements import Statements

_TYPES = {
    pa.bool_(): "boolean",
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.string(): "text",
    pa.binary(): "bytea",
    pa.date32(): "date",
    TIME: "time",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", tz="UTC"): "timestamptz",
}


class PostgresStatements(Statements):
    mark: ClassVar[str] = "%s"
    staged: ClassVar[str] = "pg_temp.dbsp_staged"
    # what is committed is on the disk, and who waits for a lock says so in the end
    settings: ClassVar[Sequence[str]] = (
        "SELECT set_config('synchronous_commit', 'local', false) "
        "WHERE current_setting('synchronous_commit') = 'off'",
        "SET lock_timeout = '30s'",
        "SET client_min_messages = warning",
    )

    def type_of(self, column: Field) -> str:
        if pt.is_decimal(column.type):
            return f"numeric({column.type.precision}, {column.type.scale})"
        return _TYPES[column.type]

    @property
    def written(self) -> str:
        """No other transaction can write the row before this one's end, and one that has is waited for."""
        return f"{super().written} FOR UPDATE"

    @property
    def stage(self) -> str:
        """Which every commit empties; of the columns that the target has, if it was there before."""
        names = self.listed([column.name for column in self.columns])
        rows = f"SELECT {names}, ''::text AS {self.quoted(OP)} FROM {self.target} WITH NO DATA"
        return f"CREATE TEMP TABLE {self.staged} ON COMMIT DELETE ROWS AS {rows}"

    @property
    def unstage(self) -> str:
        return ""

    def copy(self, is_staged: bool) -> str:
        """Of rows as CSV."""
        table, names = self.into(is_staged)
        return f"COPY {table} ({', '.join(names)}) FROM STDIN (FORMAT csv)"
