"""What leaves of the keys that fire: the view's rows now for those that had left, whatever fires when."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.errors import DataError
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.emission.emit import Emit
from dbsp.circuits.operators.emission.timers import Timetable
from dbsp.circuits.operators.emission.trigger import Schedule
from dbsp.circuits.operators.inputs.thresholds import Threshold
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.limits import Limit
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet
from dbsp.circuits.verify import verify
from tests.circuits.engine import source
from tests.generators.columns.zsets import Naive, naive_of, plus, zset_of
from tests.laws.operators_laws import hash_seeds

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.string())])
KEYS = pa.schema([("k", pa.int64())])
keys = st.one_of(st.none(), st.integers(0, 2))
rows = st.tuples(keys, st.sampled_from(["", "a", None]))
steps = st.lists(
    st.tuples(st.lists(st.tuples(rows, st.integers(-1, 2)), max_size=5), st.sets(keys, max_size=3)),
    max_size=5,
)


class Emitting:
    """The trace of what has left and the view's, from step to step."""

    def __init__(self, emit: Emit, seed: int = 0) -> None:
        self.emit, self.seed = emit, seed
        self.layout, self.views = emit.layout(KEYS, SCHEMA), Integrate((0,)).layout(SCHEMA)
        self.left: tuple[SortedRun, ...] = ()
        self.held: tuple[SortedRun, ...] = ()

    def step(self, delta: ZSet, fired: list[Any]) -> ZSet:
        view = Integral(self.views, self.held, Batch.build(self.views, delta, self.seed))
        firing = ZSet(
            pa.record_batch([pa.array(fired, pa.int64())], schema=KEYS), np.ones(len(fired), np.int64)
        )
        leaving = self.emit.integrate(Context(self.seed, 1, None, True), self.layout, self.left, firing, view)
        self.left, self.held = leaving.after, view.after
        return leaving.zset


@given(steps, hash_seeds)
def test_each_key_leaves_as_of_the_step_at_which_it_fired(
    taken: list[tuple[list[tuple[Any, int]], set[Any]]], seed: int
) -> None:
    emitting = Emitting(Emit((0,)), seed)
    held, left = Naive(), Naive()
    as_of: dict[Any, Naive] = {}
    for listed, fired in taken:
        delta = zset_of(SCHEMA, listed)
        held = plus(held, naive_of(delta))
        leaving = emitting.step(delta, sorted(fired, key=str))
        left = plus(left, naive_of(leaving))
        as_of |= {key: Counter({row: n for row, n in held.items() if row[1] == key}) for key in fired}
        assert left == plus(*as_of.values())
        assert len(leaving) == len(naive_of(leaving)), "what hasn't changed cancels"


def test_a_row_of_a_stream_is_never_taken_back() -> None:
    emitting = Emitting(Emit((0,), once="s"))
    emitting.step(zset_of(SCHEMA, [((1, "a"), 1)]), [1])
    emitting.step(zset_of(SCHEMA, [((1, "b"), 1)]), [1])
    with pytest.raises(DataError, match="stream 's': a row that has left would change"):
        emitting.step(zset_of(SCHEMA, [((1, "a"), -1)]), [1])


def test_rows_say_which_state_of_the_result_they_are() -> None:
    table = Timetable(Column(0, CLOCK.type), 0, None, 0, 0)
    schedule = Schedule(table, Threshold((CLOCK,), (Column(0, CLOCK.type),)), 1, False, flagged=True)
    emit = Emit((0,), schedule)
    assert emit.flagged and not Emit((0,)).flagged
    assert emit.schema(KEYS, SCHEMA).names == ["k", "v", "__state"]
    assert Emit((0,)).schema(KEYS, SCHEMA) == SCHEMA
    assert emit.shown([], ["k"]).endswith(" flagged")


def test_what_it_says_of_itself() -> None:
    limit = Limit(Column(0, pa.int64()), (Column(3, pa.int64()),))
    emit = Emit((0,), limits=(limit,))
    assert emit.own_reach([{}, {}]) == (limit,)
    assert [emit.reach(i, [{}, {}]) for i in range(2)] == [None, ()]
    assert emit.held([("a",), ("b",)]) is None and emit.bounds([{}, {}], {}) == {}
    assert (emit.retracts([False]), Emit((0,), once="s").retracts([True])) == (True, False)


def test_keys_of_no_trigger_are_refused() -> None:
    builder = CircuitBuilder()
    table = source(builder, "t", SCHEMA)
    view = builder.add(Integrate((0,)), builder.placed(table, (0,)))
    builder.add(Emit((0,)), table, view)
    with pytest.raises(AssertionError, match="keys must come from a Trigger"):
        verify(builder.build())
