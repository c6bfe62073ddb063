"""Answers that several operators give alike, each for a reason that its members share.

A member that has another answer gives its own; what a family doesn't answer, each member must.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence, Set

import pyarrow as pa

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.legal import looks_up
from dbsp.circuits.operators.operator import (
    LINEAR,
    Context,
    Node,
    Operator,
    Placement,
    Reasons,
    Standing,
    Value,
)
from dbsp.circuits.operators.shown import parameters
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limits, of_bounds
from dbsp.circuits.traces.zset import ZSet


class Changes(Operator):
    """Takes the step's changes alone: it looks no row up, and keeps none."""

    @property
    def cost(self) -> str:
        return LINEAR

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        return None

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return everything(schema)

    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """No change, no output."""
        return None

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        return parameters(self, *inputs[:1])


class RowWise(Changes):
    """Makes rows of each row by itself, with its weight; so it retracts what its inputs do."""

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)

    def takes_bag(self, position: int) -> bool:
        return True

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Each row is made of one row of some input."""
        return all_of(inputs)


class Unchanged(Operator):
    """Rows of the output are rows of the input: some of them, moved, or with other weights."""

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def placement(self, *inputs: Placement) -> Placement:
        return inputs[0]

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return inputs[0]

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return 0, column


class Keeper(Operator):
    """Keeps a trace of its own, of whole rows, and takes the changes of its inputs alone.

    One that takes the clock beside them says itself when it wakes up, and what holds it.
    """

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        return None

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return everything(schema)

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Its contents are a function of theirs."""
        return all_of(inputs)

    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """What doesn't take the clock changes with its inputs."""
        return None

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        return parameters(self, *inputs[:1])


class Reader(Operator):
    """Looks rows up in the traces of its inputs, which hold whole rows.

    One that takes the clock beside them says itself when it wakes up, and what holds it.
    """

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        looks_up(node, inputs, where)

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return everything(schema)

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Its contents are a function of theirs."""
        return all_of(inputs)

    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """What doesn't take the clock changes with its inputs."""
        return None

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        return parameters(self, *inputs[:1])


class RowReader(Unchanged, Reader):
    """Looks up what the trace of its input holds of each row that changes."""

    @abstractmethod
    def step(self, context: Context, *inputs: Value) -> ZSet:
        """Of the rows that change, those that what is held lets through."""

    @property
    def cost(self) -> str:
        return "lookup"

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """A row, or its key, is looked up by its changes."""
        return of_bounds(inputs[position])

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)


def everything(schema: pa.Schema) -> Set[int]:
    """All columns."""
    return set(range(len(schema)))


def all_of(inputs: Sequence[Reasons | None]) -> Reasons | None:
    """What holds all of them together; of no input, nothing."""
    found: list[str] = []
    for reasons in inputs:
        if reasons is None:
            return None
        found += reasons
    return tuple(dict.fromkeys(found)) if inputs else None
