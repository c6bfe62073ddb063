"""Primary keys in PostgreSQL's catalogue: a constraint, and the index that it would have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dbsp.serving.postgres.catalogue.tables import DATABASE
from dbsp.sql.plans.program import Table

Row = dict[str, object]
# PostgreSQL's number of what an index is unless it is said otherwise
_BTREE = 403
Add = Callable[[str, Sequence[Row]], None]


def add_keys(add: Add, tables: Sequence[Table], numbers: Mapping[str, int], first: int, schema: Row) -> None:
    """numbers: of tables, by name. first: the first that is free. schema: of `public`, as a row has it."""
    keyed = [table for table in tables if table.primary_key]
    add("pg.pg_am", [{"oid": _BTREE, "amname": "btree", "amtype": "i"}])
    for number, table in enumerate(keyed, first):
        names = [column.name for column in table.schema]
        places = [names.index(name) + 1 for name in table.primary_key]
        name, of = f"{table.name}_pkey", numbers[table.name]
        add("pg.pg_constraint", [_constraint(number + len(keyed), name, of, number, places)])
        add("pg.pg_index", [_index(number, of, places)])
        index = {"oid": number, "relname": name, "relkind": "i", "relam": _BTREE, "relnatts": len(places)}
        add("pg.pg_class", [{**index, **schema}])
        listed = ", ".join(_quoted(one) for one in table.primary_key)
        definition = (
            f"CREATE UNIQUE INDEX {_quoted(name)} ON public.{_quoted(table.name)} USING btree ({listed})"
        )
        parts = [definition, *map(_quoted, table.primary_key)]
        add("pg.definitions", [{"oid": number, "place": i, "said": part} for i, part in enumerate(parts)])
        key = {"oid": number + len(keyed), "place": 0, "said": f"PRIMARY KEY ({listed})"}
        add("pg.definitions", [key])
        within = {"constraint_catalog": DATABASE, "constraint_schema": "public", "table_catalog": DATABASE}
        said = {**within, "constraint_name": name, "table_schema": "public", "table_name": table.name}
        never = {"is_deferrable": "NO", "initially_deferred": "NO", "enforced": "YES"}
        add("information.table_constraints", [{**said, **never, "constraint_type": "PRIMARY KEY"}])
        add(
            "information.key_column_usage",
            [
                {**said, "column_name": column, "ordinal_position": i}
                for i, column in enumerate(table.primary_key, 1)
            ],
        )


def _constraint(number: int, name: str, of: int, index: int, places: list[int]) -> Row:
    said: Row = {"oid": number, "conname": name, "connamespace": 2200, "contype": "p", "conrelid": of}
    never = {"condeferrable": False, "condeferred": False, "convalidated": True, "connoinherit": True}
    zeros = dict.fromkeys(("contypid", "conparentid", "confrelid"), 0)
    return {**said, **never, **zeros, "conindid": index, "conkey": places}


def _index(number: int, of: int, places: list[int]) -> Row:
    count = {"indnatts": len(places), "indnkeyatts": len(places), "indkey": places}
    true = ("indisunique", "indisprimary", "indimmediate", "indisvalid")
    false = ("indisexclusion", "indisclustered", "indisreplident", "indnullsnotdistinct")
    each = dict.fromkeys(("indoption", "indclass", "indcollation"), [0] * len(places))
    flags = {**dict.fromkeys(true, True), **dict.fromkeys(false, False)}
    return {"indexrelid": number, "indrelid": of, **count, **flags, **each}


def _quoted(name: str) -> str:
    """As PostgreSQL writes it: in quotes where it isn't plain."""
    if name.isascii() and name.replace("_", "a").isalnum() and name == name.lower() and not name[0].isdigit():
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
