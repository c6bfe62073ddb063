"""The stream operators: delay, integrate, differentiate, and the exchange that moves rows.

    z⁻¹(s)ₜ = sₜ₋₁ (0 at t = 1)      I(s)ₜ = Σ_{i ≤ t} sᵢ      D(s)ₜ = sₜ − sₜ₋₁      D(I(s)) = I(D(s)) = s

DBSP, PVLDB 16(7), §2.2 (delay) and §2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Keeper, Reader, RowWise, Unchanged
from dbsp.circuits.operators.legal import lies_by
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limits
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun, batches_of
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Integrate(Unchanged, Keeper):
    """I(d), as a trace for other operators to read.

    gathered: all rows lie in one partition, and `placed_by` only finds them there: what a recursion reads.
    State: the trace, consolidated.  Cost: O(|d| log |d|) a step, plus merges of amortised
    O(|d| log |I(d)|).
    """

    placed_by: tuple[int, ...]
    order: int | None = None
    sums: tuple[int, ...] = ()
    minima: tuple[int, ...] = ()
    maxima: tuple[int, ...] = ()
    nulls_greatest: bool = False
    gathered: bool = False

    is_trace: ClassVar[bool] = True

    @property
    def keeps_rows(self) -> bool:
        return not (self.sums or self.minima or self.maxima)

    def placement(self, *inputs: Placement) -> Placement:
        return () if self.gathered else self.placed_by

    def layout(self, *inputs: pa.Schema) -> Layout:
        accumulators = (self.sums, self.minima, self.maxima)
        return Layout(inputs[0], self.placed_by, self.order, *accumulators, self.nulls_greatest)

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Integral:
        return Integral(layout, before, Batch.build(layout, delta_of(inputs[0]), context.seed))

    def reduced(self, delta: ZSet, rows: np.ndarray, seed: int) -> ZSet | None:
        """Equal rows as one, where all rows of a place are equal."""
        if {*self.placed_by} < {*range(len(delta.schema))}:
            return None
        return delta.take(rows).consolidate(seed)

    @property
    def cost(self) -> str:
        return "linear"

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        lies_by(inputs[0], node.placement, where)

    def own_reach(self, inputs: Sequence[Bounds]) -> Limits | None:
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)


@dataclass(frozen=True)
class Delay(Unchanged, Keeper):
    """z⁻¹(s)ₜ = sₜ₋₁.

    State: one delta (the trace adds −sₜ₋₁ + sₜ, so that its integral is sₜ).  Cost: O(|sₜ| + |sₜ₋₁|).
    """

    history: ClassVar[str] = "the steps one by one"

    def layout(self, *inputs: pa.Schema) -> Layout:
        return whole_rows(inputs[0])

    def placement(self, *inputs: Placement) -> Placement:
        return None

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Remembered:
        last = Batch.merge(layout, batches_of(before))
        change = delta_of(inputs[0]) - last.zset
        return Remembered(layout, before, Batch.build(layout, change, context.seed), last.zset)

    @property
    def cost(self) -> str:
        return "linear"

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """It puts out a change anew in each step."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)


@dataclass(frozen=True)
class Differentiate(Unchanged, Keeper):
    """D(s)ₜ = sₜ − sₜ₋₁.

    State: the last value of the stream.  Cost: O(|sₜ| + |sₜ₋₁|): a definition, not an incremental form.
    """

    history: ClassVar[str] = "the steps one by one"

    def layout(self, *inputs: pa.Schema) -> Layout:
        return whole_rows(inputs[0])

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Integral:
        change = delta_of(inputs[0]) - Batch.merge(layout, batches_of(before)).zset
        return Integral(layout, before, Batch.build(layout, change, context.seed))

    @property
    def cost(self) -> str:
        return "linear"

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """It is fed contents, whose sum has each row once a step."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return True


@dataclass(frozen=True)
class Current(Unchanged, Reader):
    """The value of an integral as a stream: Σ of all deltas so far, each step anew.

    A definition for circuits that are not incremental.  Cost: O(|I(d)|).
    """

    history: ClassVar[str] = "the steps one by one"

    @property
    def cost(self) -> str:
        return "everything"

    def step(self, context: Context, *inputs: Value) -> ZSet:
        (integral,) = inputs
        assert isinstance(integral, Integral)
        return Batch.merge(integral.layout, batches_of(integral.after)).zset

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        return ()

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """It puts out the contents anew in each step."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return any(inputs)


@dataclass(frozen=True)
class Exchange(Unchanged, RowWise):
    """The identity, which moves each row to the partition of its columns' hash.

    It opens a level: what reads it runs after every task of the level before.
    """

    columns: tuple[int, ...]

    def placement(self, *inputs: Placement) -> Placement:
        return self.columns

    def step(self, context: Context, *inputs: Value) -> ZSet:
        return delta_of(inputs[0])

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""


@dataclass(frozen=True)
class Broadcast(Exchange):
    """The identity, which gives every partition all rows: for a few of them, of which every task must know.

    What reads it must not add its rows to any trace or view: they are there once per partition.
    """

    columns: tuple[int, ...] = ()

    def placement(self, *inputs: Placement) -> Placement:
        return None


def found_by(node: Node) -> Placement:
    """The columns by which rows of a trace are found."""
    operator = node.operator
    return operator.placed_by if isinstance(operator, Integrate) else node.placement


@dataclass(frozen=True, eq=False)
class Remembered(Integral):
    """A trace whose stream is not its delta: what `Delay` puts out."""

    output: ZSet

    @property
    def zset(self) -> ZSet:
        return self.output


def whole_rows(schema: pa.Schema) -> Layout:
    """The layout of a trace that is only ever read as a whole, or by whole rows."""
    return Layout(schema, tuple(range(len(schema))))
