"""SQL of a target in Postgres: the table, what is staged beside it, and the steps that it has.

dbsp_steps(target, writer, step)    in the schema of the target: the last step that is in it, and whose
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt

from dbsp.sql.plans.program import DELETED, OP, Table
from dbsp.sql.plans.schemas import Field

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
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", tz="UTC"): "timestamptz",
}


@dataclass(frozen=True)
class Statements:
    """name: of the target as OPTIONS say it, with its schema or without. key: of an upsert."""

    name: str
    columns: Sequence[Field]
    key: Sequence[str]

    @staticmethod
    def of(table: Table, key: Sequence[str]) -> Statements:
        """key: of an upsert, else nothing."""
        options = {name.lower(): value for name, value in table.options.items()}
        return Statements(options.get("dbtable", table.name), table.schema, key)

    @property
    def target(self) -> str:
        return ".".join(map(quoted, self.name.split(".")))

    @property
    def steps(self) -> str:
        return ".".join([*map(quoted, self.name.split(".")[:-1]), "dbsp_steps"])

    @property
    def _steps(self) -> str:
        """Beside parameters, which begin with a percent sign."""
        return self.steps.replace("%", "%%")

    @property
    def create(self) -> list[str]:
        """What there must be, and isn't touched where it is."""
        columns = [
            f"{quoted(c.name)} {_type(c.type)}{'' if c.nullable else ' NOT NULL'}" for c in self.columns
        ]
        if self.key:
            columns.append(f"PRIMARY KEY ({_listed(self.key)})")
        noted = "target text PRIMARY KEY, writer text NOT NULL, step bigint NOT NULL"
        return [
            f"CREATE TABLE IF NOT EXISTS {self.steps} ({noted})",
            f"CREATE TABLE IF NOT EXISTS {self.target} ({', '.join(columns)})",
        ]

    @property
    def claim(self) -> str:
        """A writer's first row. It waits for a transaction that writes it, as one whose answer was lost."""
        return f"INSERT INTO {self._steps} VALUES (%s, %s, 0) ON CONFLICT (target) DO NOTHING"

    @property
    def written(self) -> str:
        """Who wrote the target up to which step; no other transaction can before this one's end."""
        return f"SELECT writer, step FROM {self._steps} WHERE target = %s FOR UPDATE"

    @property
    def settings(self) -> list[str]:
        """Of a session: what is committed is on the disk, and who waits for a lock says so in the end."""
        durable = "current_setting('synchronous_commit') = 'off'"
        return [
            f"SELECT set_config('synchronous_commit', 'local', false) WHERE {durable}",
            "SET lock_timeout = '30s'",
            "SET client_min_messages = warning",
        ]

    @property
    def note(self) -> str:
        return f"UPDATE {self._steps} SET step = %s WHERE target = %s"

    @property
    def has_rows(self) -> str:
        return f"SELECT EXISTS (SELECT FROM {self.target})"

    @property
    def stage(self) -> str:
        """A table of the session's own, which every commit empties."""
        listed = _listed([column.name for column in self.columns])
        rows = f"SELECT {listed}, ''::text AS {quoted(OP)} FROM {self.target} WITH NO DATA"
        return f"CREATE TEMP TABLE {_STAGED} ON COMMIT DELETE ROWS AS {rows}"

    def copy(self, is_staged: bool) -> str:
        """Of rows as CSV; those that are staged with their `__op`."""
        columns = [column.name for column in self.columns]
        if is_staged:
            return f"COPY {_STAGED} ({_listed([*columns, OP])}) FROM STDIN (FORMAT csv)"
        return f"COPY {self.target} ({_listed(columns)}) FROM STDIN (FORMAT csv)"

    @property
    def apply(self) -> list[str]:
        """What is staged: of each key a record at most."""
        names = [column.name for column in self.columns]
        same = " AND ".join(f"t.{quoted(name)} = s.{quoted(name)}" for name in self.key)
        others = [quoted(name) for name in names if name not in self.key]
        update = ", ".join(f"{name} = EXCLUDED.{name}" for name in others)
        return [
            f"DELETE FROM {self.target} t USING {_STAGED} s WHERE s.{quoted(OP)} = '{DELETED}' AND {same}",
            f"INSERT INTO {self.target} ({_listed(names)}) SELECT {_listed(names)} FROM {_STAGED} "
            f"WHERE {quoted(OP)} <> '{DELETED}' ON CONFLICT ({_listed(self.key)}) "
            + (f"DO UPDATE SET {update}" if update else "DO NOTHING"),
        ]


_STAGED = "pg_temp.dbsp_staged"


def quoted(name: str) -> str:
    """As an identifier."""
    return '"' + name.replace('"', '""') + '"'


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))


def _type(data_type: pa.DataType) -> str:
    if pt.is_decimal(data_type):
        return f"numeric({data_type.precision}, {data_type.scale})"
    return _TYPES[data_type]
