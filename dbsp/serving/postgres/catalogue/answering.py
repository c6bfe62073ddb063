"""What tools ask about a database before its data: pg_catalog, information_schema, settings.

A program's views are written once into the tables of a DuckDB in memory, which reads PostgreSQL's SQL.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property

import duckdb
import pyarrow as pa

from dbsp.serving.postgres.catalogue.definitions import Definitions
from dbsp.serving.postgres.catalogue.empty import EMPTY
from dbsp.serving.postgres.catalogue.functions import FUNCTIONS
from dbsp.serving.postgres.catalogue.keys import add_keys
from dbsp.serving.postgres.catalogue.listings import LISTINGS
from dbsp.serving.postgres.catalogue.respelling import OWN, respelled
from dbsp.serving.postgres.catalogue.saying import catalogue_error
from dbsp.serving.postgres.catalogue.showing import shown
from dbsp.serving.postgres.catalogue.standard import EMPTY_INFORMATION, INFORMATION
from dbsp.serving.postgres.catalogue.tables import DATABASE, SETTINGS, TABLES
from dbsp.serving.postgres.catalogue.types import functions_of, types_of
from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.spelling import Word
from dbsp.serving.postgres.language.types import TYPES, modifier_of, oid_of
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.schemas import Field, Schema

# numbers of objects that a user made begin here, and those of DEFAULTs
_FIRST, _DEFAULTS = 16384, 1_000_000
_NOTHING_SAID = Definitions({}, {})
_BOUNDS: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": False,
    "threads": 1,
    "memory_limit": "256MB",
}
# a question of a tool takes milliseconds
_SECONDS = 10.0
_PUBLIC, _SYSTEM, _STANDARD, _SPACE = 2200, 11, 13000, 1663
_KINDS = {
    "r": {"table_type": "BASE TABLE", "is_insertable_into": "YES"},
    "v": {"table_type": "VIEW", "is_insertable_into": "NO"},
}
_RELATIONS = [*TABLES, *EMPTY, *INFORMATION, *EMPTY_INFORMATION, *(one.split(".")[1] for one in LISTINGS)]
_ASKED = frozenset(
    {
        *("version", "current_schema", "current_schemas", "current_database", "current_catalog"),
        *("current_setting", "set_config", "current_user", "session_user", "user"),
        *("pg_catalog", "information_schema"),
    }
)


class Catalogue:
    """views: with their columns. tables: with their keys. said: what the program says of them.

    Thread-safe; made when it is first asked.
    """

    def __init__(
        self, views: Mapping[str, Schema], tables: Sequence[Table] = (), said: Definitions = _NOTHING_SAID
    ) -> None:
        self._said = said
        self._tables = {table.name: table for table in tables}
        self.relations = {**views, **{name: table.schema for name, table in self._tables.items()}}
        self._lock = threading.Lock()

    def asks(self, words: Sequence[Word]) -> bool:
        """Whether a query is about the catalogue, and about no view. SELECT 1 is about neither."""
        names = {word.name for word in words if word.name is not None}
        if names & {name.lower() for name in self.relations}:
            return bool(names & {"pg_catalog", "information_schema"})
        return len(words) == 2 or any(
            name in _ASKED or name.startswith(("pg_", "format_type", "to_reg")) for name in names
        )

    def answer(self, words: Sequence[Word], values: Sequence[Value]) -> pa.Table:
        """Raises Wrong."""
        with self._lock:
            late = threading.Timer(_SECONDS, self._database.interrupt)
            late.start()
            try:
                found = self._database.sql(respelled(words, values)).to_arrow_table()
            except duckdb.Error as error:
                raise catalogue_error(error, _RELATIONS, OWN) from None
            finally:
                late.cancel()
        return shown(found)

    @cached_property
    def _database(self) -> duckdb.DuckDBPyConnection:
        database = duckdb.connect(config=_BOUNDS)
        database.execute(f"ATTACH ':memory:' AS {DATABASE}; USE {DATABASE}; DETACH memory")
        database.execute("CREATE SCHEMA pg; CREATE SCHEMA information; SET search_path = 'pg'")
        for schema, tables in (("pg", TABLES | EMPTY), ("information", INFORMATION | EMPTY_INFORMATION)):
            for name, columns in tables.items():
                database.execute(f"CREATE TABLE {schema}.{name} ({_typed(columns)})")
        database.execute("CREATE TABLE pg.shown_types (oid BIGINT, typname VARCHAR, shown VARCHAR)")
        # place: of an index's column, 0 of the whole
        database.execute("CREATE TABLE pg.definitions (oid BIGINT, place INT, said VARCHAR)")
        for name, query in LISTINGS.items():
            database.execute(f"CREATE VIEW {name} AS {query}")
        database.execute(FUNCTIONS)
        self._fill(database)
        database.execute("SET lock_configuration = true")
        return database

    def _fill(self, database: duckdb.DuckDBPyConnection) -> None:
        def add(table: str, rows: Sequence[Mapping[str, object]]) -> None:
            if rows:
                database.register("given", pa.Table.from_pylist([dict(row) for row in rows]))
                database.execute(f"INSERT INTO {table} BY NAME FROM given")
                database.unregister("given")

        spaces = {_PUBLIC: "public", _SYSTEM: "pg_catalog", _STANDARD: "information_schema"}
        add("pg.pg_namespace", [{"oid": o, "nspname": n, "nspowner": 10} for o, n in spaces.items()])
        add(
            "information.schemata",
            [{"catalog_name": DATABASE, "schema_name": n, "schema_owner": "dbsp"} for n in spaces.values()],
        )
        add("information.information_schema_catalog_name", [{"catalog_name": DATABASE}])
        add("information.character_sets", [_characters()])
        database_row = {"oid": 5, "datname": DATABASE, "datdba": 10, "encoding": 6, "datistemplate": False}
        more = {"datallowconn": True, "datconnlimit": -1, "datcollate": "C", "datctype": "C"}
        add("pg.pg_database", [{**database_row, **more, "datlocprovider": "c", "dattablespace": _SPACE}])
        add("pg.pg_tablespace", [{"oid": _SPACE, "spcname": "pg_default", "spcowner": 10}])
        add("pg.pg_stat_gssapi", [{"pid": 1, "gss_authenticated": False, "encrypted": False}])
        role = {"oid": 10, "rolname": "dbsp", "rolinherit": True, "rolcanlogin": True, "rolconnlimit": -1}
        never = ("rolsuper", "rolcreaterole", "rolcreatedb", "rolreplication", "rolbypassrls")
        add("pg.pg_roles", [{**role, **dict.fromkeys(never, False)}])
        add("pg.pg_settings", [{"name": n.lower(), "setting": v} for n, v in SETTINGS.items()])
        add("pg.shown_types", [{"oid": o, "typname": t.name, "shown": t.full} for o, t in TYPES.items()])
        add("pg.pg_type", types_of(_SYSTEM))
        add("pg.pg_proc", functions_of(_SYSTEM))
        relations = self.relations
        numbers = {name: n for n, name in enumerate(relations, _FIRST)}
        columns = [(name, i, c) for name, schema in relations.items() for i, c in enumerate(schema, 1)]
        kinds = {name: "r" if name in self._tables else "v" for name in relations}
        keyed = {name for name, table in self._tables.items() if table.primary_key}
        add(
            "pg.pg_class",
            [
                {**_relation(numbers[n], n, len(relations[n]), kinds[n]), "relhasindex": n in keyed}
                for n in relations
            ],
        )
        defaults = {(name, i): said for name, i, c in columns if (said := self._said.default(name, c.name))}
        add(
            "pg.pg_attribute",
            [{**_attribute(numbers[n], i, c), "atthasdef": (n, i) in defaults} for n, i, c in columns],
        )
        add(
            "pg.pg_attrdef",
            [
                {"oid": oid, "adrelid": numbers[name], "adnum": i, "adbin": said}
                for oid, ((name, i), said) in enumerate(defaults.items(), _DEFAULTS)
            ],
        )
        queries = {name: said for name in relations if (said := self._said.queries.get(name.lower()))}
        add("pg.definitions", [{"oid": numbers[n], "place": 0, "said": f" {queries[n]};"} for n in queries])
        add("information.tables", [{**_place(n), **_KINDS[kinds[n]]} for n in relations])
        add(
            "information.views",
            [{**_place(n), "view_definition": queries.get(n)} for n in relations if kinds[n] == "v"],
        )
        add(
            "information.columns",
            [{**_place(n), **_column(i, c), "column_default": defaults.get((n, i))} for n, i, c in columns],
        )
        tables = list(self._tables.values())
        add_keys(add, tables, numbers, _FIRST + len(relations), {"relnamespace": _PUBLIC, "relowner": 10})


def _place(name: str) -> dict[str, object]:
    return {"table_catalog": DATABASE, "table_schema": "public", "table_name": name}


def _typed(columns: str) -> str:
    """Columns of which no type is said are texts."""
    return ", ".join(one if " " in one else f"{one} VARCHAR" for one in columns.split(", "))


def _characters() -> dict[str, object]:
    """The one set of characters that there is."""
    default = {"default_collate_catalog": DATABASE, "default_collate_schema": "pg_catalog"}
    named = {"character_set_name": "UTF8", "character_repertoire": "UCS", "form_of_use": "UTF8"}
    return {**named, **default, "default_collate_name": "C"}


def _relation(number: int, name: str, columns: int, kind: str) -> dict[str, object]:
    none = ("reltype", "reloftype", "relam", "relfilenode", "reltablespace", "reltoastrelid", "relchecks")
    no = ("relisshared", "relhasrules", "relhastriggers", "relhassubclass", "relrowsecurity")
    never = ("relforcerowsecurity", "relispartition", "relhasoids")
    return {
        "oid": number,
        "relname": name,
        "relnamespace": _PUBLIC,
        "relowner": 10,
        "relpages": 0,
        "reltuples": -1,
        "relpersistence": "p",
        "relkind": kind,
        "relnatts": columns,
        "relispopulated": True,
        "relreplident": "n",
        **dict.fromkeys(none, 0),
        **dict.fromkeys((*no, *never), False),
    }


def _attribute(number: int, position: int, column: Field) -> dict[str, object]:
    oid = oid_of(column.type)
    return {
        "attrelid": number,
        "attname": column.name,
        "atttypid": oid,
        "attlen": TYPES[oid].size,
        "attnum": position,
        "attndims": 0,
        "atttypmod": modifier_of(column.type),
        "attnotnull": not column.nullable,
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
    named = TYPES[oid_of(type_)]
    is_decimal = pa.types.is_decimal(type_)
    return {
        "column_name": column.name,
        "ordinal_position": position,
        "is_nullable": "YES" if column.nullable else "NO",
        "data_type": named.full,
        "numeric_precision": type_.precision if is_decimal else None,
        "numeric_scale": type_.scale if is_decimal else None,
        "udt_schema": "pg_catalog",
        "udt_name": named.name,
        "is_identity": "NO",
        "is_generated": "NEVER",
        "is_updatable": "NO",
    }
