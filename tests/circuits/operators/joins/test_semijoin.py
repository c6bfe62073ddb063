"""Semi- and anti-join: (a ⋉ b)[x] = a[x] where a right row is equal on the keys, (a ▷ b)[x] where none is."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.joins.join import LEFT, Join
from dbsp.circuits.operators.joins.semijoin import SemiJoin
from dbsp.circuits.operators.linear import Map
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.limits import Limit
from dbsp.circuits.verify import verify
from tests.circuits.engine import Engine, Options, source, trace
from tests.circuits.operators.joins.test_join import two_keyed
from tests.generators.columns.zsets import Naive, naive_of, zset_of
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams


def matched(a: Naive, b: Naive, keys: int, anti: bool) -> Naive:
    """Weights of b are summed a key, as its rows may cancel."""
    totals: dict[Any, int] = {}
    for y, m in b.items():
        totals[y[1 : 1 + keys]] = totals.get(y[1 : 1 + keys], 0) + m
    return Naive({x: n for x, n in a.items() if (totals.get(x[1 : 1 + keys], 0) > 0) != anti})


def semi(keys: int, anti: bool) -> Any:
    key = tuple(range(keys))

    def build(builder: CircuitBuilder, left: int, right: int) -> int:
        return builder.add(SemiJoin(key, key, anti), trace(builder, left, key), trace(builder, right, key))

    return build


@given(two_keyed(), st.booleans(), options, hash_seeds)
def test_semijoin(case: Any, anti: bool, way: Options, seed: int) -> None:
    keys, a, b, stream = case
    circuit = circuit_of({"a": a, "b": b}, semi(keys, anti), seed)
    check(circuit, stream, lambda left, right: matched(left, right, keys, anti), way)


@pytest.mark.slow
@given(two_keyed(), st.booleans(), options, hash_seeds)
def test_whole_rows_placed_by_a_key(case: Any, anti: bool, way: Options, seed: int) -> None:
    """Left rows against the left halves of pairs: both traces sort alike, so whole sort keys find rows."""
    keys, a, b, stream = case
    key, everything = tuple(range(keys)), tuple(range(len(a)))

    def build(builder: CircuitBuilder, left: int, right: int) -> int:
        mine = trace(builder, left, key)
        pairs = builder.add(
            Join(key, key, tuple((LEFT, i) for i in everything)), mine, trace(builder, right, key)
        )
        halves = builder.add(Map(tuple(Column(i, a.field(i).type) for i in everything), a), pairs)
        return builder.add(SemiJoin(everything, everything, anti), mine, trace(builder, halves, key))

    def query(left: Naive, right: Naive) -> Naive:
        totals: dict[Any, int] = {}
        for x, n in left.items():
            for y, m in right.items():
                if x[1 : 1 + keys] == y[1 : 1 + keys]:
                    totals[x] = totals.get(x, 0) + n * m
        return Naive({x: n for x, n in left.items() if (totals.get(x, 0) > 0) != anti})

    check(circuit_of({"a": a, "b": b}, build, seed), stream, query, way)


@given(two_keyed(), options, hash_seeds)
def test_without_keys_any_row_is_an_equal(case: Any, way: Options, seed: int) -> None:
    _, a, b, stream = case
    circuit = circuit_of({"a": a, "b": b}, semi(0, anti=True), seed)
    check(circuit, stream, lambda left, right: matched(left, right, 0, anti=True), way)


@pytest.mark.parametrize("anti", [False, True])
def test_only_a_first_or_last_equal_touches_old_rows(tmp_path: Any, anti: bool) -> None:
    schema = pa.schema([("k", pa.int64()), ("x", pa.int64())])
    engine = Engine(circuit_of({"a": schema, "b": schema}, semi(1, anti)), tmp_path)
    none = zset_of(schema, [])
    engine.step({"a": zset_of(schema, [((1, 1), 1), ((2, 2), 1)]), "b": none})
    first = engine.step({"a": none, "b": zset_of(schema, [((1, 7), 1)])})["v"]
    assert naive_of(first) == naive_of(zset_of(schema, [((1, 1), -1 if anti else 1)]))
    assert not len(engine.step({"a": none, "b": zset_of(schema, [((1, 8), 1), ((1, 9), 3)])})["v"])
    assert not len(engine.step({"a": none, "b": zset_of(schema, [((1, 7), -1), ((1, 9), -3)])})["v"])
    last = engine.step({"a": none, "b": zset_of(schema, [((1, 8), -1)])})["v"]
    assert naive_of(last) == naive_of(zset_of(schema, [((1, 1), 1 if anti else -1)]))


INT = pa.int64()
LINE, OTHER = ((Column(i, INT),) for i in range(2))
BY_BOTH = SemiJoin((0, 2), (1, 0))


def test_a_compared_column_is_bounded_where_both_sides_are() -> None:
    """An old left row leaves or enters whenever an equal right row comes: nothing else bounds it."""
    assert BY_BOTH.bounds([{0: LINE, 1: LINE, 2: LINE}, {1: OTHER}], {}) == {0: (*LINE, *OTHER)}
    assert BY_BOTH.bounds([{0: LINE}, {0: OTHER}], {}) == {}
    assert BY_BOTH.bounds([{2: LINE}, {0: LINE}], {}) == {2: LINE}


def test_left_rows_are_reached_by_the_right_ones_and_right_rows_by_both() -> None:
    left, right = {0: LINE, 2: LINE}, {1: OTHER}
    assert BY_BOTH.reach(0, [left, right]) == (Limit(Column(0, INT), OTHER),)
    assert BY_BOTH.reach(1, [left, right]) == (Limit(Column(1, INT), (*LINE, *OTHER)),)
    assert BY_BOTH.reach(0, [left, {}]) == BY_BOTH.reach(1, [{}, right]) == BY_BOTH.reach(1, [left, {}]) == ()


@pytest.mark.parametrize("anti", [False, True])
def test_what_it_says_of_itself(anti: bool) -> None:
    operator = SemiJoin((0,), (1,), anti)
    assert [operator.retracts([a, b]) for a in (False, True) for b in (False, True)] == [
        anti,
        True,
        True,
        True,
    ]
    assert [operator.origin(i) for i in range(3)] == [(0, 0), (0, 1), (0, 2)]
    assert operator.held([("left",), None]) == ("left",)
    assert operator.held([None, ("right",)]) is None
    assert (
        operator.shown([], ["a", "b"], ["x", "y"]) == f"{'without' if anti else 'with'} an equal on (a) = (y)"
    )


PAIR = pa.schema([("k", INT), ("x", INT)])


@given(st.data(), st.booleans(), hash_seeds)
def test_whole_rows_compared_crosswise(data: Any, anti: bool, seed: int) -> None:
    """(k, x) against (x, k): equal rows have other sort keys, though both traces sort alike."""

    def build(builder: CircuitBuilder, left: int, right: int) -> int:
        sides = trace(builder, left, (0, 1)), trace(builder, right, (1, 0))
        return builder.add(SemiJoin((0, 1), (1, 0), anti), *sides)

    def query(left: Naive, right: Naive) -> Naive:
        crossed = {("list", *y[:0:-1]): m for y, m in right.items()}
        return Naive({x: n for x, n in left.items() if (crossed.get(x, 0) > 0) != anti})

    circuit = circuit_of({"a": PAIR, "b": PAIR}, build, seed)
    node = next(node for node in circuit.nodes if isinstance(node.operator, SemiJoin))
    assert node.placement == (0, 1)
    check(circuit, data.draw(streams({"a": PAIR, "b": PAIR})), query, Options())


@pytest.mark.parametrize(
    ("on", "places", "said"),
    [
        (((0,), (0,)), ((0,), (1,)), "rows lie by columns that aren't compared"),
        (((0, 1), (0, 1)), ((0,), (0, 1)), "sides lie by other columns"),
        (((0,), (2,)), ((0,), (2,)), "key types differ"),
    ],
)
def test_what_is_no_semijoin(on: Any, places: Any, said: str) -> None:
    builder = CircuitBuilder()
    sides = [
        trace(builder, source(builder, "a", PAIR), places[0]),
        trace(builder, source(builder, "b", PAIR.append(pa.field("s", pa.string()))), places[1]),
    ]
    builder.add(SemiJoin(*on), *sides)
    with pytest.raises(AssertionError, match=said):
        verify(builder.build())


@pytest.mark.slow
@pytest.mark.parametrize("orders", [(1, None), (None, 1)])
@given(st.data(), st.booleans(), hash_seeds)
def test_whole_rows_of_traces_in_different_orders(orders: Any, data: Any, anti: bool, seed: int) -> None:
    """Their sort keys differ, so only the key's half finds rows."""

    def build(builder: CircuitBuilder, *sides: int) -> int:
        kept = [
            builder.add(Integrate((0,), order), builder.placed(side, (0,)))
            for order, side in zip(orders, sides, strict=True)
        ]
        return builder.add(SemiJoin((0, 1), (0, 1), anti), *kept)

    stream = data.draw(streams({"a": PAIR, "b": PAIR}))
    circuit = circuit_of({"a": PAIR, "b": PAIR}, build, seed)
    check(circuit, stream, lambda left, right: matched(left, right, 2, anti), Options())
