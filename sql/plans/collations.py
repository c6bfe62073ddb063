"""Types whose texts are compared by a collation: columns hold the texts, and Spark is told of the type.

STRING COLLATE UTF8_LCASE, ARRAY<STRING COLLATE UNICODE>, STRUCT<`s`: STRING COLLATE UTF8_LCASE>
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.functions.spark.expression import SparkExpression
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.types import arrow_type, ddl

# Spark's JSON says of the texts in a struct how they compare, where their types say "string"
_OF_FIELDS = "__COLLATIONS"
# the metadata of an Arrow field that says so
_COLLATED = b"dbsp.collated"
_PARTS = ("type", "elementType", "keyType", "valueType", "fields")


def without_collations(spark: Any) -> Any:
    """The type, as a parsed `DataType.json()`, of the same texts compared by their bytes."""
    if isinstance(spark, str):
        return "string" if spark.startswith("string collate") else spark
    if isinstance(spark, list):
        return [without_collations(part) for part in spark]
    if not isinstance(spark, dict):
        return spark
    made = {key: without_collations(part) if key in _PARTS else part for key, part in spark.items()}
    if "metadata" in spark:
        made["metadata"] = {key: part for key, part in spark["metadata"].items() if key != _OF_FIELDS}
    return made


def kept_type(spark: Any) -> pa.DataType:
    """What a column of the type holds. Raises UnsupportedType."""
    return arrow_type(without_collations(spark))


def with_collation(spark: Any, text: str) -> Any:
    """The type with that of a text where it has one that says no collation."""
    if isinstance(spark, str):
        return text if spark == "string" else spark
    if isinstance(spark, list):
        return [with_collation(part, text) for part in spark]
    if not isinstance(spark, dict) or spark.get("metadata", {}).get(_OF_FIELDS):
        return spark
    return {key: with_collation(part, text) if key in _PARTS else part for key, part in spark.items()}


def collated(spark: Any) -> str:
    """The type as Spark DDL; '' where no text in it has a collation. Raises UnsupportedType."""
    return "" if without_collations(spark) == spark else _spelled(spark, "", {})


def by_bytes(ddl: str) -> bool:
    """Whether texts of a type, as Spark DDL, are equal only where their bytes are."""
    return not re.search(r"string collate (?!UTF8_BINARY\b)", ddl)


def is_collation_key(call: Call) -> bool:
    """Whether it is what Spark compares a text by along a collation."""
    expression = call.option("expression")
    return isinstance(expression, SparkExpression) and expression.name == "collationkey"


def _spelled(spark: Any, path: str, known: Mapping[str, str]) -> str:
    """known: by their paths, the collations of texts in a field of a struct."""
    if isinstance(spark, str):
        name = known[path].rpartition(".")[2] if path in known else spark.removeprefix("string collate ")
        return f"string collate {name}" if path in known or name != spark else ddl(arrow_type(spark))
    if spark["type"] == "array":
        return f"array<{_spelled(spark['elementType'], f'{path}.element', known)}>"
    if spark["type"] == "map":
        key, value = (_spelled(spark[f"{part}Type"], f"{path}.{part}", known) for part in ("key", "value"))
        return f"map<{key}, {value}>"
    fields = (
        f"`{one['name']}`: {_spelled(one['type'], one['name'], one.get('metadata', {}).get(_OF_FIELDS, {}))}"
        for one in spark["fields"]
    )
    return f"struct<{', '.join(fields)}>"


def arrow_field(column: Field) -> pa.Field:
    """The column in Arrow, whose texts have no collation but in the field's metadata."""
    metadata = {_COLLATED: column.collated.encode()} if column.collated else None
    return pa.field(column.name, column.type, column.nullable, metadata)


def column_of(field: pa.Field) -> Field:
    """The column that `arrow_field` gave."""
    return Field(
        field.name, field.type, field.nullable, collated=(field.metadata or {}).get(_COLLATED, b"").decode()
    )
