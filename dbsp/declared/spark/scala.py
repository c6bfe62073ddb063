"""What Spark's own objects hold, through py4j: Scala's collections and options, names, columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dbsp.sql.text.tokens import quoted


def each(values: Any) -> Iterator[Any]:
    """The elements of a collection, or of ()."""
    if values == ():
        return
    iterator = values.iterator()
    while iterator.hasNext():
        yield iterator.next()


def option(value: Any) -> Any:
    """What an Option holds, or None."""
    return value.get() if value.isDefined() else None


def pairs(values: Any) -> dict[str, str]:
    """A Map of texts."""
    return {str(pair._1()): str(pair._2()) for pair in each(values)}


def name_of(identifier: Any) -> str:
    """A TableIdentifier, quoted."""
    return quoted([str(part) for part in each(identifier.nameParts())])


def spelled(identifier: Any) -> str:
    """A TableIdentifier as Spark's messages have it."""
    return str(identifier.unquotedString())


def columns_of(schema: Any) -> dict[str, str]:
    """The types of a StructType's fields, by their names."""
    # the collation that a text has anyway is said of those that a StructType of PySpark's declares
    return {
        str(field.name()): str(field.dataType().sql()).replace(" COLLATE UTF8_BINARY", "")
        for field in schema.fields()
    }
