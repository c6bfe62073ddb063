"""Replacement: what it puts out turns what the trace holds into the rows it is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.errors import DataError
from dbsp.circuits.operators.inputs import replacement
from dbsp.circuits.operators.inputs.replacement import Replacement
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import Integral, as_runs
from dbsp.circuits.traces.zset import ZSet

SCHEMA = pa.schema([pa.field("k", pa.int64(), False), pa.field("v", pa.string())])
ROW = st.tuples(st.integers(0, 5), st.sampled_from([None, "", "a"]))
BAG = st.lists(ROW, max_size=12)
KEYED = st.dictionaries(st.integers(0, 9), st.sampled_from([None, "", "a"])).map(lambda d: [*d.items()])


@pytest.fixture(autouse=True, scope="module")
def small_ranges() -> Iterator[None]:
    with patch.object(replacement, "RANGE", 4):
        yield


def zset(rows: list[tuple[int, str | None]], weights: list[int] | None = None) -> ZSet:
    columns = [pa.array([k for k, _ in rows], pa.int64()), pa.array([v for _, v in rows], pa.string())]
    given = np.array(weights if weights is not None else [1] * len(rows), np.int64)
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), given)


def replaced(
    wanted: list[tuple[int, str | None]], runs: list[ZSet], key: tuple[int, ...], seed: int
) -> Counter[tuple[int, str | None]]:
    layout = Layout(SCHEMA, key or (0, 1))
    batches = [Batch.build(layout, run, seed) for run in runs]
    held = Integral(layout, as_runs(*batches), Batch.empty(layout))
    out = Replacement("t", key).step(Context(seed, 1, None, True), zset(wanted), held)
    found: Counter[tuple[int, str | None]] = Counter()
    for row, weight in zip(out.rows.to_pylist(), out.weights, strict=True):
        found[row["k"], row["v"]] += int(weight)
    assert len(out) == len(found)
    return found


@given(BAG, BAG, BAG, st.sampled_from([0, FOUR_BITS]))
def test_a_bag(wanted: list, held: list, passing: list, seed: int) -> None:
    """The trace is of three runs, of which one takes back what another has."""
    runs = [zset(held), zset(passing), zset(passing, [-1] * len(passing))]
    delta = replaced(wanted, runs, (), seed)
    difference = Counter(wanted)
    difference.subtract(Counter(held))
    assert delta == Counter({row: n for row, n in difference.items() if n})


@given(KEYED, KEYED, st.sampled_from([0, FOUR_BITS]))
def test_a_keyed_table(wanted: list, held: list, seed: int) -> None:
    delta = replaced(wanted, [zset(held[::2]), zset(held[1::2])], (0,), seed)
    changed = dict(wanted).items() - dict(held).items()
    gone = dict(held).keys() - dict(wanted).keys()
    assert delta == {**dict.fromkeys(changed, 1), **{(key, None): -1 for key in gone}}


@given(st.lists(ROW, max_size=8), st.sampled_from([0, FOUR_BITS]))
def test_a_key_has_one_row(wanted: list, seed: int) -> None:
    twice = sorted(key for key, count in Counter(key for key, _ in wanted).items() if count > 1)
    if not twice:
        assert replaced(wanted, [], (0,), seed) == dict.fromkeys(wanted, 1)
        return
    with pytest.raises(DataError, match=f"table 't': several rows have the key k={twice[0]}; a key has one"):
        replaced(wanted, [], (0,), seed)
