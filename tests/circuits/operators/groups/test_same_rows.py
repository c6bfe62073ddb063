"""The rows of a trace that a change is of: those that plain Python finds equal, whatever their sort keys."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.operators.groups.same_rows import same_rows
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.trace import as_runs
from tests.generators.columns.zsets import zset_of
from tests.laws.operators_laws import hash_seeds

pytestmark = pytest.mark.usefixtures("ties")

SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.string())])
LAYOUT = Layout(SCHEMA, (0,), order=1)
rows = st.tuples(st.sampled_from([0, 1, None]), st.sampled_from([None, "", "same a", "same b", "z"]))
weighed = st.lists(st.tuples(rows, st.sampled_from([-1, 1, 2])), max_size=12, unique_by=lambda pair: pair[0])


def listed(batch: Batch) -> list[Any]:
    return list(zip(*(column.to_pylist() for column in batch.rows.columns), strict=True))


@given(st.lists(weighed, max_size=3), weighed.filter(bool), hash_seeds)
def test_the_same(held: list[Any], change: list[Any], seed: int) -> None:
    runs = as_runs(*(Batch.build(LAYOUT, zset_of(SCHEMA, run), seed) for run in held))
    delta = Batch.build(LAYOUT, zset_of(SCHEMA, change), seed)
    found: Counter[Any] = Counter()
    for wanted, batch in same_rows(runs, delta, seed):
        assert [listed(delta)[i] for i in wanted.tolist()] == listed(batch)
        found.update(zip(listed(batch), batch.weights.tolist(), strict=True))
    changed = {row for row, _ in change}
    assert found == Counter(pair for run in held for pair in run if pair[0] in changed)


def test_of_many_by_their_hashes() -> None:
    many = [((0, f"same {i:04}"), 1) for i in range(3_000)]
    runs = as_runs(Batch.build(LAYOUT, zset_of(SCHEMA, many), 0))
    delta = Batch.build(LAYOUT, zset_of(SCHEMA, [((0, "same 1234"), -1), ((0, "same new"), 1)]), 0)
    ((wanted, batch),) = same_rows(runs, delta, 0)
    assert listed(batch) == [(0, "same 1234")] == [listed(delta)[i] for i in wanted]
