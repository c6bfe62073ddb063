"""PostgreSQL's types: their numbers and names, and Arrow's and Spark's for them."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.forms import time_of_day
from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL

BOOL, BYTEA, NAME, INT8, INT2, INT4, TEXT, OID, JSON = 16, 17, 19, 20, 21, 23, 25, 26, 114
INTERVAL, TIMETZ, UUID, JSONB = 1186, 1266, 2950, 3802
FLOAT4, FLOAT8, BPCHAR, VARCHAR, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, NUMERIC = (
    *(700, 701, 1042, 1043),
    *(1082, 1083, 1114, 1184, 1700),
)


# an array of texts; what a column's field says whose texts are arrays, as PostgreSQL writes them
TEXTS, LISTED = 1009, {b"listed": b""}


# from 1970 to 2000, where PostgreSQL's times begin
DAYS = 10957
DAY = 86_400_000_000  # microseconds
MICROSECONDS = DAYS * DAY


class Type(NamedTuple):
    """name, full: PostgreSQL's, and the standard's. size: in bytes; -1: it varies. spark: Spark's name."""

    name: str
    full: str
    size: int
    category: str
    spark: str


TYPES = {
    BOOL: Type("bool", "boolean", 1, "B", "BOOLEAN"),
    BYTEA: Type("bytea", "bytea", -1, "U", "BINARY"),
    INT8: Type("int8", "bigint", 8, "N", "BIGINT"),
    INT2: Type("int2", "smallint", 2, "N", "SMALLINT"),
    INT4: Type("int4", "integer", 4, "N", "INT"),
    TEXT: Type("text", "text", -1, "S", "STRING"),
    JSON: Type("json", "json", -1, "U", "STRING"),
    FLOAT4: Type("float4", "real", 4, "N", "FLOAT"),
    FLOAT8: Type("float8", "double precision", 8, "N", "DOUBLE"),
    VARCHAR: Type("varchar", "character varying", -1, "S", "STRING"),
    DATE: Type("date", "date", 4, "D", "DATE"),
    TIME: Type("time", "time without time zone", 8, "D", "TIME"),
    TIMESTAMP: Type("timestamp", "timestamp without time zone", 8, "D", "TIMESTAMP_NTZ"),
    TIMESTAMPTZ: Type("timestamptz", "timestamp with time zone", 8, "D", "TIMESTAMP"),
    NUMERIC: Type("numeric", "numeric", -1, "N", "DECIMAL"),
}

_ARROW: dict[pa.DataType, int] = {
    pa.bool_(): BOOL,
    pa.int8(): INT2,
    pa.uint8(): INT2,
    pa.int16(): INT2,
    pa.uint16(): INT4,
    pa.int32(): INT4,
    pa.uint32(): INT8,
    pa.int64(): INT8,
    pa.uint64(): NUMERIC,
    pa.float32(): FLOAT4,
    pa.float64(): FLOAT8,
    pa.binary(): BYTEA,
    pa.date32(): DATE,
    time_of_day.TIME: TIME,
    pa.timestamp("us"): TIMESTAMP,
    pa.timestamp("us", tz="UTC"): TIMESTAMPTZ,
}


def oid_of(type_: pa.DataType) -> int:
    """The number of what stands for a type: json for what PostgreSQL has none, text for intervals."""
    if pt.is_decimal(type_):
        return NUMERIC
    if type_ == CALENDAR_INTERVAL:
        return TEXT
    return JSON if pt.is_nested(type_) else _ARROW.get(type_, TEXT)


def modifier_of(type_: pa.DataType) -> int:
    """Precision and scale of a DECIMAL; -1 of what has none."""
    return ((type_.precision << 16) | type_.scale) + 4 if pt.is_decimal(type_) else -1
