"""SQL of a target in MariaDB, or MySQL: texts are compared as bytes, as everywhere else here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.sql.plans.program import DELETED, OP
from dbsp.sql.plans.schemas import Field
from dbsp.targets.databases.statements import Statements
from dbsp.targets.mariadb.rows import LOAD

_TYPES = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.date32(): "date",
    TIME: "time(6)",
    pa.timestamp("us"): "datetime(6)",
    pa.timestamp("us", tz="UTC"): "datetime(6)",
}
# Collations of texts. Before 8.0.17 MySQL has none in which 'a' and 'a ' are two: columns can have both then,
# keys can't.
MARIADB, MYSQL, PADDING = "utf8mb4_nopad_bin", "utf8mb4_0900_bin", "utf8mb4_bin"
# the most that InnoDB has in an index, in bytes, of which a character may take four
_KEY_BYTES = 3072


@dataclass(frozen=True)
class MariadbStatements(Statements):
    """collation: of texts, in which no two are equal; it has another name in MySQL."""

    collation: str = MARIADB

    mark: ClassVar[str] = "%s"
    quote: ClassVar[str] = "`"
    name_type: ClassVar[str] = "varchar(700) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    storage: ClassVar[str] = " ENGINE = InnoDB"
    settings: ClassVar[Sequence[str]] = (
        "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
        "SET SESSION innodb_lock_wait_timeout = 30",
        "SET SESSION time_zone = '+00:00'",
        "SET SESSION sql_notes = 0",
    )

    def type_of(self, column: Field) -> str:
        in_key = column.name in self.key
        if pt.is_string(column.type):
            size = f"varchar({_KEY_BYTES // 4 // len(self.key)})" if in_key else "longtext"
            return f"{size} CHARACTER SET utf8mb4 COLLATE {self.collation}"
        if pt.is_binary(column.type):
            return f"varbinary({_KEY_BYTES // len(self.key)})" if in_key else "longblob"
        if pt.is_decimal(column.type):
            return f"decimal({column.type.precision}, {column.type.scale})"
        return _TYPES[column.type]

    @property
    def claim(self) -> str:
        return f"INSERT IGNORE INTO {self._steps} VALUES (%s, %s, 0)"

    @property
    def written(self) -> str:
        """No other transaction can write the row before this one's end, and one that has is waited for."""
        return f"{super().written} FOR UPDATE"

    @property
    def engines(self) -> str:
        """Of the tables that are there: which of them have no transactions."""
        return (
            "SELECT table_name, engine FROM information_schema.tables WHERE table_schema = "
            "coalesce(%s, database()) AND table_name IN (%s, 'dbsp_steps') AND engine <> 'InnoDB'"
        )

    @property
    def apply(self) -> list[str]:
        """A join finds what goes by the key, where a sub-query may not."""
        same = " AND ".join(f"t.{name} = s.{name}" for name in map(self.quoted, self.key))
        staged = f"{self.target} t JOIN {self.staged} s ON {same}"
        names = self.others or [self.quoted(self.key[0])]
        update = ", ".join(f"{name} = VALUES({name})" for name in names)
        ordered = f"{self.insert_staged} ORDER BY {self.listed(self.key)}"  # as the table is stored
        return [
            f"DELETE t FROM {staged} WHERE s.{self.quoted(OP)} = '{DELETED}'",
            f"{ordered} ON DUPLICATE KEY UPDATE {update}",
        ]

    def load(self, path: str, is_staged: bool) -> str:
        """Of the lines in a file; bytes are digits there."""
        table, names = self.into(is_staged)
        digits = [pt.is_binary(column.type) for column in self.columns] + [False] * is_staged
        read = [
            f"@b{i}" if digit else name for i, (name, digit) in enumerate(zip(names, digits, strict=True))
        ]
        decoded = [f"{name} = UNHEX(@b{i})" for i, name in enumerate(names) if digits[i]]
        return (
            f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {table} CHARACTER SET utf8mb4 {LOAD} "
            f"({', '.join(read)})" + (f" SET {', '.join(decoded)}" if decoded else "")
        )
