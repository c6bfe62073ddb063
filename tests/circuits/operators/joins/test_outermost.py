"""The outermost rows of groups: whatever lies beyond the horizon was fetched, all of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS, hash_rows
from dbsp.circuits.columns.order_codes import order_code
from dbsp.circuits.operators.joins.outermost import codes_of, outermost
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout, of_placement
from dbsp.circuits.traces.trace import as_runs
from tests.generators.columns.zsets import zset_of

SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.int64())])
LAYOUT = Layout(SCHEMA, (0,), order=1)
# the last three share an order code
TIMES = [0, 1, 2, 2**40, 2**40 + 1, 2**40 + 2]
CODES = order_code(pa.array(TIMES)).astype(np.int64)
rows = st.tuples(st.sampled_from([0, 1, None]), st.sampled_from(TIMES))
runs = st.lists(st.lists(rows, max_size=10, unique=True), max_size=3)


def fetched(listed: list[list[Any]], wanted: list[Any], greatest: bool, count: int, seed: int) -> Any:
    """(what was found, of each group its rows)."""
    built = [Batch.build(LAYOUT, zset_of(SCHEMA, [(row, 1) for row in run]), seed) for run in listed]
    keys = [pa.array(wanted, pa.int64())]
    least, most = of_placement(hash_rows(keys, len(wanted), seed))
    groups = np.arange(len(wanted))
    found = outermost(as_runs(*built), keys, groups, least, most, (0,), greatest, count)
    by_group: dict[int, list[tuple[int, int]]] = {group: [] for group in range(len(wanted))}
    for owner, batch in found.parts:
        for group, time, code in zip(owner, batch.rows.column(1).to_pylist(), codes_of(batch), strict=True):
            by_group[int(group)].append((time, int(code)))
    return found, by_group


@given(runs, st.booleans(), st.integers(1, 4), st.sampled_from([0, FOUR_BITS]))
def test_what_is_complete_is_there(listed: list[list[Any]], greatest: bool, count: int, seed: int) -> None:
    wanted = [0, 1, 5, None]
    found, by_group = fetched(listed, wanted, greatest, count, seed)
    for group, key in enumerate(wanted):
        everything = Counter(t for run in listed for k, t in run if k == key)
        there = Counter(t for t, _ in by_group[group])
        assert there <= everything, "rows of the group, none twice"
        beyond = found.is_complete(np.full(len(TIMES), group), CODES)
        assert all(there[t] == everything[t] for t in np.array(TIMES)[beyond].tolist())
        if found.everything[group]:
            assert there == everything
        if seed == 0:  # without collisions all that a run fetches is of the group
            code = dict(zip(TIMES, CODES.tolist(), strict=True))
            best = sorted((code[t] for t in everything.elements()), reverse=greatest)
            assert [c for _, c in by_group[group] if c in best[:1]] or not best


def test_without_rows_everything_was_fetched() -> None:
    found, by_group = fetched([], [0], True, 1, 0)
    assert found.everything.all() and by_group == {0: []}


def test_a_group_of_few_rows_is_whole() -> None:
    found, by_group = fetched([[(0, 0), (0, 1), (1, 2)]], [0, 1], False, 2, 0)
    assert found.everything.tolist() == [True, True]
    assert [sorted(t for t, _ in by_group[i]) for i in range(2)] == [[0, 1], [2]]
    found, by_group = fetched([[(0, 0), (0, 1), (0, 2)]], [0], False, 2, 0)
    assert found.everything.tolist() == [False]
    assert sorted(t for t, _ in by_group[0]) == [0, 1]
