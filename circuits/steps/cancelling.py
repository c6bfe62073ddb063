"""Rows that cancel within a step are not evaluated where they fail.

    f fails on d  ⇒  f^Δ(d) = f^Δ(consolidate(d))

A delta may list +x and −x apart, in any order and from different parents; the contents never held x. An
operator that fails is asked again over each row's sum, so that it fails exactly where a row of the contents
does. Only a failing step pays for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.operator import Value
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.task import Input
from dbsp.circuits.traces.zset import WEIGHT, ZSet


def run_cancelling(run: Callable[..., Value], seed: int, inputs: Sequence[Value]) -> Value:
    """`run(*inputs)`; where it fails, of the inputs' sums. Raises EvaluationError."""
    try:
        return run(*inputs)
    except EvaluationError:
        sums = [value.consolidate(seed) if isinstance(value, ZSet) else value for value in inputs]
        if _size(sums) == _size(inputs):
            raise
        return run(*sums)


def _size(values: Sequence[Value]) -> int:
    return sum(len(value) for value in values if isinstance(value, ZSet))


def cancelled(
    circuit: Circuit, inputs: Mapping[str, Sequence[Input]], segments: Segments
) -> dict[str, Sequence[Input]] | None:
    """The inputs of a step with each row of a bag once; None where that changes nothing.

    For rows that cancel in different tasks. Where the order of rows counts they stay as they are.
    """
    sources = [node.operator for node in circuit.nodes if isinstance(node.operator, Source)]
    bags = {source.table: source.columns for source in sources if not source.is_numbered}
    found: dict[str, Sequence[Input]] = dict(inputs)
    for table in bags.keys() & inputs.keys():
        given = _whole(bags[table], inputs[table], segments)
        summed = given.consolidate(circuit.seed)
        if len(summed) < len(given):
            found[table] = [Input(0, summed.to_batch())]
    return found if any(found[table] is not inputs[table] for table in inputs) else None


def _whole(columns: pa.Schema, parts: Sequence[Input], segments: Segments) -> ZSet:
    stored = columns.append(pa.field(WEIGHT, pa.int64(), nullable=False))
    return ZSet.sum(columns, [ZSet.from_batch(part.open(segments, stored)) for part in parts])
