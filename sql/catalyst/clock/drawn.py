"""rand(), uuid() and monotonically_increasing_id() in a DEFAULT: drawn for a row when it arrives."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import count

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Expression
from dbsp.circuits.operators.inputs.defaults import ARRIVED
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.clock.readings import NOW

RANDOM = "is not deterministic"  # as Forbidden.java says it
_DRAWN: dict[str, Callable[[int], Expression]] = {
    "Uuid": lambda salt: Call("drawn_uuid", (NOW, ARRIVED), pa.string(), False, (("salt", salt),)),
    "Rand": lambda salt: Call("drawn_double", (NOW, ARRIVED), pa.float64(), False, (("salt", salt),)),
    "MonotonicallyIncreasingID": lambda salt: ARRIVED,
}


class Drawn:
    """The `special` of `expression`. column: with its table; each call there draws for itself.

    Spark's seeds say nothing: they are others each time a program is compiled.
    """

    def __init__(self, query: Query, column: str) -> None:
        self._query, self._column = query, column
        self._calls = count()

    def __call__(self, node: Node) -> Expression | None:
        """Raises ProgramError for what is random otherwise."""
        if node.get("d", True) or any(not child.get("d", True) for child in node.get("k", ())):
            return None
        drawn = _DRAWN.get(node["c"])
        if drawn is None:
            raise self._query.refuse(node, f"{node['pretty']}() as a DEFAULT")
        text = f"{self._column}#{next(self._calls)}".encode()
        return drawn(int.from_bytes(hashlib.sha256(text).digest()[:8], "big"))
