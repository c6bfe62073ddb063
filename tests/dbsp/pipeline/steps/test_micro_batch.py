"""Each micro-batch is committed once, and one that can't follow what is here is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.pipeline.steps.micro_batch import MicroBatch, is_committed
from dbsp.state.records.commits import Commit

ROOT = Path("state")


def last(stream: str = "q", batch: int | None = 5) -> Commit:
    return Commit(9, "f1", {}, stream=stream, batch=batch, offsets={"t": 1})


@pytest.mark.parametrize(("batch", "there"), [(0, True), (4, True), (5, True), (6, False)])
def test_a_batch_up_to_the_last_one_is_there(batch: int, there: bool) -> None:
    assert is_committed(ROOT, last(), "q", batch) == there


@pytest.mark.parametrize("before", [None, last(batch=None)])
def test_before_the_first_batch_none_is_there(before: Commit | None) -> None:
    assert not is_committed(ROOT, before, "any", 7)


def test_a_gap_and_another_query_are_refused() -> None:
    with pytest.raises(
        StateError, match=r"^state: is behind its checkpoint \(batch 5 is here, 7 comes next\)"
    ):
        is_committed(ROOT, last(), "q", 7)
    with pytest.raises(StateError, match=r"^state: was fed by another streaming query \(q, not r\); use the"):
        is_committed(ROOT, last(), "r", 6)


def test_a_step_from_the_api_stands_where_the_last_batch_does() -> None:
    given = MicroBatch("q", 6, {"t": 2})
    assert given.or_last(last()) is given
    assert MicroBatch().or_last(last()) == MicroBatch("q", 5, {"t": 1})
    assert MicroBatch().or_last(None) == MicroBatch()
    assert MicroBatch("q", 0).or_last(last()).number == 0, "the first batch is one"
