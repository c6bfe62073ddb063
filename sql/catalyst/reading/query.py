"""One query's dump and where it stands in the user's file, so that everything refused has its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.registry import snake_case
from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.plans.types import UnsupportedType, literal_type
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice, tokens_in

Node = dict[str, Any]


@dataclass(frozen=True)
class Query:
    """types: the dump's table of types, as parsed `DataType.json()`. timezone: the session's. recursive: the
    relations whose own query this is part of, so that no rows may be taken from them. functions: those of
    the program, by name in lower case. arriving: the tables whose rows have an order of arrival. relations:
    the columns of each table and view so far. views: those whose rows are exactly their plan's.
    looked_into: those of them whose plans are part of others'. shown: how a piece of the text is told that
    begins at a place. portable: see `Catalyst.portable`. tick: in which NOW() goes on, in microseconds; 0: in
    steps.
    """

    source: Source
    slice: Slice
    types: list[Any]
    timezone: str = "UTC"
    recursive: frozenset[str] = frozenset()
    functions: Mapping[str, PythonFunction] = field(default_factory=dict)
    arriving: frozenset[str] = frozenset()
    relations: Mapping[str, Schema] = field(default_factory=dict)
    views: Mapping[str, Plan] = field(default_factory=dict)
    looked_into: set[str] = field(default_factory=set)
    shown: Callable[[str, int], str] = lambda text, _: text
    portable: Callable[[int], Any] | None = None
    tick: int = 0

    def error(self, node: Node, message: str) -> ProgramError:
        return self.source.error(self.place(node), message)

    def refuse(self, node: Node, what: str, keyword: str = "") -> ProgramError:
        """keyword: where Spark lost the place, the construct's first word in the query is it."""
        start = self._start(node)
        place = self._find(keyword) if keyword and start == 0 else self.slice.place(start)
        return self.source.error(place, f"not supported yet: {what}")

    def _find(self, keyword: str) -> int:
        found = (token.start for token in tokens_in(self.source, self.slice) if token.upper == keyword)
        return next(found, self.slice.start)

    def place(self, node: Node) -> int:
        """Where a dumped node stands in the user's file."""
        return self.slice.place(self._start(node))

    def ends(self, node: Node) -> bool:
        """Whether the node's place goes to the end of the query, so that it is of the query as a whole."""
        return "s" in node and bool(node["s"][1] >= len(self.slice.text.rstrip()) - 1)

    def _start(self, node: Node) -> int:
        """The node's own place, or else that of the first expression inside; 0 where Spark lost it."""
        if "s" in node and not self._is_everything(node):
            return int(node["s"][0])
        inside = [n for n in nodes_in(node.get("o")) if "s" in n and not self._is_everything(n)]
        # columns have the place of where they were defined
        made = [n["s"][0] for n in inside if n["c"] != "AttributeReference"]
        return min(made or [n["s"][0] for n in inside], default=0)

    def _is_everything(self, node: Node) -> bool:
        return bool(node["s"][0] == 0 and self.ends(node))

    def spelled(self, node: Node) -> str:
        """The user's spelling on one line, or '' where Spark lost the place."""
        if "s" not in node or self._is_everything(node):
            return ""
        first, last = node["s"]
        return " ".join(self.shown(self.slice.original(first, last, self.source), first).split())

    def spark_type(self, node: Node) -> Any:
        return self.types[node["t"]]

    def value_type(self, node: Node) -> pa.DataType:
        """The type of an expression."""
        try:
            return literal_type(self.types[node["t"]])
        except UnsupportedType as error:
            name = _function_name(node)
            made_by = f", which {name}() gives" if name else ""
            raise self.refuse(node, f"type {error}{made_by}", name.upper()) from None

    def is_a_value(self, node: Node) -> bool:
        """Whether expressions have values of the node's type."""
        try:
            literal_type(self.types[node["t"]])
        except UnsupportedType:
            return False
        return True

    def column_type(self, node: Node, index: int) -> pa.DataType:
        """The type, by its number in `types`, of a column of the plan node."""
        spark = self.types[index]
        try:
            return literal_type(spark)
        except UnsupportedType as error:
            raise self.refuse(node, f"a column of type {error}") from None


def _function_name(node: Node) -> str:
    """The user's name of the function a node calls; '' where it is none."""
    if node["c"] == "StaticInvoke":
        return snake_case(node["o"]["functionName"])
    name = str(node.get("pretty", ""))
    return name if name.isidentifier() else ""


def nodes_in(value: Any) -> Iterator[Node]:
    """All dumped expressions inside a value of a dump, parents first; not those of sub-queries."""
    if isinstance(value, dict):
        if "c" in value:
            yield value
        for name, inner in value.items():
            if name not in ("m", "v", "s", "plan"):
                yield from nodes_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from nodes_in(inner)
