"""Generate: each row once for every element of a list (explode, posexplode, inline, unnest, LATERAL VIEW).

    generate_f(d)[x, e] = Σ { d[x] : e is an element of f(x), copies counted }

Linear, so that generate^Δ = generate.  State: none.  Cost: O(|d| + elements).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array, retyped, take
from dbsp.circuits.columns.hashing import list_ranges
from dbsp.circuits.columns.ranges import expand_lengths
from dbsp.circuits.expressions.mirror import taken
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.families import RowWise
from dbsp.circuits.operators.legal import has_columns
from dbsp.circuits.operators.operator import Context, Node, Placement, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Generate(RowWise):
    """Output: the `kept` columns, the element's position from 0 on if wanted, the element.

    elements: a list or a map. fields: an element that is a struct, or a map's entry, is its fields.
    outer: NULL and empty lists give one row, of NULLs.
    """

    kept: tuple[int, ...]
    elements: Expression
    output: pa.Schema
    outer: bool = False
    position: bool = False
    fields: bool = False

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.output

    def placement(self, *inputs: Placement) -> Placement:
        places = inputs[0]
        if places is None or not set(places) <= set(self.kept):
            return None
        return tuple(self.kept.index(i) for i in places)

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        if not len(delta):
            return ZSet.empty(self.output)
        starts, lengths, elements = list_ranges(evaluate(self.elements, delta.rows))
        counts = np.maximum(lengths, 1) if self.outer else lengths
        owner, within = expand_lengths(counts)
        nothing = lengths[owner] == 0
        columns = take(delta.rows.select(list(self.kept)), owner).columns if self.kept else []
        if self.position:
            data_type = self.output.field(len(self.kept)).type
            columns.append(pa.array(within, data_type, mask=nothing))
        position = starts[owner] + within
        indices = pa.array(position, mask=nothing) if nothing.any() else int64_array(position)
        picked = elements.take(indices)
        # flatten: the fields of a NULL struct are NULL
        columns += picked.flatten() if self.fields else [picked]
        # a map's entries name their fields otherwise, and an array's element may be declared otherwise
        cast = [retyped(c, f.type) for c, f in zip(columns, self.output, strict=True)]
        return ZSet(pa.RecordBatch.from_arrays(cast, schema=self.output), delta.weights[owner])

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        has_columns(self.elements, inputs[0], where)
        kept = [inputs[0].schema.field(i).type for i in self.kept]
        assert kept == node.schema.types[: len(kept)], f"{where}: kept columns' types differ"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Each output row has the kept columns of one input row; elements may be anything."""
        return taken(inputs[0], enumerate(self.kept))

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, self.kept[column]) if column < len(self.kept) else None
