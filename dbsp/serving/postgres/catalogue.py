"""What tools ask about a database before its data: pg_catalog, information_schema, settings.

A program's views are written once into the tables of a DuckDB in memory, which reads PostgreSQL's SQL.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property

import duckdb
import pyarrow as pa

from dbsp.circuits.errors import DataError
from dbsp.serving.postgres.asked import respelled
from dbsp.serving.postgres.parameters import Value
from dbsp.serving.postgres.spelling import Word
from dbsp.serving.postgres.tables import DATABASE, FUNCTIONS, INFORMATION, SETTINGS, TABLES, TYPES
from dbsp.serving.postgres.values import modifier_of, type_of
from dbsp.sql.plans.schemas import Field, Schema

# numbers of objects that a user made begin here
_FIRST = 16384
_BOUNDS: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": False,
    "threads": 1,
    "memory_limit": "256MB",
}
# a question of a tool takes milliseconds
_SECONDS = 10.0
_PUBLIC, _SYSTEM, _STANDARD = 2200, 11, 13000
_ASKED = frozenset(
    {
        *("version", "current_schema", "current_schemas", "current_database", "current_catalog"),
        *("current_setting", "set_config", "current_user", "session_user", "user"),
        *("pg_catalog", "information_schema"),
    }
)


class Catalogue:
    """views: what a client can read, with its columns. Thread-safe; made when it is first asked."""

    def __init__(self, views: Mapping[str, Schema]) -> None:
        self._views = views
        self._lock = threading.Lock()

    def asks(self, words: Sequence[Word]) -> bool:
        """Whether a query is about the catalogue, and about no view. SELECT 1 is about neither."""
        names = {word.name for word in words if word.name is not None}
        if names & {name.lower() for name in self._views}:
            return bool(names & {"pg_catalog", "information_schema"})
        return len(words) == 2 or any(
            name in _ASKED or name.startswith(("pg_", "format_type", "to_reg")) for name in names
        )

    def answer(self, words: Sequence[Word], values: Sequence[Value]) -> pa.Table:
        """Raises DataError, as DuckDB says it."""
        with self._lock:
            late = threading.Timer(_SECONDS, self._database.interrupt)
            late.start()
            try:
                found = self._database.sql(respelled(words, values)).to_arrow_table()
            except duckdb.Error as error:
                raise DataError(f"the catalogue can't answer that: {error}") from None
            finally:
                late.cancel()
        return pa.table([_shown(column) for column in found.columns], names=found.schema.names)

    @cached_property
    def _database(self) -> duckdb.DuckDBPyConnection:
        database = duckdb.connect(config=_BOUNDS)
        database.execute("CREATE SCHEMA pg; CREATE SCHEMA information; SET search_path = 'pg'")
        for schema, tables in (("pg", TABLES), ("information", INFORMATION)):
            for name, columns in tables.items():
                database.execute(f"CREATE TABLE {schema}.{name} ({columns})")
        database.execute("CREATE TABLE pg.shown_types (oid BIGINT, typname VARCHAR, shown VARCHAR)")
        database.execute(FUNCTIONS)
        self._fill(database)
        database.execute("SET lock_configuration = true")
        return database

    def _fill(self, database: duckdb.DuckDBPyConnection) -> None:
        def add(table: str, rows: Sequence[Mapping[str, object]]) -> None:
            for row in rows:
                marks = ", ".join("?" * len(row))
                names = ", ".join(row)
                database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", [*row.values()])

        spaces = {_PUBLIC: "public", _SYSTEM: "pg_catalog", _STANDARD: "information_schema"}
        add("pg.pg_namespace", [{"oid": o, "nspname": n, "nspowner": 10} for o, n in spaces.items()])
        add(
            "information.schemata",
            [{"catalog_name": DATABASE, "schema_name": n, "schema_owner": "dbsp"} for n in spaces.values()],
        )
        database_row = {"oid": 5, "datname": DATABASE, "datdba": 10, "encoding": 6, "datistemplate": False}
        more = {"datallowconn": True, "datconnlimit": -1, "datcollate": "C", "datctype": "C"}
        add("pg.pg_database", [{**database_row, **more, "datlocprovider": "c"}])
        add("pg.pg_roles", [{"oid": 10, "rolname": "dbsp", "rolsuper": False, "rolcanlogin": True}])
        add("pg.pg_settings", [{"name": n.lower(), "setting": v} for n, v in SETTINGS.items()])
        for oid, (name, shown, size, category) in TYPES.items():
            add("pg.shown_types", [{"oid": oid, "typname": name, "shown": shown}])
            kind = {"typtype": "b", "typcategory": category, "typdelim": ",", "typrelid": 0, "typelem": 0}
            rest = {"typarray": 0, "typbasetype": 0, "typtypmod": -1, "typnotnull": False, "typcollation": 0}
            base = {"oid": oid, "typname": name, "typnamespace": _SYSTEM, "typowner": 10, "typlen": size}
            add("pg.pg_type", [{**base, **kind, **rest}])
        for number, (view, schema) in enumerate(self._views.items(), _FIRST):
            add("pg.pg_class", [_relation(number, view, len(schema))])
            add("pg.pg_attribute", [_attribute(number, i, one) for i, one in enumerate(schema, 1)])
            place = {"table_catalog": DATABASE, "table_schema": "public", "table_name": view}
            add("information.tables", [{**place, "table_type": "VIEW", "is_insertable_into": "NO"}])
            add("information.views", [place])
            add("information.columns", [{**place, **_column(i, one)} for i, one in enumerate(schema, 1)])


def _relation(number: int, view: str, columns: int) -> dict[str, object]:
    none = ("reltype", "reloftype", "relam", "relfilenode", "reltablespace", "reltoastrelid", "relchecks")
    no = ("relhasindex", "relisshared", "relhasrules", "relhastriggers", "relhassubclass", "relrowsecurity")
    never = ("relforcerowsecurity", "relispartition", "relhasoids")
    return {
        "oid": number,
        "relname": view,
        "relnamespace": _PUBLIC,
        "relowner": 10,
        "relpages": 0,
        "reltuples": -1,
        "relpersistence": "p",
        "relkind": "v",
        "relnatts": columns,
        "relispopulated": True,
        "relreplident": "n",
        **dict.fromkeys(none, 0),
        **dict.fromkeys((*no, *never), False),
    }


def _attribute(number: int, position: int, column: Field) -> dict[str, object]:
    oid, size = type_of(column.type)
    return {
        "attrelid": number,
        "attname": column.name,
        "atttypid": oid,
        "attlen": size,
        "attnum": position,
        "attndims": 0,
        "atttypmod": modifier_of(column.type),
        "attnotnull": not column.nullable,
        "atthasdef": False,
        "attidentity": "",
        "attgenerated": "",
        "attisdropped": False,
        "attcollation": 0,
        "attstattarget": -1,
        "attstorage": "p",
        "attcompression": "",
    }


def _column(position: int, column: Field) -> dict[str, object]:
    type_ = column.type
    name, shown, *_ = TYPES[type_of(type_)[0]]
    is_decimal = pa.types.is_decimal(type_)
    return {
        "column_name": column.name,
        "ordinal_position": position,
        "is_nullable": "YES" if column.nullable else "NO",
        "data_type": shown,
        "numeric_precision": type_.precision if is_decimal else None,
        "numeric_scale": type_.scale if is_decimal else None,
        "udt_schema": "pg_catalog",
        "udt_name": name,
        "is_identity": "NO",
        "is_generated": "NEVER",
        "is_updatable": "NO",
    }


def _shown(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lists as PostgreSQL writes arrays: `{a,b}`."""
    if not pa.types.is_list(column.type):
        return column.cast(pa.string()) if pa.types.is_large_string(column.type) else column
    values = column.to_pylist()
    return pa.chunked_array(
        [pa.array([None if v is None else "{" + ",".join(map(str, v)) + "}" for v in values])]
    )
