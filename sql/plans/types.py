"""Spark's types as Arrow's, and back.

    TINYINT … BIGINT → int8 … int64      FLOAT, DOUBLE → float32, float64     DECIMAL(p,s) → decimal128(p,s)
    STRING, CHAR, VARCHAR → string       DATE → date32                         BINARY → binary
    TIMESTAMP → timestamp(us, UTC)       TIMESTAMP_NTZ → timestamp(us)         BOOLEAN → bool
    INTERVAL DAY..SECOND → duration(us)  ARRAY, STRUCT, MAP → list_, struct, map_
    INTERVAL YEAR..MONTH → MONTHS, see `dbsp.circuits.columns.forms.months`
    TIME(0) … TIME(6) → TIME, see `dbsp.circuits.columns.forms.time_of_day`
    VARIANT → VARIANT, see `dbsp.circuits.columns.variants`

Nested elements are nullable whatever Spark says: nullability is a column's, not a type's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from dbsp.circuits.columns.forms.calendar_intervals import CALENDAR_INTERVAL
from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.circuits.columns.variants.type import VARIANT


class UnsupportedType(Exception):
    """A type no column can have. The message is Spark's name of it, and what to say instead."""


_SIMPLE: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "variant": VARIANT,
}
_DDL = {arrow: name for name, arrow in _SIMPLE.items()}
_DDL[TIME] = "time(6)"
_DDL[CALENDAR_INTERVAL] = "interval"
_DDL |= {pa.int8(): "tinyint", pa.int16(): "smallint", pa.int32(): "int", pa.int64(): "bigint"}


def arrow_type(spark: Any) -> pa.DataType:
    """spark: a parsed `DataType.json()`: a name, or a dict for nested types. Raises UnsupportedType."""
    if isinstance(spark, str):
        return _arrow_atom(spark)
    kind = spark["type"]
    if kind == "array":
        return pa.list_(arrow_type(spark["elementType"]))
    if kind == "map":
        return pa.map_(arrow_type(spark["keyType"]), arrow_type(spark["valueType"]))
    if kind == "struct":
        return _struct(spark, arrow_type)
    raise UnsupportedType(str(kind))


def _struct(spark: Any, of: Callable[[Any], pa.DataType]) -> pa.DataType:
    for field in spark["fields"]:
        # Spark's JSON says of the texts in a struct how they compare, where their types say "string"
        for collation in field.get("metadata", {}).get("__COLLATIONS", {}).values():
            raise UnsupportedType(_with_cure(f"string collate {collation.rpartition('.')[2]}"))
    return pa.struct([pa.field(field["name"], of(field["type"])) for field in spark["fields"]])


# what to say instead of a type that no column has, by the beginning of its name
_INSTEAD = {
    "interval": "of months and days; INTERVAL YEAR TO MONTH and INTERVAL DAY TO SECOND are columns' types",
    "time(": "finer than a microsecond; TIME(6) is the finest that columns have",
    "string collate": "its texts are compared by a collation; CAST it AS STRING, where bytes may be compared",
    "void": "CAST what is NULL in it",
}


# in which case tells, and accents don't
_UNKEYED = re.compile("string collate (?!.*_CI).*_AI")
_OF_UNKEYED = (
    "ICU's keys of it take 'ß' for 'ss', and Spark's comparison doesn't, which joins go by; "
    "say UNICODE_CI_AI or UNICODE"
)


def _with_cure(name: str) -> str:
    if _UNKEYED.match(name):
        return f"{name} ({_OF_UNKEYED})"
    cure = next((cure for start, cure in _INSTEAD.items() if name.startswith(start)), "")
    return f"{name} ({cure})" if cure else name


def _arrow_atom(name: str) -> pa.DataType:
    if name in _SIMPLE:
        return _SIMPLE[name]
    if match := re.fullmatch(r"decimal\((\d+),\s*(-?\d+)\)", name):
        return pa.decimal128(int(match[1]), int(match[2]))
    if re.fullmatch(r"(var)?char\(\d+\)", name):
        return pa.string()
    if re.fullmatch(r"interval (day|hour|minute|second)( to (hour|minute|second))?", name):
        return pa.duration("us")
    if is_year_month(name):
        return MONTHS
    if re.fullmatch(r"time\([0-6]\)", name):
        return TIME
    raise UnsupportedType(_with_cure(name))


def is_year_month(spark: Any) -> bool:
    return isinstance(spark, str) and re.fullmatch(r"interval (year|month)( to month)?", spark) is not None


def intervals_in(spark: Any) -> list[str]:
    """The types of intervals in the type, outermost first."""
    return [name for name in _names_in(spark) if name.startswith("interval ")]


def coarse_time(spark: Any) -> str:
    """A TIME of fewer digits than it is kept with, in the type; '' where there is none."""
    return next((name for name in _names_in(spark) if re.fullmatch(r"time\([0-5]\)", name)), "")


def _names_in(spark: Any) -> Iterator[str]:
    """The names of the types in the type, outermost first. Its fields may be called by such names, too."""
    if isinstance(spark, str):
        yield spark
    elif isinstance(spark, list):
        for part in spark:
            yield from _names_in(part)
    elif isinstance(spark, dict):
        for key, part in spark.items():
            if key not in ("name", "metadata"):
                yield from _names_in(part)


def literal_type(spark: Any) -> pa.DataType:
    """Like `arrow_type`, and the types only constants and intermediate values have.

    CalendarInterval is CALENDAR_INTERVAL, VOID null.
    """
    if spark in ("void", "null"):
        return pa.null()
    if spark == "interval":
        return CALENDAR_INTERVAL
    if isinstance(spark, dict) and spark["type"] == "array":
        return pa.list_(literal_type(spark["elementType"]))
    if isinstance(spark, dict) and spark["type"] == "map":
        # an empty map's keys have no type, which Arrow has no map of
        keys = pa.string() if spark["keyType"] in ("void", "null") else literal_type(spark["keyType"])
        return pa.map_(keys, literal_type(spark["valueType"]))
    if isinstance(spark, dict) and spark["type"] == "struct":
        return _struct(spark, literal_type)
    return arrow_type(spark)


def ddl(type_: pa.DataType) -> str:
    """The type as Spark DDL, such as `decimal(10,2)` or `array<struct<a: bigint>>`."""
    if type_ in _DDL:
        return _DDL[type_]
    if pa.types.is_decimal(type_):
        return f"decimal({type_.precision},{type_.scale})"
    if pa.types.is_duration(type_):
        return "interval year to month" if type_ == MONTHS else "interval day to second"
    if pa.types.is_struct(type_):
        names = [field.name.replace("`", "``") for field in type_]
        fields = zip(names, type_, strict=True)
        return "struct<" + ", ".join(f"`{name}`: {ddl(field.type)}" for name, field in fields) + ">"
    if pa.types.is_list(type_):
        return f"array<{ddl(type_.value_type)}>"
    if pa.types.is_map(type_):
        return f"map<{ddl(type_.key_type)}, {ddl(type_.item_type)}>"
    raise UnsupportedType(str(type_))


_WORDS = re.compile("`((?:[^`]|``)*)`|[a-z]+")
_PLAIN = re.compile("[A-Za-z_][A-Za-z_0-9]*")


def type_name(type_: pa.DataType) -> str:
    """The type as messages have it, such as `ARRAY<STRUCT<a: BIGINT>>`; Arrow's name of one no column has."""
    try:
        return shown(ddl(type_))
    except UnsupportedType:
        return str(type_)


def shown(spelled: str) -> str:
    """DDL in capital letters. Names of fields are the user's, and in quotes only where they must be."""
    return _WORDS.sub(
        lambda word: (
            word[0].upper() if word[1] is None else word[1] if _PLAIN.fullmatch(word[1]) else word[0]
        ),
        spelled,
    )
