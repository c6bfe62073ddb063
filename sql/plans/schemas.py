"""What columns a relation has."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: pa.DataType
    nullable: bool = True


Schema = tuple[Field, ...]


def columns_of_schema(schema: Schema) -> tuple[Column, ...]:
    """All columns, as they are."""
    return tuple(Column(i, field.type, field.nullable) for i, field in enumerate(schema))


def arrow_schema(schema: Schema) -> pa.Schema:
    """Nullability stays with the plan: an Arrow field is declared nullable, so that equal types are equal."""
    return pa.schema([pa.field(field.name, field.type) for field in schema])
