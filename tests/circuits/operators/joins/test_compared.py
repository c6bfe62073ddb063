"""Semi- and anti-join by keys and one comparison: left rows with a right row that compares, or without."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.columns.order_codes import has_order_code
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.operators.joins import compared as compared_module
from dbsp.circuits.operators.joins import ends
from dbsp.circuits.operators.joins.compared import ComparedSemiJoin
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.verify import verify
from tests.circuits.engine import Engine, Options, source
from tests.effort import examples
from tests.generators.columns.zsets import TYPES, Naive, kinds, naive_of, zset_of
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams

COMPARISONS = {
    "greater_than": operator.gt,
    "greater_than_or_equal": operator.ge,
    "less_than": operator.lt,
    "less_than_or_equal": operator.le,
    "not": operator.ne,
}
values = st.sampled_from([kind for kind in TYPES if has_order_code(kind)])


def rank(value: Any) -> Any:
    """By which Python compares as SQL does: NaN is the greatest number, 0.0 and -0.0 are one."""
    if value == "NaN":
        return True, 0
    if isinstance(value, tuple):
        kind, *rest = value
        return rest[0] if kind == "bool" else (False, kind)
    return value


@st.composite
def compared(draw: st.DrawFn) -> Any:
    """Tables of no key, one or two, and a value that is compared; the left one has another column."""
    keys = [pa.field(f"k{i}", draw(kinds)) for i in range(draw(st.integers(0, 2)))]
    value = pa.field("v", draw(values))
    a, b = pa.schema([*keys, value, pa.field("x", draw(kinds))]), pa.schema([*keys, value])
    return len(keys), a, b, draw(streams({"a": a, "b": b}, steps=4, size=8))


def operator_of(keys: int, value: pa.DataType, comparison: str, anti: bool) -> ComparedSemiJoin:
    columns = Column(0, value), Column(1, value)
    if comparison == "not":
        residual = Call("not", (Call("equal_to", columns, pa.bool_()),), pa.bool_())
    else:
        residual = Call(comparison, columns, pa.bool_())
    least, greatest = not comparison.startswith("less"), not comparison.startswith("greater")
    return ComparedSemiJoin(tuple(range(keys)), keys, residual, least, greatest, anti)


def built(made: ComparedSemiJoin) -> Any:
    key, value = made.left_key, made.left_value

    def build(builder: CircuitBuilder, *sides: int) -> int:
        return builder.add(
            made, *(builder.add(Integrate(key, order=value), builder.placed(side, key)) for side in sides)
        )

    return build


def matched(a: Naive, b: Naive, keys: int, comparison: str, anti: bool) -> Naive:
    def compares(x: Any, y: Any) -> bool:
        mine, other = x[1 + keys], y[1 + keys]
        if x[1 : 1 + keys] != y[1 : 1 + keys] or mine is None or other is None:
            return False
        return bool(COMPARISONS[comparison](rank(mine), rank(other)))

    there = [y for y, m in b.items() if m > 0]
    return Naive({x: n for x, n in a.items() if any(compares(x, y) for y in there) != anti})


@examples(150)
@given(compared(), st.sampled_from([*COMPARISONS]), st.booleans(), options, hash_seeds, st.integers(1, 4))
def test_compared(case: Any, comparison: str, anti: bool, way: Options, seed: int, fetch: int) -> None:
    """However few values of a key are fetched first."""
    keys, a, b, stream = case
    made = operator_of(keys, b.field(keys).type, comparison, anti)
    with patch.object(ends, "_FIRST_FETCH", fetch):
        check(
            circuit_of({"a": a, "b": b}, built(made), seed),
            stream,
            lambda left, right: matched(left, right, keys, comparison, anti),
            way,
        )


INT = pa.int64()
PAIR = pa.schema([("k", INT), ("v", INT)])
NONE = zset_of(PAIR, [])
OTHER_THAN = operator_of(1, INT, "not", anti=False)


@examples(60)
@given(st.data(), st.sampled_from([*COMPARISONS]), st.booleans(), hash_seeds)
def test_a_table_with_itself(data: Any, comparison: str, anti: bool, seed: int) -> None:
    """One trace serves as both sides."""
    made = operator_of(1, INT, comparison, anti)

    def build(builder: CircuitBuilder, rows: int) -> int:
        side = builder.add(Integrate((0,), order=1), builder.placed(rows, (0,)))
        return builder.add(made, side, side)

    def query(rows: Naive) -> Naive:
        return matched(rows, rows, 1, comparison, anti)

    check(circuit_of({"a": PAIR}, build, seed), data.draw(streams({"a": PAIR})), query, Options())


def test_what_it_costs_is_what_it_puts_out(tmp_path: Any) -> None:
    """A key of 10,000 matches, and of as many left rows: none is looked at that doesn't turn."""
    made = operator_of(1, INT, "less_than", anti=False)
    engine = Engine(circuit_of({"a": PAIR, "b": PAIR}, built(made)), tmp_path)
    many = zset_of(PAIR, [((1, v), 1) for v in range(10_000)])
    assert len(engine.step({"a": many, "b": many})["v"]) == 9_999
    read = []
    find = compared_module.find_within

    def counted(*args: Any) -> Any:
        for owner, batch, there in find(*args):
            read.append(len(owner))
            yield owner, batch, there

    with patch.object(compared_module, "find_within", counted):
        between = zset_of(PAIR, [((1, 5_000), -1)])
        assert not len(engine.step({"a": NONE, "b": between})["v"])
        beyond = zset_of(PAIR, [((1, 10_001), 1)])
        assert naive_of(engine.step({"a": NONE, "b": beyond})["v"]) == naive_of(
            zset_of(PAIR, [((1, 9_999), 1)])
        )
        gone = zset_of(PAIR, [((1, 10_001), -1)])
        assert len(engine.step({"a": NONE, "b": gone})["v"]) == 1
    assert sum(read) < 10


@pytest.mark.parametrize("anti", [False, True])
def test_one_value_is_no_other(tmp_path: Any, anti: bool) -> None:
    """A second value of a key turns the left rows of the first, and a third none."""
    engine = Engine(circuit_of({"a": PAIR, "b": PAIR}, built(replace(OTHER_THAN, anti=anti))), tmp_path)
    sign = -1 if anti else 1
    changes = [
        ([(1, 5), (1, 6)], [], [(1, 5), (1, 6)] if anti else []),
        ([], [((1, 5), 1)], [((1, 6), sign)]),
        ([], [((1, 7), 1)], [((1, 5), sign)]),
        ([], [((1, 9), 2)], []),
        ([], [((1, 5), -1)], []),
        ([], [((1, 7), -1), ((1, 9), -2)], [((1, 5), -sign), ((1, 6), -sign)]),
    ]
    for left, right, out in changes:
        made = engine.step({"a": zset_of(PAIR, weighted(left)), "b": zset_of(PAIR, weighted(right))})["v"]
        assert naive_of(made) == naive_of(zset_of(PAIR, weighted(out)))


def weighted(rows: Any) -> Any:
    return [row if isinstance(row[0], tuple) else (row, 1) for row in rows]


@pytest.mark.parametrize("anti", [False, True])
def test_what_it_says_of_itself(anti: bool) -> None:
    made = replace(OTHER_THAN, anti=anti)
    assert [made.retracts([a, b]) for a in (False, True) for b in (False, True)] == [anti, True, True, True]
    assert [made.origin(i) for i in range(2)] == [(0, 0), (0, 1)]
    assert made.held([("left",), None]) == ("left",)
    assert made.held([None, ("right",)]) is None
    assert made.takes_bag(0) and not made.takes_bag(1)
    assert made.bounds([{0: (Column(0, INT),)}, {0: (Column(0, INT),)}], {}) == {}
    assert made.reach(0, [{}, {}]) == made.reach(1, [{}, {}]) == ()
    said = f"{'without' if anti else 'with'} a match on (k) = (l) and not(equal_to(v, w))"
    assert made.shown([], ["k", "v"], ["l", "w"]) == said
    nowhere = replace(made, left_key=(), left_value=0)
    assert (
        nowhere.shown([], ["v"], ["w"]) == f"{'without' if anti else 'with'} a match on not(equal_to(v, w))"
    )


@pytest.mark.parametrize(
    ("made", "orders", "said"),
    [
        (OTHER_THAN, (None, 1), "in the order of its value"),
        (OTHER_THAN, (1, None), "in the order of its value"),
        (replace(OTHER_THAN, least=False, greatest=False), (1, 1), "of no end"),
        (replace(OTHER_THAN, left_value=2), (2, 1), "types differ"),
    ],
)
def test_what_is_legal(made: ComparedSemiJoin, orders: Any, said: str) -> None:
    builder = CircuitBuilder()
    schemas = pa.schema([*PAIR, ("s", pa.string())]), PAIR
    sides = [source(builder, name, schema) for name, schema in zip("ab", schemas, strict=True)]
    traces = [
        builder.add(Integrate((0,), order=order), builder.placed(side, (0,)))
        for side, order in zip(sides, orders, strict=True)
    ]
    builder.add(made, *traces)
    with pytest.raises(AssertionError, match=said):
        verify(builder.build())
