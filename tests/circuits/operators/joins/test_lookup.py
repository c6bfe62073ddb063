"""A stream beside a table: what a row meets when it comes, by brute force over the table of that step."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.operators.joins.lookup import LOOKUPS, Lookup
from dbsp.circuits.progress.limits import Limit
from dbsp.circuits.verify import verify
from tests.circuits.engine import Engine, Options, output, source, trace
from tests.circuits.operators.joins.test_join import two_keyed
from tests.generators.columns.zsets import Naive, naive_of, plus, zset_of
from tests.laws.operators_laws import hash_seeds, options

INT = pa.int64()
A, B = pa.schema([("k", INT), ("x", INT)]), pa.schema([("k", INT), ("y", INT)])


def circuit_of(lookup: Lookup, a: pa.Schema, b: pa.Schema, seed: int = 0) -> Any:
    builder = CircuitBuilder(seed)
    left, right = source(builder, "a", a), source(builder, "b", b)
    arriving = builder.placed(left, lookup.left_key)
    output(builder, "v", builder.add(lookup, arriving, trace(builder, right, lookup.right_key)))
    return builder.build()


def met(new: Naive, table: Naive, kind: str, keys: int, width: int) -> Naive:
    """The output's change: of the new rows alone, over all of the table."""
    found = []
    for x, n in new.items():
        equal = [(y, m) for y, m in table.items() if y[1 : 1 + keys] == x[1 : 1 + keys]]
        if kind in ("semi", "anti"):
            found += [Naive({x: n})] if bool(equal) == (kind == "semi") else []
            continue
        found += [Naive({("list", *x[1:], *y[1:]): n * m}) for y, m in equal]
        if kind == "left" and not equal:
            found.append(Naive({("list", *x[1:], *[None] * width): n}))
    return plus(*found)


@given(two_keyed(), st.sampled_from(LOOKUPS), options, hash_seeds)
def test_a_row_meets_the_table_of_its_step(case: Any, kind: str, way: Options, seed: int) -> None:
    keys, a, b, stream = case
    key = tuple(range(keys))
    with tempfile.TemporaryDirectory() as root:
        engine = Engine(circuit_of(Lookup(key, key, kind), a, b, seed), Path(root), way)
        table, view = Naive(), Naive()
        for deltas in stream:
            table = plus(table, naive_of(deltas["b"]))
            expected = met(naive_of(deltas["a"]), table, kind, keys, len(b))
            assert naive_of(engine.step(deltas)["v"]) == expected
            view = plus(view, expected)
            assert naive_of(engine.view("v")) == view


@pytest.mark.parametrize("kind", LOOKUPS)
def test_what_the_table_does_later_changes_nothing(kind: str, tmp_path: Path) -> None:
    """Of two equal rows that come before and after the table's row, each has its own answer."""
    engine = Engine(circuit_of(Lookup((0,), (0,), kind), A, B), tmp_path)
    row, nothing = zset_of(A, [((1, 5), 1)]), zset_of(A, [])
    engine.step({"a": row, "b": zset_of(B, [])})
    assert not len(engine.step({"a": nothing, "b": zset_of(B, [((1, 7), 2)])})["v"])
    engine.step({"a": row, "b": zset_of(B, [])})
    assert not len(engine.step({"a": nothing, "b": zset_of(B, [((1, 7), -2)])})["v"])
    before = {"left": [(1, 5, None, None)], "anti": [(1, 5)]}.get(kind, [])
    after = {"inner": [(1, 5, 1, 7)] * 2, "left": [(1, 5, 1, 7)] * 2, "semi": [(1, 5)]}.get(kind, [])
    rows = engine.view("v").rows.to_pylist()
    weights = engine.view("v").weights.tolist()
    shown = [tuple(r.values()) for r, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    assert sorted(shown, key=str) == sorted(before + after, key=str)


@pytest.mark.parametrize("kind", LOOKUPS)
def test_a_condition_reads_both_sides(kind: str, tmp_path: Path) -> None:
    less = Call("less_than", (Column(1, INT), Column(3, INT)), pa.bool_())
    engine = Engine(circuit_of(Lookup((0,), (0,), kind, less), A, B), tmp_path)
    change = engine.step(
        {
            "a": zset_of(A, [((1, 5), 1), ((2, 5), 1)]),
            "b": zset_of(B, [((1, 4), 1), ((1, 6), 1), ((2, 5), 1)]),
        }
    )["v"]
    expected = {
        "inner": [(1, 5, 1, 6)],
        "left": [(1, 5, 1, 6), (2, 5, None, None)],
        "semi": [(1, 5)],
        "anti": [(2, 5)],
    }
    assert sorted(tuple(row.values()) for row in change.rows.to_pylist()) == expected[kind]


def test_without_keys_every_row_is_met(tmp_path: Path) -> None:
    engine = Engine(circuit_of(Lookup((), (), "inner"), A, B), tmp_path, Options(partitions=3))
    change = engine.step({"a": zset_of(A, [((1, 5), 2)]), "b": zset_of(B, [((1, 4), 1), ((9, 6), 3)])})["v"]
    assert naive_of(change) == Naive({("list", 1, 5, 1, 4): 2, ("list", 1, 5, 9, 6): 6})


LINE = (Column(0, INT),)


def test_what_it_says_of_itself() -> None:
    operator = Lookup((0,), (1,), "inner")
    assert [operator.retracts([a, b]) for a in (False, True) for b in (False, True)] == [
        False,
        False,
        True,
        True,
    ]
    assert operator.bounds([{1: LINE}, {0: LINE}], {}) == {1: LINE}
    assert operator.reach(0, [{0: LINE}, {}]) is None
    assert operator.reach(1, [{0: LINE, 1: LINE}, {}]) == (Limit(Column(1, INT), LINE),)
    assert operator.reach(1, [{1: LINE}, {1: LINE}]) == ()
    assert [operator.origin(i, A, B) for i in range(4)] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert operator.shown([], ["a", "b"], ["x", "y"]) == "inner, once, on (a) = (y)"
    assert Lookup((), (), "anti").shown([], ["a"], ["x"]) == "anti, once, every pair"


@pytest.mark.parametrize(
    ("lookup", "places", "said"),
    [
        (Lookup((0,), (0,), "full"), ((0,), (0,)), "no kind of lookup: full"),
        (Lookup((0,), (0,), "inner"), ((1,), (0,)), "the stream lies by"),
        (Lookup((0,), (0,), "inner", Column(4, pa.bool_())), ((0,), (0,)), "no such column"),
    ],
)
def test_what_is_no_lookup(lookup: Lookup, places: Any, said: str) -> None:
    builder = CircuitBuilder()
    left = builder.placed(source(builder, "a", A), places[0])
    builder.add(lookup, left, trace(builder, source(builder, "b", B), places[1]))
    with pytest.raises(AssertionError, match=said):
        verify(builder.build())


def test_its_table_is_a_trace() -> None:
    builder = CircuitBuilder()
    sides = [builder.placed(source(builder, name, A), (0,)) for name in "ab"]
    builder.add(Lookup((0,), (0,), "inner"), *sides)
    with pytest.raises(AssertionError, match="the table must be a trace"):
        verify(builder.build())
