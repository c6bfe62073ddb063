"""What columns a relation has."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.plans.types import ddl, shown

_SECOND = 1_000_000
# microseconds of what a time may be truncated to, and which is equally long each time
UNITS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": _SECOND,
    "MINUTE": 60 * _SECOND,
    "HOUR": 3_600 * _SECOND,
    "DAY": 86_400 * _SECOND,
    "DD": 86_400 * _SECOND,
    "WEEK": 604_800 * _SECOND,
}


@dataclass(frozen=True, slots=True)
class Windows:
    """What a column says of windows of time [start, end).

    part: 'start' or 'end' of a window, or 'both', a struct of the two in that order. width: microseconds from
    start to end; None: not known, as of sessions, which are not all equally long.
    """

    part: str
    width: int | None

    def field(self, ordinal: object) -> Windows | None:
        """What a field of the struct says, by its number."""
        if self.part != "both":
            return None
        return Windows("end" if ordinal else "start", self.width)


@dataclass(frozen=True, slots=True)
class Field:
    """window: of the column's values, where they are those of windows; it follows from what they are made of,
    so it is no part of what a plan is. collated: of a table or a view, the type as Spark DDL where a text in
    it is compared by a collation; a plan has texts, and keys of them.
    """

    name: str
    type: pa.DataType
    nullable: bool = True
    window: Windows | None = field(default=None, compare=False)
    collated: str = ""

    @property
    def ddl(self) -> str:
        """The type as Spark has it."""
        return self.collated or ddl(self.type)

    @property
    def type_name(self) -> str:
        """The type as messages have it."""
        return shown(self.ddl)


Schema = tuple[Field, ...]
# the columns that tell rows apart; None: no columns do
Key = tuple[int, ...] | None


def columns_of_schema(schema: Schema) -> tuple[Column, ...]:
    """All columns, as they are."""
    return tuple(Column(i, field.type, field.nullable) for i, field in enumerate(schema))


def arrow_schema(schema: Schema) -> pa.Schema:
    """Nullability stays with the plan: an Arrow field is declared nullable, so that equal types are equal."""
    return pa.schema([pa.field(field.name, field.type) for field in schema])
