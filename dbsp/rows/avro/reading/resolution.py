"""The writer's schema against a table's columns: what reads each, or why nothing can.

    writer's type        column                 is
    a record             STRUCT                 its fields, by name or alias
    array, map           ARRAY, MAP of STRING   its items
    a union              any                    its branch; one that doesn't fit refuses messages that have it
    all else             as `simple` says       a value that the column holds unchanged

A field is a column's of its name or of an alias that either schema has; in another case where it is the only
one. A column that the writer hasn't is the default of the reader's schema, or NULL where there is no such
schema. Of a schema that is the reader's, too, it is a problem: it would be NULL in every row.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.types as pt

from dbsp.rows.avro.defaults import spelled_default
from dbsp.rows.avro.reading.messages import Messages
from dbsp.rows.avro.reading.passing import Passed
from dbsp.rows.avro.reading.readers import (
    Constant,
    Entries,
    Fields,
    Items,
    Leaf,
    OneOf,
    Passing,
    Reader,
    Refusing,
)
from dbsp.rows.avro.reading.simple import is_taken
from dbsp.rows.avro.schema import Array, Enum, Map, Node, Part, Record, Schema, Simple, Union
from dbsp.sql.plans.types import type_name


@dataclass
class Resolution:
    """writer: what wrote the messages. reader: what the program says of its columns. problems: of no message
    alone.
    """

    writer: Schema
    reader: Schema | None = None
    problems: list[str] = field(default_factory=list)

    def record(self, columns: pa.StructType) -> Fields:
        """Of the whole message. Raises Error where one of the schemas is of no record."""
        there = None if self.reader is None else self.reader.record()
        return self._record(self.writer.record(), columns, there, "")

    def _reader(self, node: Node, wanted: pa.DataType, there: Node | None, where: str) -> Reader:
        node = self.writer.of(node)
        if self.reader is not None and there is not None:
            there = _beside(self.reader, there, node)
        if isinstance(node, Union):
            return self._union(node, wanted, there, where)
        if isinstance(node, Simple | Enum) and is_taken(node, wanted):
            return Leaf(node, wanted, f"field '{where}'")
        if isinstance(node, Record) and pt.is_struct(wanted):
            return self._record(node, wanted, there if isinstance(there, Record) else None, f"{where}.")
        if isinstance(node, Array) and pt.is_list(wanted):
            of = there.items if isinstance(there, Array) else None
            return Items(wanted, self._reader(node.items, wanted.value_type, of, where))
        if isinstance(node, Map) and pt.is_map(wanted) and pt.is_string(wanted.key_type):
            of = there.values if isinstance(there, Map) else None
            value = self._reader(node.values, wanted.item_type, of, where)
            return Entries(wanted, Leaf(Simple("string"), wanted.key_type, f"field '{where}'"), value)
        return self._refusing(wanted, f"field '{where}' is {_shown(node)}, which is no {type_name(wanted)}")

    def _union(self, node: Union, wanted: pa.DataType, there: Node | None, where: str) -> Reader:
        """What one branch can't be is said of the messages that have it, unless no branch fits."""
        branches: list[Reader] = []
        for branch in node.branches:
            known = len(self.problems)
            branches.append(self._reader(branch, wanted, there, where))
            if isinstance(branches[-1], Refusing):
                del self.problems[known:]
        refused = [each for each in branches if isinstance(each, Refusing)]
        nothing = Simple("null") in node.branches
        if refused and len(refused) + nothing == len(branches):
            self.problems.append(refused[0].reason)
        return OneOf(wanted, branches)

    def _record(self, node: Record, wanted: pa.StructType, there: Record | None, before: str) -> Fields:
        by_name = {part.name: i for i, part in enumerate(node.fields)}
        known = {} if there is None else {part.name: part for part in there.fields}
        taken: dict[int, int] = {}
        missing: list[tuple[int, Reader]] = []
        for column, name in enumerate(wanted.names):
            aliases = known[name].aliases if name in known else ()
            names = [name, *aliases, *(part.name for part in node.fields if name in part.aliases)]
            found = next((by_name[each] for each in names if each in by_name), None)
            if found is None:
                alike = [i for each, i in by_name.items() if each.lower() == name.lower()]
                found = alike[0] if len(alike) == 1 else None
            if found is not None and found not in taken:
                taken[found] = column
            else:
                of = known.get(name)
                missing.append((column, self._missing(node, wanted.field(column), there, of, before)))
        parts: list[tuple[int, Reader] | Passing] = []
        for i, part in enumerate(node.fields):
            if i not in taken:
                parts.append(Passed(self.writer, part.type))
                continue
            field_ = wanted.field(taken[i])
            of_type = known[field_.name].type if field_.name in known else None
            read = self._reader(part.type, field_.type, of_type, f"{before}{field_.name}")
            parts.append((taken[i], read))
        return Fields(wanted, parts, missing)

    def _missing(
        self, node: Record, column: pa.Field, there: Record | None, part: Part | None, before: str
    ) -> Reader:
        """A column that the writer's record has no field of."""
        fields = ", ".join(each.name for each in node.fields)
        none = f"the Avro schema has no field '{before}{column.name}'; fields: {fields}"
        if there is None:
            self.problems.append(none)
            return Constant(pa.nulls(1, column.type))
        assert self.reader is not None
        if part is None:
            return self._refusing(column.type, f"{none}; nor has the reader's")
        if not part.has_default:
            return self._refusing(column.type, f"{none}; and the reader's has no default of it")
        own = Resolution(self.reader, self.reader)
        reader = own._reader(part.type, column.type, part.type, f"{before}{column.name}")
        written = spelled_default(self.reader, part.type, part.default)
        messages = Messages(pa.array([written], pa.binary()))
        value = reader.read(messages, messages.rows)
        if messages.is_refused.any():
            return self._refusing(column.type, f"the default of '{before}{column.name}': {messages.why()[0]}")
        return Constant(value)

    def _refusing(self, wanted: pa.DataType, reason: str) -> Reader:
        self.problems.append(reason)
        return Refusing(wanted, reason)


def _beside(reader: Schema, there: Node, node: Node) -> Node:
    """Of the reader's type what is of the writer's kind, so that its names and defaults are found."""
    there = reader.of(there)
    if not isinstance(there, Union) or isinstance(node, Union):
        return there
    branches = [reader.of(branch) for branch in there.branches]
    return next((each for each in branches if type(each) is type(node)), there)


def _shown(node: Node) -> str:
    if isinstance(node, Simple):
        return f"a {node.logical or node.kind}"
    return f"a {type(node).__name__.lower()}"
