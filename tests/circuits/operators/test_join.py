"""Inner equi-join: (a ⋈ b)[x, y] = a[x] · b[y] where the keys are equal."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuits.circuit import CircuitBuilder
from circuits.expressions.nodes import Call, Column
from circuits.operators.join import LEFT, RIGHT, Join
from circuits.zset import ZSet
from tests.circuits.engine import Engine, Options, trace
from tests.circuits.operators_laws import check, circuit_of, hash_seeds, options, streams
from tests.circuits.zsets import Naive, kinds, naive_of, plus, zset_of


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
