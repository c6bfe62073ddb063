"""Bands of intervals find every interval that meets the one that asks, however long either is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.logic.interval_codes import INTERVAL_CODE
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.interval_band import IntervalBand
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import expand_ranges
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.traces.test_band import ASKING, batch_of, in_pieces

INT = pa.int64()
BAND = IntervalBand(3, (Column(1, INT),), (Column(2, INT),))
STORED = Layout(pa.schema([("k", INT), ("start", INT), ("end", INT), ("code", INTERVAL_CODE)]), (0,), order=3)
# around the ends of buckets, and as far apart as there are numbers
ENDS = [-(2**63), -(2**40), -17, -4, -1, 0, 1, 3, 4, 5, 16, 63, 64, 2**40, 2**62, 2**63 - 1]
ends = st.sampled_from(ENDS)
intervals = st.lists(st.tuples(st.integers(0, 2), ends, ends), min_size=1, max_size=12)
Listed = list[tuple[int, int, int]]


def stored_of(listed: Listed, seed: int) -> Batch:
    """Intervals; some end before they begin, and meet what lies around both ends."""
    columns = [pa.array([row[i] for row in listed], INT) for i in range(3)]
    rows = pa.RecordBatch.from_arrays(columns, names=["k", "start", "end"])
    code = evaluate(Call("interval_code", (Column(1, INT), Column(2, INT)), INTERVAL_CODE), rows)
    whole = pa.RecordBatch.from_arrays([*columns, code], schema=STORED.schema)
    return Batch.build(STORED, ZSet(whole, np.ones(len(listed), np.int64)), seed)


@given(intervals, intervals, st.sampled_from([0, FOUR_BITS]), st.booleans())
def test_every_interval_that_meets_is_found(kept: Listed, asked: Listed, seed: int, pieces: bool) -> None:
    long, batch = stored_of(kept, seed), batch_of(ASKING, list(asked), seed)
    run = in_pieces(long) if pieces else SortedRun([long])
    owner, start, stop = BAND.asked(batch).matches(run)
    i, j = expand_ranges(start, stop)
    pairs = [(int(owner[a]), int(b)) for a, b in zip(i, j, strict=True)]
    assert len(pairs) == len(set(pairs)), "no pair twice"
    there, mine = long.rows.to_pylist(), batch.rows.to_pylist()
    expected = {
        (a, b)
        for a, one in enumerate(mine)
        for b, other in enumerate(there)
        if one["k"] == other["k"] and other["start"] <= one["high"] and other["end"] >= one["low"]
    }
    assert expected <= set(pairs)


def test_few_others_are_looked_at() -> None:
    """Of a thousand neighbours that last as long as the one that asks, a handful."""
    long = stored_of([(0, 10 * n, 10 * n + 8) for n in range(1000)], 0)
    batch = batch_of(ASKING, [(0, 5000, 5008)], 0)
    for run in (SortedRun([long]), in_pieces(long)):
        _, start, stop = BAND.asked(batch).matches(run)
        assert 1 <= int((stop - start).sum()) <= 16


@pytest.mark.parametrize("asked", [(0, None, 5), (0, 5, None), (1, 0, 9)])
def test_a_null_or_another_key_meets_nothing(asked: tuple[int | None, ...]) -> None:
    owner, start, stop = BAND.asked(batch_of(ASKING, [asked], 0)).matches(
        SortedRun([stored_of([(0, 0, 9)], 0)])
    )
    assert int((stop - start).sum()) == 0
    assert len(owner) == len(start)


def test_it_is_over_interval_codes_alone() -> None:
    assert (BAND.is_closed, len(BAND.bounds)) == (True, 2)
    assert BAND.orders(INTERVAL_CODE)
    assert not BAND.orders(INT)


EVER = (-(2**63), 2**63 - 1)


@pytest.mark.parametrize(
    ("kept", "asked", "met"),
    [
        ((5, 5), (-(2**40), 2**40), True),  # more buckets than there are numbers of them
        ((5, 5), EVER, True),
        (EVER, (0, 0), True),
        ((3, 3), (4, 3), False),  # what asks ends before it begins
        ((3, 5), (4, 3), True),
    ],
)
def test_the_ends_of_what_there_is(kept: tuple[int, int], asked: tuple[int, int], met: bool) -> None:
    keys = range(8)
    long = stored_of([(k, *kept) for k in keys], 0)
    batch = batch_of(ASKING, [(k, *asked) for k in keys], 0)
    owner, start, stop = BAND.asked(batch).matches(SortedRun([long]))
    i, j = expand_ranges(start, stop)
    pairs = [(int(owner[a]), int(b)) for a, b in zip(i, j, strict=True)]
    assert len(pairs) == len(set(pairs)), "no pair twice"
    there, mine = long.rows.to_pylist(), batch.rows.to_pylist()
    found = {(mine[a]["k"], there[b]["k"]) for a, b in pairs}
    assert found == {(k, k) for k in keys} if met else found <= {(k, k) for k in keys}
