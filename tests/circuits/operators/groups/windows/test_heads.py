"""What groups have in front of some rows: sums of theirs, and of nobody else's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.groups import groups_of
from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.operators.groups.windows.heads import heads_of
from dbsp.circuits.operators.groups.windows.parts import Parts
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import HIGH, Layout
from dbsp.circuits.traces.trace import as_runs
from tests.circuits.operators.groups.windows.test_running import colliding
from tests.generators.columns.zsets import zset_of

SCHEMA = pa.schema([("k", pa.int16()), ("x", pa.int64())])
LAYOUT = Layout(SCHEMA, (0,), order=1)
OWN, OTHER, APART = colliding()
rows = st.tuples(st.sampled_from([OWN, OWN, OTHER, APART]), st.integers(0, 9))
listings = st.lists(st.tuples(rows, st.integers(-1, 2)), max_size=8)


@given(st.lists(listings, min_size=1, max_size=3), st.integers(0, 9), st.sampled_from([0, FOUR_BITS]))
def test_a_head_is_of_its_group_alone(held: list[Any], cut: int, seed: int) -> None:
    runs = as_runs(*(Batch.build(LAYOUT, zset_of(SCHEMA, listing), seed) for listing in held))
    asking = zset_of(SCHEMA, [((OWN, cut), 1)]).rows
    groups, (key,) = groups_of(asking, (0,), seed), LAYOUT.sort_keys(asking, seed)
    least = np.array([key & HIGH], np.uint64)
    ranges = [
        (run, *(run.ranges(least, np.array([key]))[0], run.ranges(np.array([key]), least)[0])) for run in runs
    ]
    own = [(x, w) for listing in held for (k, x), w in listing if x < cut and k == OWN]
    heads = heads_of(ranges, groups, (0,))
    if heads is None:  # of a batch, not of each range in it, is known that both are there
        assert seed and any(k == OTHER for listing in held for (k, _), _ in listing)
        return
    assert heads.rows.tolist() == [sum(w for _, w in own)]
    sums = heads.sums(Parts((1,), summed=True))
    assert sums.get(0, [0])[0] == sum(x * w for x, w in own)
