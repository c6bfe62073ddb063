"""Inner equi-join: (a ⋈ b)[x, y] = a[x] · b[y] where the keys are equal."""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.logic.interval_codes import INTERVAL_CODE
from dbsp.circuits.operators.joins.join import LEFT, RIGHT, Join
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.traces.band import ValueBand
from dbsp.circuits.traces.interval_band import IntervalBand
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import Engine, Options, trace
from tests.generators.columns.zsets import Naive, kinds, naive_of, plus, zset_of
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams


@st.composite
def two_keyed(draw: st.DrawFn) -> Any:
    """Tables whose first column, or first two, are the key."""
    keys = [pa.field(f"k{i}", draw(kinds)) for i in range(draw(st.integers(1, 2)))]
    a = pa.schema([*keys, pa.field("x", draw(kinds))])
    b = pa.schema([*keys, pa.field("y", draw(kinds))])
    return len(keys), a, b, draw(streams({"a": a, "b": b}, steps=4, size=5))


def joined(a: Naive, b: Naive, keys: int) -> Naive:
    pairs = (
        Naive({("list", *x[1:], *y[1:]): n * m})
        for x, n in a.items()
        for y, m in b.items()
        if x[1 : 1 + keys] == y[1 : 1 + keys]
    )
    return plus(*pairs)


def join(a: pa.Schema, b: pa.Schema, keys: int, residual: Any = None) -> Any:
    key = tuple(range(keys))
    columns = (*((LEFT, i) for i in range(len(a))), *((RIGHT, i) for i in range(len(b))))

    def build(builder: CircuitBuilder, left: int, right: int) -> int:
        operator = Join(key, key, columns, residual)
        return builder.add(operator, trace(builder, left, key), trace(builder, right, key))

    return build


@given(two_keyed(), options, hash_seeds)
def test_join(case: Any, way: Options, seed: int) -> None:
    keys, a, b, stream = case
    circuit = circuit_of({"a": a, "b": b}, join(a, b, keys), seed)
    check(circuit, stream, lambda left, right: joined(left, right, keys), way)


@given(two_keyed(), options, hash_seeds)
def test_join_with_residual(case: Any, way: Options, seed: int) -> None:
    keys, a, b, stream = case
    residual = Call("is_not_null", (Column(keys, a.field(keys).type),), pa.bool_(), nullable=False)
    circuit = circuit_of({"a": a, "b": b}, join(a, b, keys, residual), seed)

    def query(left: Naive, right: Naive) -> Naive:
        return joined(Naive({x: n for x, n in left.items() if x[1 + keys] is not None}), right, keys)

    check(circuit, stream, query, way)


@given(two_keyed(), options)
def test_self_join_is_not_linear(case: Any, way: Options) -> None:
    keys, a, _, stream = case
    circuit = circuit_of({"a": a}, lambda builder, t: join(a, a, keys)(builder, t, t))
    check(circuit, [{"a": d["a"]} for d in stream], lambda t: joined(t, t, keys), way)


@given(two_keyed())
def test_bilinear(tmp_path_factory: pytest.TempPathFactory, case: Any) -> None:
    """(a + a') ⋈ b = a ⋈ b + a' ⋈ b, each side computed by a circuit of its own."""
    keys, a, b, stream = case
    circuit = circuit_of({"a": a, "b": b}, join(a, b, keys))

    def once(left: ZSet, right: ZSet) -> Naive:
        return naive_of(Engine(circuit, tmp_path_factory.mktemp("j")).step({"a": left, "b": right})["v"])

    first, last = stream[0], stream[-1]
    assert once(first["a"] + last["a"], first["b"]) == plus(
        once(first["a"], first["b"]), once(last["a"], first["b"])
    )
    assert once(first["a"], first["b"] + last["b"]) == plus(
        once(first["a"], first["b"]), once(first["a"], last["b"])
    )
    assert once(first["a"], -first["b"]) == plus(
        *(Naive({row: -n}) for row, n in once(first["a"], first["b"]).items())
    )


def test_null_is_a_value_here(tmp_path: Any) -> None:
    """The algebra matches NULL with NULL (`<=>`); SQL's = filters NULL keys out before."""
    schema = pa.schema([("k", pa.int64()), ("x", pa.int64())])
    engine = Engine(circuit_of({"a": schema, "b": schema}, join(schema, schema, 1)), tmp_path)
    row = zset_of(schema, [((None, 1), 1)])
    assert len(engine.step({"a": row, "b": row})["v"]) == 1


# types that Python compares as SQL does
ordered = st.sampled_from(
    [pa.int64(), pa.string(), pa.timestamp("us"), pa.date32(), pa.decimal128(38, 10), pa.binary()]
)


@st.composite
def banded(draw: st.DrawFn) -> Any:
    """Tables of a key, or of none, a time on the right, and between which times it may be on the left."""
    keys, data_type = draw(st.integers(0, 1)), draw(ordered)
    a = pa.schema([pa.field("k", draw(kinds)), pa.field("low", data_type), pa.field("high", data_type)])
    b = pa.schema([a.field(0), pa.field("t", data_type), pa.field("y", draw(kinds))])
    return keys, data_type, a, b, draw(streams({"a": a, "b": b}, steps=4, size=8))


@pytest.mark.slow
@given(banded(), st.booleans(), st.booleans(), options, hash_seeds)
def test_join_within_a_band(case: Any, closed: bool, by_low: bool, way: Options, seed: int) -> None:
    """low <= t [< high]: the right trace in the order of t, the left in the order of either end."""
    keys, data_type, a, b, stream = case
    key, low, high, t = tuple(range(keys)), Column(1, data_type), Column(2, data_type), Column(4, data_type)
    columns = (*((LEFT, i) for i in range(3)), *((RIGHT, i) for i in range(3)))
    residual = Call("less_than_or_equal", (low, t), pa.bool_())
    if closed:
        residual = Call("and", (residual, Call("less_than", (t, high), pa.bool_())), pa.bool_())
    time = (Column(1, data_type),)
    right_band = ValueBand(1, (low,), (high,) if closed else ())
    left_band = ValueBand(1, (), time) if by_low or not closed else ValueBand(2, time, ())

    def build(builder: CircuitBuilder, left: int, right: int) -> int:
        sides = [
            builder.add(Integrate(key, order=band.column), builder.placed(side, key))
            for side, band in ((left, left_band), (right, right_band))
        ]
        return builder.add(Join(key, key, columns, residual, left_band, right_band), *sides)

    def is_within(x: Any, y: Any) -> bool:
        low, high, t = x[2], x[3], y[2]
        return None not in (low, t) and low <= t and (not closed or (high is not None and t < high))

    def query(left: Naive, right: Naive) -> Naive:
        return plus(
            *(
                Naive({("list", *x[1:], *y[1:]): n * m})
                for x, n in left.items()
                for y, m in right.items()
                if x[1 : 1 + keys] == y[1 : 1 + keys] and is_within(x, y)
            )
        )

    check(circuit_of({"a": a, "b": b}, build, seed), stream, query, way)


@given(banded(), st.booleans(), options, hash_seeds)
def test_self_join_within_a_band(case: Any, closed: bool, way: Options, seed: int) -> None:
    """x.low <= y.low [< x.high]: both sides are one trace, so that one batch is new on both."""
    keys, data_type, a, _, stream = case
    key, low, high, t = tuple(range(keys)), Column(1, data_type), Column(2, data_type), Column(4, data_type)
    columns = (*((LEFT, i) for i in range(3)), *((RIGHT, i) for i in range(3)))
    residual = Call("less_than_or_equal", (low, t), pa.bool_())
    if closed:
        residual = Call("and", (residual, Call("less_than", (t, high), pa.bool_())), pa.bool_())
    right_band = ValueBand(1, (low,), (high,) if closed else ())
    left_band = ValueBand(1, (), (low,))

    def build(builder: CircuitBuilder, side: int) -> int:
        kept = builder.add(Integrate(key, order=1), builder.placed(side, key))
        return builder.add(Join(key, key, columns, residual, left_band, right_band), kept, kept)

    def is_within(x: Any, y: Any) -> bool:
        low, high, t = x[2], x[3], y[2]
        return None not in (low, t) and low <= t and (not closed or (high is not None and t < high))

    def query(table: Naive) -> Naive:
        return plus(
            *(
                Naive({("list", *x[1:], *y[1:]): n * m})
                for x, n in table.items()
                for y, m in table.items()
                if x[1 : 1 + keys] == y[1 : 1 + keys] and is_within(x, y)
            )
        )

    check(circuit_of({"a": a}, build, seed), [{"a": each["a"]} for each in stream], query, way)


# small numbers, and those at which levels of intervals change or buckets come round again
FAR = [4**8, 4**8 + 1, 3 * 2**27, 2**40, -(2**40), 2**62, -(2**63), 2**63 - 1]
instants = st.one_of(st.integers(-3, 40), st.sampled_from(FAR))


@st.composite
def spanned(draw: st.DrawFn) -> Any:
    keys, data_type = draw(st.integers(0, 1)), draw(st.sampled_from([pa.int64(), pa.timestamp("us")]))
    fields = [pa.field("k", pa.int64()), pa.field("start", data_type), pa.field("end", data_type)]
    moment = st.one_of(st.none(), instants)
    row = st.tuples(st.integers(0, 1), moment, moment)
    deltas = st.lists(st.tuples(row, st.sampled_from([1, 1, 1, -1])), max_size=10)
    schema = pa.schema([*fields, pa.field("code", INTERVAL_CODE)])
    return keys, data_type, schema, draw(st.lists(st.tuples(deltas, deltas), min_size=1, max_size=4))


@given(spanned(), hash_seeds)
def test_join_of_intervals_that_meet(case: Any, seed: int) -> None:
    """a.start <= b.end AND a.end >= b.start: both traces in the order of interval codes."""
    keys, data_type, schema, stream = case
    key, (start, end) = tuple(range(keys)), (Column(1, data_type), Column(2, data_type))
    columns = (*((LEFT, i) for i in range(3)), *((RIGHT, i) for i in range(3)))
    starts = Call("less_than_or_equal", (Column(1, data_type), Column(5, data_type)), pa.bool_())
    ends = Call("greater_than_or_equal", (Column(2, data_type), Column(4, data_type)), pa.bool_())
    residual = Call("and", (starts, ends), pa.bool_())
    band = IntervalBand(3, (start,), (end,))

    def build(builder: CircuitBuilder, left: int, right: int) -> int:
        sides = [builder.add(Integrate(key, order=3), builder.placed(side, key)) for side in (left, right)]
        return builder.add(Join(key, key, columns, residual, band, band), *sides)

    def rows(listed: Any) -> ZSet:
        numbers = [pa.array([row[i] for row, _ in listed], pa.int64()) for i in range(3)]
        plain = [numbers[0], *(column.view(data_type) for column in numbers[1:])]
        made = pa.RecordBatch.from_arrays(plain, names=["k", "start", "end"])
        code = evaluate(Call("interval_code", (start, end), INTERVAL_CODE), made)
        both = pa.RecordBatch.from_arrays([*plain, code], schema=schema)
        return ZSet(both, np.array([n for _, n in listed], np.int64))

    def meet(listed: Any, other: Any) -> Counter[Any]:
        found: Counter[Any] = Counter()
        for (x, n), (y, m) in itertools.product(listed, other):
            known = None not in (*x, *y)
            if x[:keys] == y[:keys] and known and x[1] <= y[2] and x[2] >= y[1]:
                found[x, y] += n * m
        return Counter({pair: n for pair, n in found.items() if n})

    held: tuple[list[Any], list[Any]] = ([], [])
    view: Counter[Any] = Counter()
    with tempfile.TemporaryDirectory() as directory:
        engine = Engine(circuit_of({"a": schema, "b": schema}, build, seed), Path(directory))
        for left, right in stream:
            held[0].extend(left)
            held[1].extend(right)
            change = engine.step({"a": rows(left), "b": rows(right)})["v"]
            stored = [column.view(pa.int64()).to_pylist() for column in change.rows.columns]
            for row, weight in zip(zip(*stored, strict=True), change.weights.tolist(), strict=True):
                view[row[:3], row[3:]] += weight
            assert {pair: n for pair, n in view.items() if n} == meet(*held)


def test_a_bound_that_cannot_be_computed_bounds_nothing(tmp_path: Any) -> None:
    """The condition is computed of pairs, and of this row there is none."""
    schema = pa.schema([("k", pa.int64()), ("t", pa.int64())])
    five = Literal(5, pa.int64())
    lowest = (Call("subtract", (Column(1, pa.int64()), five), pa.int64()),)
    residual = Call(
        "greater_than_or_equal",
        (Call("add", (Column(3, pa.int64()), five), pa.int64()), Column(1, pa.int64())),
        pa.bool_(),
    )
    columns = ((LEFT, 0), (LEFT, 1), (RIGHT, 0), (RIGHT, 1))
    operator = Join((0,), (0,), columns, residual, None, ValueBand(1, lowest, ()))

    def build(builder: CircuitBuilder, left: int, right: int) -> int:
        by_time = builder.add(Integrate((0,), order=1), builder.placed(right, (0,)))
        return builder.add(operator, trace(builder, left, (0,)), by_time)

    engine = Engine(circuit_of({"a": schema, "b": schema}, build), tmp_path)
    engine.step({"a": zset_of(schema, []), "b": zset_of(schema, [((1, 7), 1)])})
    rows = zset_of(schema, [((1, 8), 1), ((2, -(2**63)), 1)])
    assert len(engine.step({"a": rows, "b": zset_of(schema, [])})["v"]) == 1
