"""Bands find every row that meets the bounds, and of small numbers no other; so do bands of intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.traces.band import Band, ValueBand, asked
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import expand_ranges
from dbsp.circuits.traces.zset import ZSet

INT = pa.int64()
STORED = Layout(pa.schema([("k", INT), ("x", INT)]), (0,), order=1)
ASKING = Layout(pa.schema([("k", INT), ("low", INT), ("high", INT)]), (0,))
LOW, HIGH = Column(1, INT), Column(2, INT)
ANSI = (("evalMode", "ANSI"),)
FAILING = Call("divide", (Column(1, pa.float64()), Column(2, pa.float64())), pa.float64(), True, ANSI)
BANDS = {
    "both": ValueBand(1, (LOW,), (HIGH,)),
    "lower": ValueBand(1, (LOW,), ()),
    "upper": ValueBand(1, (), (HIGH,)),
    "two lower": ValueBand(1, (LOW, HIGH), ()),
}
numbers = st.one_of(st.none(), st.integers(-3, 3))
Listed = list[tuple[int | None, ...]]
stored = st.lists(st.tuples(st.integers(0, 2), st.integers(-3, 3)), min_size=1, max_size=12)
asking = st.lists(st.tuples(st.integers(0, 3), numbers, numbers), max_size=5)


def batch_of(layout: Layout, rows: Listed, seed: int) -> Batch:
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(layout.schema)]
    zset = ZSet(pa.RecordBatch.from_arrays(columns, schema=layout.schema), np.ones(len(rows), np.int64))
    return Batch.build(layout, zset, seed)


def in_pieces(batch: Batch) -> SortedRun:
    """A batch for each sort key, as a long run is stored."""
    return SortedRun([batch.between(int(key), int(key) + 1) for key in np.unique(batch.keys)])


def meets(name: str, row: tuple[int | None, ...], x: int) -> bool:
    _, low, high = row
    above = {"lower": (low,), "both": (low,), "two lower": (low, high), "upper": ()}[name]
    below = (high,) if name in ("both", "upper") else ()
    return all(one is not None and one <= x for one in above) and all(
        one is not None and x <= one for one in below
    )


@given(st.sampled_from(sorted(BANDS)), stored, asking, st.sampled_from([0, FOUR_BITS]), st.booleans())
def test_a_band_finds_what_meets_its_bounds(
    name: str, kept: Listed, rows: Listed, seed: int, pieces: bool
) -> None:
    long, batch = batch_of(STORED, kept, seed), batch_of(ASKING, rows, seed)
    run = in_pieces(long) if pieces else SortedRun([long])
    owner, start, stop = asked(batch, BANDS[name]).matches(run)
    i, j = expand_ranges(start, stop)
    there, mine = long.rows.to_pylist(), batch.rows.to_pylist()
    found = {(int(owner[a]), int(b)) for a, b in zip(i, j, strict=True)}
    expected = {
        (a, b)
        for a, one in enumerate(mine)
        for b, other in enumerate(there)
        if one["k"] == other["k"] and meets(name, tuple(one.values()), other["x"])
    }
    assert expected <= found
    if seed == 0:  # small numbers have codes of their own, and keys have hashes of their own
        assert found == expected


@given(
    stored,
    asking,
    st.sampled_from([(True, True), (True, False), (False, True)]),
    st.sampled_from(["both", "lower", "upper"]),
    st.booleans(),
)
def test_what_may_fail_beyond_the_bounds_is_met_too_and_once(
    kept: Listed, rows: Listed, ends: tuple[bool, bool], name: str, pieces: bool
) -> None:
    """Up to the lower bound less 2, from the upper one plus 1 on, or up to either, where it isn't NULL."""
    long, batch = batch_of(STORED, kept, 0), batch_of(ASKING, rows, 0)
    run = in_pieces(long) if pieces else SortedRun([long])

    def beside(bound: Column, by: int) -> Call:
        return Call("saturated_sum", (bound, Literal(by, INT)), INT)

    under = (beside(LOW, -2), beside(HIGH, -3)) if ends[0] else ()
    over = (beside(HIGH, 1),) if ends[1] else ()
    owner, start, stop = asked(batch, replace(BANDS[name], under=under, over=over)).matches(run)
    i, j = expand_ranges(start, stop)
    found = sorted((int(owner[a]), int(b)) for a, b in zip(i, j, strict=True))
    there, mine = long.rows.to_pylist(), batch.rows.to_pylist()

    def is_beyond(one: dict[str, int | None], x: int) -> bool:
        low, high = one["low"], one["high"]
        below = (low is not None and x <= low - 2) or (high is not None and x <= high - 3)
        return (bool(under) and below) or (bool(over) and high is not None and x >= high + 1)

    assert found == [
        (a, b)
        for a, one in enumerate(mine)
        for b, other in enumerate(there)
        if one["k"] == other["k"]
        and (meets(name, tuple(one.values()), other["x"]) or is_beyond(one, other["x"]))
    ]


@given(stored, asking)
def test_without_a_band_all_rows_of_the_key_are_met(kept: Listed, rows: Listed) -> None:
    long, batch = batch_of(STORED, kept, 0), batch_of(ASKING, rows, 0)
    there, mine = long.rows.to_pylist(), batch.rows.to_pylist()
    for run in (SortedRun([long]), in_pieces(long)):
        owner, start, stop = asked(batch, None).matches(run)
        counts = {int(i): int(b - a) for i, a, b in zip(owner, start, stop, strict=True)}
        met = [sum(o["k"] == one["k"] for o in there) for one in mine]
        assert counts == {i: n for i, n in enumerate(met) if n}


def test_a_bound_that_cannot_be_computed_bounds_nothing() -> None:
    """The condition is computed of pairs: there may be none."""
    layout = Layout(pa.schema([("k", INT), ("low", pa.float64()), ("high", pa.float64())]), (0,))
    ordered = replace(STORED, schema=pa.schema([("k", INT), ("x", pa.float64())]))
    batch, long = batch_of(layout, [(1, 1.0, 0.0)], 0), batch_of(ordered, [(1, -5.0), (1, 5.0)], 0)  # type: ignore[list-item]
    for band in (ValueBand(1, (FAILING,), ()), ValueBand(1, (), (FAILING,))):
        _, start, stop = asked(batch, band).matches(SortedRun([long]))
        assert (stop - start).tolist() == [2]


@pytest.mark.parametrize(("name", "closed"), [("both", True), ("lower", False), ("upper", False)])
def test_a_band_says_what_it_is(name: str, closed: bool) -> None:
    band: Band = BANDS[name]
    assert band.is_closed == closed
    assert len(band.bounds) == 1 + closed
    assert band.orders(INT)
    assert not band.orders(pa.int32())


@pytest.mark.parametrize(
    ("low", "high", "met"), [(1, 1, [1]), (1, 2, [1, 2]), (2, 1, []), (-9, 9, [0, 1, 2]), (3, 9, [])]
)
def test_both_ends_belong_to_a_band_and_other_keys_do_not(low: int, high: int, met: list[int]) -> None:
    long = batch_of(STORED, [(k, x) for k in range(6) for x in range(3)], 0)
    batch = batch_of(ASKING, [(k, low, high) for k in range(6)], 0)
    there, mine = long.rows.to_pylist(), batch.rows.to_pylist()
    for run in (SortedRun([long]), in_pieces(long)):
        owner, start, stop = asked(batch, BANDS["both"]).matches(run)
        i, j = expand_ranges(start, stop)
        pairs = [(mine[owner[a]]["k"], there[b]["k"], there[b]["x"]) for a, b in zip(i, j, strict=True)]
        assert sorted(pairs) == [(k, k, x) for k in range(6) for x in met]
