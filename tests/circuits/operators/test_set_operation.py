"""INTERSECT and EXCEPT [ALL]: the weight of a row follows from its weights in both inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.operators.set_operation import FUNCTIONS, SetOperation
from tests.circuits.engine import Options, trace
from tests.effort import examples
from tests.generators.columns.zsets import Naive, schemas
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams

# over bags a and b, as SQL has them
WEIGHTS: dict[str, Callable[[int, int], int]] = {
    "intersect all": min,
    "intersect": lambda a, b: min(a, b, 1),
    "except all": lambda a, b: max(a - b, 0),
    "except": lambda a, b: int(a > 0 and b == 0),
}


@st.composite
def two(draw: st.DrawFn) -> Any:
    schema = draw(schemas)
    return schema, draw(streams({"a": schema, "b": schema}, steps=5))


@pytest.mark.slow
@pytest.mark.parametrize("kind", FUNCTIONS)
@examples(25)
@given(case=two(), way=options, seed=hash_seeds)
def test_set_operation(kind: str, case: Any, way: Options, seed: int) -> None:
    schema, stream = case

    def build(builder: CircuitBuilder, a: int, b: int) -> int:
        return builder.add(SetOperation(kind), trace(builder, a), trace(builder, b))

    def query(a: Naive, b: Naive) -> Naive:
        weights = {row: WEIGHTS[kind](max(a.get(row, 0), 0), max(b.get(row, 0), 0)) for row in {*a, *b}}
        return Naive({row: weight for row, weight in weights.items() if weight})

    check(circuit_of({"a": schema, "b": schema}, build, seed), stream, query, way)
