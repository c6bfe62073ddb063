"""An Avro schema as a tree: what its JSON says, with full names, and without what says nothing of the bytes.

A name stands for a type that was declared before it. So a type can be within itself, and the tree has names
in its leaves: `Schema.named` has what they stand for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dbsp.circuits.errors import Error

_PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
_INSTANTS = [
    f"{of}-{unit}" for of in ("timestamp", "local-timestamp") for unit in ("millis", "micros", "nanos")
]
# known here, and of which types
_LOGICAL = {
    "date": ("int",),
    "time-millis": ("int",),
    **dict.fromkeys(("time-micros", *_INSTANTS), ("long",)),
    "decimal": ("bytes", "fixed"),
    "uuid": ("string", "fixed"),
}


@dataclass(frozen=True)
class Simple:
    """kind: a primitive, or `fixed` of size bytes. logical: a logical type that is known here; else ''.

    scale: of a decimal.
    """

    kind: str
    logical: str = ""
    size: int = 0
    scale: int = 0
    precision: int = 0


@dataclass(frozen=True)
class Enum:
    """default: what a reader takes a symbol for that it doesn't know."""

    symbols: tuple[str, ...]
    default: str | None = None


@dataclass(frozen=True)
class Array:
    """Any number of items."""

    items: Node


@dataclass(frozen=True)
class Map:
    """Values by text."""

    values: Node


@dataclass(frozen=True)
class Union:
    """One of the branches."""

    branches: tuple[Node, ...]


@dataclass(frozen=True)
class Part:
    """A field. default: as JSON has it; has_default: whether there is one."""

    name: str
    type: Node
    aliases: tuple[str, ...] = ()
    default: Any = None
    has_default: bool = False


@dataclass(frozen=True)
class Record:
    """name: the full one."""

    name: str
    fields: tuple[Part, ...]


@dataclass(frozen=True)
class Named:
    """A type that was declared elsewhere."""

    name: str


Node: TypeAlias = Simple | Enum | Array | Map | Union | Record | Named


@dataclass(frozen=True)
class Schema:
    """named: all types that have a name."""

    root: Node
    named: Mapping[str, Node] = field(compare=False)

    def of(self, node: Node) -> Node:
        """What a name stands for; else itself."""
        return self.named[node.name] if isinstance(node, Named) else node

    def record(self) -> Record:
        """Raises Error where it is of something else."""
        root = self.of(self.root)
        if not isinstance(root, Record):
            raise Error("the Avro schema is of no record; columns are the fields of one")
        return root


def parsed(text: str, before: Sequence[str] = ()) -> Schema:
    """text: JSON. before: schemas whose types it names. Raises Error where it is none."""
    reader = _Parser()
    for each in before:
        reader.text(each)
    return Schema(reader.text(text), reader.named)


class _Parser:
    def __init__(self) -> None:
        self.named: dict[str, Node] = {}
        self.open: set[str] = set()

    def text(self, text: str) -> Node:
        try:
            given = json.loads(text)
        except ValueError as error:
            raise Error(f"the Avro schema can't be read: {error}") from error
        return self.node(given, "")

    def node(self, given: Any, space: str) -> Node:
        if isinstance(given, str):
            return self.name(given, space)
        if isinstance(given, list):
            return Union(tuple(self.node(each, space) for each in given))
        if not isinstance(given, dict) or "type" not in given:
            raise _broken(f"{json.dumps(given)[:80]} is no type")
        kind = given["type"]
        if not isinstance(kind, str):  # a type in braces of its own
            return self.node(kind, space)
        if kind == "array":
            return Array(self.node(_of(given, "items"), space))
        if kind == "map":
            return Map(self.node(_of(given, "values"), space))
        if kind in ("record", "error", "enum", "fixed"):
            return self.declared(given, kind, space)
        if kind in _PRIMITIVES:
            return _logical(given, kind, 0)
        return self.name(kind, space)

    def name(self, name: str, space: str) -> Node:
        if name in _PRIMITIVES:
            return Simple(name)
        full = _full(name, space)
        found = next((each for each in (full, name) if each in self.named or each in self.open), None)
        if found is None:
            known = ", ".join(sorted({*self.named, *self.open})) or "none"
            raise _broken(f"there is no type '{name}'; types declared before: {known}")
        return Named(found)

    def declared(self, given: Mapping[str, Any], kind: str, space: str) -> Node:
        name = _full(str(_of(given, "name")), given.get("namespace") or space)
        inside = name.rpartition(".")[0]
        node: Node
        if kind == "enum":
            node = Enum(tuple(_of(given, "symbols")), given.get("default"))
        elif kind == "fixed":
            node = _logical(given, kind, _of(given, "size"))
        else:
            self.open.add(name)
            parts = tuple(self.part(each, inside) for each in _of(given, "fields"))
            node = Record(name, parts)
        self.named[name] = node
        return node

    def part(self, given: Any, space: str) -> Part:
        if not isinstance(given, dict):
            raise _broken(f"{json.dumps(given)[:80]} is no field")
        type_ = self.node(_of(given, "type"), space)
        aliases = tuple(given.get("aliases", ()))
        return Part(str(_of(given, "name")), type_, aliases, given.get("default"), "default" in given)


def _logical(given: Mapping[str, Any], kind: str, size: Any) -> Simple:
    """A logical type that isn't known, or isn't of this type, is none, as the specification has it."""
    logical = given.get("logicalType", "")
    if not isinstance(size, int) or size < 0:
        raise _broken(f"{json.dumps(size)} is no size")
    if kind not in _LOGICAL.get(logical, ()) or (logical == "uuid" and kind == "fixed" and size != 16):
        return Simple(kind, size=size)
    if logical != "decimal":
        return Simple(kind, logical, size)
    precision, scale = given.get("precision"), given.get("scale", 0)
    if not isinstance(precision, int) or not isinstance(scale, int) or not 0 <= scale <= precision <= 38:
        return Simple(kind, size=size)
    return Simple(kind, logical, size, scale, precision)


def _full(name: str, space: str) -> str:
    return f"{space}.{name}" if space and "." not in name else name


def _of(given: Mapping[str, Any], part: str) -> Any:
    if part not in given:
        raise _broken(f"{json.dumps(given)[:80]} has no '{part}'")
    return given[part]


def _broken(why: str) -> Error:
    return Error(f"the Avro schema can't be read: {why}")
