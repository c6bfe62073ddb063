"""Combine over expanded rows: they are combined before they are multiplied, as far as no projection minds.

    combine(expand[f₁ … fₖ](d)) = Σᵢ fᵢ(combine′(d)), added up by key      combine′: by what f₁ … fₖ read

Rows of a hopping window's group that lie between the same two starts (a *pane*) are in the same windows, and
rows of the finest group of a ROLLUP or CUBE in the same coarser ones. So a row a pane is multiplied, and not
a row a row.  State: none.  Cost: O(|d| log |d| + k·p log k·p) for p panes in the delta.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, int64_array
from dbsp.circuits.columns.groups import groups_of
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Column, Expression, Literal, columns_of, substitute
from dbsp.circuits.operators.families import RowWise
from dbsp.circuits.operators.groups.combine import Combine
from dbsp.circuits.operators.groups.state.accumulators import Accumulator
from dbsp.circuits.operators.legal import has_columns
from dbsp.circuits.operators.linear import moved, only_column, project
from dbsp.circuits.operators.operator import Context, Node, Placement, Value, delta_of
from dbsp.circuits.progress.bounds import Lines, alternate, expanded, projected
from dbsp.circuits.traces.zset import Grouped, ZSet


@dataclass(frozen=True)
class CombineExpanded(RowWise):
    """Output: the keys, then the accumulators; one row a group.

    keys: their schema. projections: the keys of each expansion, over `shared`. shared, arguments: over the
    input. accumulators: of the columns (keys, arguments), as those of a Combine.
    """

    keys: pa.Schema
    projections: tuple[tuple[Expression, ...], ...]
    shared: tuple[Expression, ...]
    arguments: tuple[Expression, ...]
    accumulators: tuple[Accumulator, ...]

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        sums = [pa.field(f"a{i}", pa.int64(), nullable=False) for i in range(len(self.accumulators))]
        return pa.schema([*self.keys, *sums])

    def placement(self, *inputs: Placement) -> Placement:
        plain = (
            tuple(self.shared[e.index] if isinstance(e, Column) else e for e in p) for p in self.projections
        )
        places = {moved(inputs[0], keys) for keys in plain}
        return places.pop() if len(places) == 1 else None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta, output = delta_of(inputs[0]), self._output
        if not len(delta):
            return ZSet.empty(output)
        given = project(delta.rows, (*self.shared, *self.arguments), self._given)
        panes = self._combine.step(context, ZSet(given, delta.weights))
        rows = ZSet.sum(output, [ZSet(project(panes.rows, p, output), panes.weights) for p in self._expanded])
        groups = groups_of(rows.rows, range(len(self.keys)), context.seed)
        added = [
            int64_array(groups.total(fixed_values(column), a.add))
            for a, column in zip(self.accumulators, rows.rows.columns[len(self.keys) :], strict=True)
        ]
        combined = pa.RecordBatch.from_arrays([*groups.keys, *added], schema=output)
        return Grouped(combined, groups.total(rows.weights), len(self.keys), groups.hashes)

    @cached_property
    def _output(self) -> pa.Schema:
        return self.schema()

    @cached_property
    def _given(self) -> pa.Schema:
        """Of the shared parts and the arguments."""
        read = (*self.shared, *self.arguments)
        return pa.schema([pa.field(f"c{i}", e.type) for i, e in enumerate(read)])

    @cached_property
    def _expanded(self) -> list[tuple[Expression, ...]]:
        """The projections, each with all accumulators, over what is combined."""
        sums = [Column(len(self.shared) + i, pa.int64()) for i in range(len(self.accumulators))]
        return [(*projection, *sums) for projection in self.projections]

    @cached_property
    def _combine(self) -> Combine:
        moved = len(self.shared) - len(self.keys)
        shifted = (replace(a, column=a.column + moved) for a in self.accumulators)
        return Combine(len(self.shared), tuple(shifted))

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        for expression in (*self.shared, *self.arguments):
            has_columns(expression, inputs[0], where)
        for projection in self.projections:
            assert [e.type for e in projection] == self.keys.types, f"{where}: keys of other types"
            for expression in projection:
                assert all(i < len(self.shared) for i in columns_of(expression)), f"{where}: no such part"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A group comes from one of the projections: bounded by the least of theirs."""
        shared = projected(self.shared, inputs[0])
        return expanded(self.projections, shared)

    def alternates(self, inputs: Sequence[Bounds]) -> bool:
        """Whether some bounded column is NULL in other projections."""
        return alternate(self.projections, projected(self.shared, inputs[0]))

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        if column >= len(self.keys):
            return None
        made = [projection[column] for projection in self.projections]
        sources = {only_column(e) for e in made if not isinstance(e, Literal)}
        part = sources.pop() if len(sources) == 1 else None
        source = None if part is None else only_column(self.shared[part])
        return None if source is None else (0, source)

    def computed_by(self, column: int) -> Sequence[Expression] | None:
        made = [projection[column] for projection in self.projections]
        parts = [e for e in made if not isinstance(e, Literal)]
        return [substitute(e, lambda part: self.shared[part.index]) for e in parts]

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return {column for e in (*self.shared, *self.arguments) for column in columns_of(e)}
