"""Rows of pg_type and pg_proc: types, and the functions that read and write them, by which drivers know them.

Source: PostgreSQL 17 documentation, chapters 51.39 and 51.64. The numbers are those of a real server.
"""

from __future__ import annotations

from dbsp.serving.postgres.language.types import (
    BOOL,
    BPCHAR,
    BYTEA,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    INTERVAL,
    JSON,
    JSONB,
    NAME,
    NUMERIC,
    OID,
    TEXT,
    TEXTS,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TYPES,
    UUID,
    VARCHAR,
    Type,
)

Row = dict[str, object]
_CHAR = 18
# types of the catalogue itself, which no column of a program has
_ITS_OWN = {
    _CHAR: Type("char", '"char"', 1, "Z", "STRING"),
    NAME: Type("name", "name", 64, "S", "STRING"),
    OID: Type("oid", "oid", 4, "N", "BIGINT"),
    BPCHAR: Type("bpchar", "character", -1, "S", "STRING"),
    TEXTS: Type("_text", "text[]", -1, "A", "STRING"),
}
# what is before `in`, `out`, `recv` and `send`, and their numbers
_FUNCTIONS = {
    BOOL: ("bool", (1242, 1243, 2436, 2437)),
    BYTEA: ("bytea", (1244, 31, 2412, 2413)),
    _CHAR: ("char", (1245, 33, 2434, 2435)),
    NAME: ("name", (34, 35, 2422, 2423)),
    INT8: ("int8", (460, 461, 2408, 2409)),
    INT2: ("int2", (38, 39, 2404, 2405)),
    INT4: ("int4", (42, 43, 2406, 2407)),
    TEXT: ("text", (46, 47, 2414, 2415)),
    OID: ("oid", (1798, 1799, 2418, 2419)),
    JSON: ("json_", (321, 322, 323, 324)),
    FLOAT4: ("float4", (200, 201, 2424, 2425)),
    FLOAT8: ("float8", (214, 215, 2426, 2427)),
    TEXTS: ("array_", (750, 751, 2400, 2401)),
    BPCHAR: ("bpchar", (1044, 1045, 2430, 2431)),
    VARCHAR: ("varchar", (1046, 1047, 2432, 2433)),
    DATE: ("date_", (1084, 1085, 2468, 2469)),
    TIME: ("time_", (1143, 1144, 2470, 2471)),
    TIMESTAMP: ("timestamp_", (1312, 1313, 2474, 2475)),
    TIMESTAMPTZ: ("timestamptz_", (1150, 1151, 2476, 2477)),
    INTERVAL: ("interval_", (1160, 1161, 2478, 2479)),
    NUMERIC: ("numeric_", (1701, 1702, 2460, 2461)),
    UUID: ("uuid_", (2952, 2953, 2961, 2962)),
    JSONB: ("jsonb_", (3806, 3804, 3805, 3803)),
}
_COLUMNS = ("typinput", "typoutput", "typreceive", "typsend")
# columns that hold numbers of functions, and are shown by their names
FUNCTION_COLUMNS = frozenset((*_COLUMNS, "typmodin", "typmodout", "typanalyze"))
_KINDS = ("in", "out", "recv", "send")


def types_of(schema: int) -> list[Row]:
    """The rows of pg_type. schema: the number of pg_catalog's."""
    return [_type(oid, type_, schema) for oid, type_ in {**_ITS_OWN, **TYPES}.items()]


def functions_of(schema: int) -> list[Row]:
    """The rows of pg_proc: what reads and writes these types."""
    return [
        {
            "oid": number,
            "proname": name + kind,
            "pronamespace": schema,
            "proowner": 10,
            "prokind": "f",
            "prorettype": 0,
            "prolang": 12,
            "proargtypes": [],
            "pronargs": 1,
            "provolatile": "i",
            "procost": 1,
            "prorows": 0,
            "provariadic": 0,
            "proisstrict": True,
            "proretset": False,
            "prosecdef": False,
            "proleakproof": False,
            "proparallel": "s",
            "prosrc": name + kind,
        }
        for name, numbers in _FUNCTIONS.values()
        for kind, number in zip(_KINDS, numbers, strict=True)
    ]


def _type(oid: int, type_: Type, schema: int) -> Row:
    kind = {"typtype": "b", "typcategory": type_.category, "typdelim": ",", "typrelid": 0}
    of = {"typelem": {TEXTS: TEXT, NAME: _CHAR}.get(oid, 0), "typarray": TEXTS if oid == TEXT else 0}
    rest = {"typbasetype": 0, "typtypmod": -1, "typndims": 0, "typnotnull": False, "typcollation": 0}
    base = {"oid": oid, "typname": type_.name, "typnamespace": schema, "typowner": 10, "typlen": type_.size}
    functions = dict(zip(_COLUMNS, _FUNCTIONS.get(oid, ("", (0, 0, 0, 0)))[1], strict=True))
    others = {"typmodin": 0, "typmodout": 0, "typanalyze": 0, "typisdefined": True, "typispreferred": False}
    return {**base, **kind, **of, **rest, **functions, **others}
