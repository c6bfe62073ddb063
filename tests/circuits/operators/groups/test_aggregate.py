"""Aggregate, built by hand: a function of each kind, as recomputed from the rows. Through SQL plans it is
tested in `tests/sql/lowering/test_aggregate.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.operators.groups.aggregate import Aggregate, Result
from dbsp.circuits.operators.groups.aggregates.bits import Bitwise
from dbsp.circuits.operators.groups.aggregates.collected import Mode
from dbsp.circuits.operators.groups.aggregates.counts import Count
from dbsp.circuits.operators.groups.aggregates.extremes import OrderedExtreme
from dbsp.circuits.operators.groups.aggregates.finalized import Finalized
from dbsp.circuits.operators.groups.aggregates.function import Function
from dbsp.circuits.operators.groups.aggregates.sums import Average, Sum, exact_sum
from dbsp.circuits.operators.groups.combine import Combine, CombineParts
from dbsp.circuits.operators.groups.state.accumulators import Accumulator, Digit, NarrowSum, Values
from dbsp.circuits.operators.linear import Filter
from dbsp.circuits.operators.streams import Integrate
from dbsp.testing.bags import identity
from tests.circuits.engine import Engine, Options
from tests.generators.columns.zsets import Naive, zset_of
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams

SCHEMA = pa.schema([("k", pa.int32()), ("x", pa.int32())])
X: tuple[Accumulator, ...] = (Values(1), NarrowSum(1))
RESULTS: list[tuple[str, pa.DataType, Function]] = [
    ("count(*)", pa.int64(), Count()),
    ("count(x)", pa.int64(), Count(values=Values(1))),
    ("sum(x)", pa.int64(), Sum(0, Values(1), (NarrowSum(1),))),
    ("avg(x)", pa.float64(), Average(0, Values(1), (NarrowSum(1),))),
    ("max(x)", pa.int32(), OrderedExtreme(0, greatest=True)),
    ("min(x)", pa.int32(), OrderedExtreme(0, greatest=False)),
    ("mode(x)", pa.int32(), Finalized(1, Mode())),
    ("bit_or(x)", pa.int32(), Finalized(2, Bitwise("bit_or"))),
]


def aggregated(builder: CircuitBuilder, table: int) -> int:
    """All of them over integrals of accumulators, of ordered values, of all values, and of parts."""
    known = builder.add(
        Filter(Call("is_not_null", (Column(1, pa.int32()),), pa.bool_(), nullable=False)), table
    )
    sums = builder.placed(builder.add(Combine(1, X), table), (0,))
    parts = builder.placed(builder.add(CombineParts(1, Bitwise("bit_or").split), known), (0,))
    placed = builder.placed(known, (0,))
    inputs = [
        builder.add(Integrate((0,), sums=(1, 2)), sums),
        builder.add(Integrate((0,), order=1), placed),
        builder.add(Integrate((0,)), placed),
        builder.add(Integrate((0,), sums=(2,)), parts),
    ]
    output = pa.schema([("k", pa.int32()), *((text, data_type) for text, data_type, _ in RESULTS)])
    results = tuple(Result(*result) for result in RESULTS)
    return builder.add(Aggregate(1, (X,), results, output), *inputs)


def by_the_book(table: Naive) -> Naive:
    found: Naive = Naive()
    for key in {row[1] for row in table}:
        rows = [(row[2], weight) for row, weight in table.items() if row[1] == key]
        if sum(weight for _, weight in rows) > 0:
            found[identity((key, *_results(rows)))] += 1
    return found


def _results(rows: list[tuple[Any, int]]) -> list[Any]:
    """Sums of all values, negative weights too; of the others those there are."""
    known = [(x, weight) for x, weight in rows if x is not None]
    count, total = sum(w for _, w in known), sum(x * w for x, w in known)
    there = [(x, w) for x, w in known if w > 0]
    most = max((w for _, w in there), default=0)
    set_, every = 0, sum(w for _, w in known)
    for bit in range(32):
        often = sum(w for x, w in known if x >> bit & 1)
        set_ |= (often > 0) << bit
    return [
        sum(w for _, w in rows),
        count,
        total if count > 0 else None,
        total / count if count > 0 else None,
        max((x for x, _ in there), default=None),
        min((x for x, _ in there), default=None),
        min((x for x, w in there if w == most), default=None),
        (set_ - (1 << 32) if set_ >> 31 else set_) if every > 0 else None,
    ]


@given(streams({"t": SCHEMA}, steps=4, size=6), options, hash_seeds)
def test_a_function_of_each_kind(stream: Any, way: Options, seed: int) -> None:
    check(circuit_of({"t": SCHEMA}, aggregated, seed), stream, by_the_book, way)


def test_an_error_names_the_aggregate_and_its_group(tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.string()), ("x", pa.int64())])
    digits = exact_sum(1, pa.int64())
    assert digits == (Digit(1, 0), Digit(1, 1))

    def build(builder: CircuitBuilder, table: int) -> int:
        sums = builder.placed(builder.add(Combine(1, digits), table), (0,))
        trace = builder.add(Integrate((0,), sums=(1, 2)), sums)
        output = pa.schema([("k", pa.string()), ("s", pa.int64())])
        return builder.add(
            Aggregate(1, (digits,), (Result("sum(x)", pa.int64(), Sum(0, None, digits)),), output), trace
        )

    engine = Engine(circuit_of({"t": schema}, build), tmp_path)
    engine.step({"t": zset_of(schema, [(("a", 1), 1), (("b", 2**63 - 1), 1)])})
    with pytest.raises(
        EvaluationError, match=r"sum\(x\) where k='b': \[ARITHMETIC_OVERFLOW\] BIGINT overflow"
    ):
        engine.step({"t": zset_of(schema, [(("a", 1), 1), (("b", 1), 1)])})
