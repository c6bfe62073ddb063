"""As-of join: each left row beside the nearest right row of its key."""

from __future__ import annotations

import operator
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.operators.joins.as_of import AsOf
from dbsp.circuits.operators.streams import Integrate
from tests.circuits.engine import Engine, Options
from tests.circuits.operators.joins.test_join import ordered
from tests.generators.columns.zsets import Naive, kinds, zset_of
from tests.laws.operators_laws import check, circuit_of, hash_seeds, options, streams

COMPARISONS = {
    "greater_than_or_equal": operator.ge,
    "greater_than": operator.gt,
    "less_than_or_equal": operator.le,
    "less_than": operator.lt,
}


@st.composite
def timed(draw: st.DrawFn) -> Any:
    """Tables of a key, or of none, and a time; the right one may have several rows of one time."""
    keys, data_type = draw(st.integers(0, 1)), draw(ordered)
    a = pa.schema([pa.field("k", draw(kinds)), pa.field("t", data_type), pa.field("x", draw(kinds))])
    first = a.field(0) if keys else pa.field("z", pa.int64())
    b = pa.schema([first, a.field(1), pa.field("y", pa.int64())])
    return keys, a, b, draw(streams({"a": a, "b": b}, steps=4, size=8))


def as_of(keys: int, comparison: str, outer: bool) -> Any:
    key = tuple(range(keys))

    def build(builder: CircuitBuilder, left: int, right: int) -> int:
        sides = [builder.add(Integrate(key, order=1), builder.placed(side, key)) for side in (left, right)]
        return builder.add(AsOf(key, key, 1, 1, comparison, outer), *sides)

    return build


@given(timed(), st.sampled_from(list(COMPARISONS)), st.booleans(), options, hash_seeds)
def test_as_of(case: Any, comparison: str, outer: bool, way: Options, seed: int) -> None:
    keys, a, b, stream = case
    compares = COMPARISONS[comparison]

    def query(left: Naive, right: Naive) -> Naive:
        found = Naive()
        # of one time it is the first in the order of the columns, NULLs first
        by_columns = sorted(
            (y for y, m in right.items() if m > 0 and y[2] is not None),
            key=lambda y: [(y[i] is not None, y[i] or 0) for i in (1, 3)[keys:]],
        )
        by_time = sorted(by_columns, key=lambda y: y[2], reverse=comparison.startswith("greater"))
        for x, n in left.items():
            matches = (
                y
                for y in by_time
                if x[2] is not None and x[1 : 1 + keys] == y[1 : 1 + keys] and compares(x[2], y[2])
            )
            match = next(matches, ("list", None, None, None) if outer else None)
            if match is not None:
                found[("list", *x[1:], *match[1:])] += n
        return found

    check(circuit_of({"a": a, "b": b}, as_of(keys, comparison, outer), seed), stream, query, way)


def test_a_right_row_changes_the_left_rows_until_the_next(tmp_path: Any) -> None:
    schema = pa.schema([("k", pa.int64()), ("t", pa.timestamp("us")), ("x", pa.int64())])
    circuit = circuit_of({"a": schema, "b": schema}, as_of(1, "greater_than_or_equal", False))
    engine = Engine(circuit, tmp_path)
    noon = datetime(2024, 1, 1, 12)
    left = zset_of(schema, [((k, noon + timedelta(minutes=m), m), 1) for k in (1, 2) for m in range(60)])
    right = zset_of(schema, [((k, noon + timedelta(minutes=m), m), 1) for k in (1, 2) for m in (0, 20, 40)])
    none = zset_of(schema, [])
    assert len(engine.step({"a": left, "b": right})["v"]) == 120
    between = [((1, noon + timedelta(minutes=10), 10), 1)]
    assert len(engine.step({"a": none, "b": zset_of(schema, between)})["v"]) == 2 * 10
    gone = [((1, noon + timedelta(minutes=20), 20), -1)]
    assert len(engine.step({"a": none, "b": zset_of(schema, gone)})["v"]) == 2 * 20
