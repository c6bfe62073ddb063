"""The outermost rows of groups: whatever comes before the horizon was fetched, all of it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS, hash_rows
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.joins import outermost as module
from dbsp.circuits.operators.joins.edges import Finer
from dbsp.circuits.operators.joins.outermost import Outermost, outermost
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.blocks import ties
from dbsp.circuits.traces.layout import Layout, of_placement
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import as_runs
from tests.generators.columns.zsets import zset_of

SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.string()), ("n", pa.int64())])
LAYOUT = Layout(SCHEMA, (0,), order=1)
# all but the first two share an order code, which are the first four bytes
TEXTS = ["", "b", "same a", "same b", "same c"]
keys = st.sampled_from([0, 1, None])
rows = st.tuples(keys, st.sampled_from(TEXTS), st.integers(0, 2))
runs = st.lists(st.lists(rows, max_size=12, unique=True), max_size=3)
WANTED = [0, 1, 5, None]

Row = tuple[int | None, str, int]


def order(row: Row, descending: bool, whole: bool) -> tuple[int, ...]:
    """The first is the outermost one: by text, and then by all of the row."""
    at = TEXTS.index(row[1])
    return (-at if descending else at, row[2] if whole else 0)


def built(listed: list[list[Row]], seed: int, cut: bool) -> tuple[SortedRun, ...]:
    """Runs of these rows. cut: of several batches, with all rows of a sort key in one of them."""
    batches = [Batch.build(LAYOUT, zset_of(SCHEMA, [(row, 1) for row in run]), seed) for run in listed]
    if not cut:
        return as_runs(*batches)
    found = []
    for batch in filter(len, batches):
        edges = [0, *(np.flatnonzero(np.diff(batch.keys)) + 1), len(batch)]
        found.append(SortedRun([batch.slice(a, b) for a, b in pairwise(edges)]))
    return tuple(found)


def fetched(
    runs: tuple[SortedRun, ...], greatest: bool, count: int, seed: int, finer: Finer | None
) -> Outermost:
    wanted = [pa.array(WANTED, pa.int64())]
    least, most = of_placement(hash_rows(wanted, len(WANTED), seed))
    return outermost(runs, wanted, np.arange(len(WANTED)), least, most, (0,), greatest, count, finer)


def rows_of(found: Outermost) -> dict[int, Counter[Row]]:
    by_group: dict[int, Counter[Row]] = {group: Counter() for group in range(len(WANTED))}
    for owner, batch in found.parts:
        values = zip(*(column.to_pylist() for column in batch.rows.columns), strict=True)
        for group, row in zip(owner.tolist(), values, strict=True):
            by_group[group][row] += 1  # type: ignore[index]
    return by_group


@given(
    runs,
    st.booleans(),
    st.integers(1, 4),
    st.sampled_from([0, FOUR_BITS]),
    st.booleans(),
    st.sampled_from([None, False, True]),
    st.sampled_from([0, 2, 1024]),
)
def test_what_is_complete_is_there(
    listed: list[list[Row]], greatest: bool, count: int, seed: int, cut: bool, whole: bool | None, few: int
) -> None:
    """whole: whether all of a row is in the order; None: none is asked for."""
    finer = None if whole is None else Finer((SortKey(1, greatest),), whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FEW", few)
        found = fetched(built(listed, seed, cut), greatest, count, seed, finer)
    by_group = rows_of(found)
    for group, key in enumerate(WANTED):
        everything = Counter(row for run in listed for row in run if row[0] == key)
        assert by_group[group] <= everything, "rows of the group, none twice"
        if not everything:
            continue
        if found.everything[group]:
            assert by_group[group] == everything
        asked = Batch.build(LAYOUT, zset_of(SCHEMA, [(row, 1) for row in everything]), seed)
        complete = found.is_complete(np.full(len(asked), group), asked)
        values = zip(*(column.to_pylist() for column in asked.rows.columns), strict=True)
        known = {row for row, is_known in zip(values, complete.tolist(), strict=True) if is_known}
        assert all(by_group[group][row] == everything[row] for row in known)  # type: ignore[index]
        if known and whole is not None:
            last = max(order(row, greatest, bool(whole)) for row in known)
            assert known >= {row for row in everything if order(row, greatest, bool(whole)) <= last}


def test_without_rows_everything_was_fetched() -> None:
    found = fetched((), True, 1, 0, None)
    assert found.everything.all() and not any(rows_of(found).values())


MANY = [(0, f"same {i:05}", i) for i in range(5_000)]


@pytest.mark.parametrize("greatest", [False, True])
def test_of_many_that_tie_the_first_are_fetched(greatest: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are sorted once."""
    sorted_: list[int] = []
    sort = ties.sort_rows

    def counting(rows: Any, *given: Any) -> Any:
        sorted_.append(rows.num_rows)
        return sort(rows, *given)

    monkeypatch.setattr(ties, "sort_rows", counting)
    runs = built([MANY, [(0, "same", 1), (0, "z", 1)]], 0, cut=False)
    for _ in range(2):
        found = fetched(runs, greatest, 3, 0, Finer((SortKey(1, greatest),)))
        of_many = MANY[:-4:-1] if greatest else MANY[:3]
        assert rows_of(found)[0] == Counter([*of_many, (0, "same", 1), (0, "z", 1)])
    assert sorted_ == [5_000]


def test_few_that_tie_are_all_fetched() -> None:
    few = MANY[:1_000]
    found = fetched(
        built([[*few, (0, "z", 0), (0, "a", 0)]], 0, cut=False), True, 3, 0, Finer((SortKey(1, True),))
    )
    assert rows_of(found)[0] == Counter([*few, (0, "z", 0)])
    rows = Batch.build(LAYOUT, zset_of(SCHEMA, [(few[0], 1), ((0, "a", 0), 1)]), 0)
    assert dict(
        zip(rows.rows.column(1).to_pylist(), found.is_complete(np.zeros(2, np.int64), rows), strict=True)
    ) == {"same 00000": True, "a": False}
