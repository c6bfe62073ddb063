"""A function as a target: told every step's changes, in order, at least once, whatever fails between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbsp
from dbsp.circuits.errors import Error
from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import Insert, Program, Table
from dbsp.sql.plans.schemas import Field
from dbsp.targets.function import Sink, sink
from dbsp.views.changes import Changes
from tests.dbsp.build import VOTES, pipeline, program, table, view
from tests.effort import examples

WEIGHTED = (*VOTES, Field("__weight", pa.int64()))


def written(target: str = "told") -> Program:
    """A bag's changes, with their weights, into a table that a function writes."""
    to = Table(target, WEIGHTED, (), False, False, "python", {}, "program.sql:2:1")
    insert = Insert(target, "all_votes", "program.sql:3:1", "retract", (0, 1, None))
    made = program([table("votes", VOTES)], [view("all_votes", Scan("votes", VOTES))])
    return replace(made, tables={**made.tables, target: to}, inserts=(insert,))


class Told:
    """What the function was called with; it raises at the calls it is told to."""

    def __init__(self, raises: Sequence[bool] = ()) -> None:
        self.raises = list(raises)
        self.calls: list[tuple[int, str, Counter[tuple[int, int]]]] = []

    @property
    def sink(self) -> Sink:
        return sink(name="told")(self)

    def __call__(self, step: int, view: str, changes: pa.Table) -> None:
        rows: Counter[tuple[int, int]] = Counter()
        for row in changes.to_pylist():
            rows[row["user_id"], row["story_id"]] += row["__weight"]
        self.calls.append((step, view, rows))
        if self.raises and self.raises.pop(0):
            raise ValueError("no\nmail")


def step(p: Pipeline, rows: list[tuple[int, int]]) -> Changes | None:
    p.discard()
    p.replace("votes", rows)
    try:
        return p.step()
    except DeliveryError as error:
        return error.changes


CONTENTS = st.lists(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=4), max_size=5)


@examples(12)
@given(CONTENTS, st.lists(st.booleans(), max_size=6), st.booleans())
def test_who_drops_what_he_has_had_has_the_view(
    tmp_path_factory: pytest.TempPathFactory, contents: list[Any], raises: list[bool], reopened: bool
) -> None:
    told = Told(raises)
    state = tmp_path_factory.mktemp("told") / "state" if reopened else None
    p = pipeline(state, program=written(), sinks=[told.sink])
    try:
        for rows in contents:
            while step(p, rows) is None:
                pass  # the step before could not be handed over
            if reopened:
                p.close()
                p = pipeline(state, program=written(), sinks=[told.sink])
        told.raises = []
        p.deliver()
        steps = [number for number, _, _ in told.calls]
        assert steps == sorted(steps)
        held: Counter[tuple[int, int]] = Counter()
        for number, changes in {number: changes for number, _, changes in told.calls}.items():
            assert number <= p.last_step
            held.update(changes)
        wanted = Counter(contents[-1]) if contents else Counter()
        assert {row: count for row, count in held.items() if count} == wanted
    finally:
        p.close()


def test_one_that_raises_is_called_again_with_the_same_step() -> None:
    told = Told([True, True])
    with pipeline(program=written(), sinks=[told.sink]) as p:
        p.insert("votes", [(1, 2)])
        with pytest.raises(
            DeliveryError,
            match=r"'told': step 1 was not written: .* no mail; the step is committed.*--max-undelivered N",
        ):
            p.step()
        with pytest.raises(DeliveryError):
            p.step()
        p.step()
        assert [call[:2] for call in told.calls] == [(1, "all_votes")] * 3


def test_a_sink_may_lag() -> None:
    told = Told([True])
    with pipeline(program=written(), sinks=[told.sink], max_undelivered=5) as p:
        for number in range(3):
            p.insert("votes", [(number, 0)])
            p.step()
        p.deliver()
        assert [call[0] for call in told.calls] == [1, 1, 2, 3]


def test_it_is_known_by_its_name_or_the_one_it_is_given(tmp_path: Path) -> None:
    seen = []

    @dbsp.sink
    def told(step: int, view: str, changes: pa.Table) -> None:
        seen.append((step, view, changes.column_names))

    with pipeline(tmp_path / "state", program=written("Told"), sinks=[told]) as p:
        p.insert("votes", [(1, 2)])
        p.step()
    assert seen == [(1, "all_votes", ["user_id", "story_id", "__weight"])]


@pytest.mark.parametrize(
    ("sinks", "message"),
    [
        (
            [],
            r"program.sql:2:1: table 'told' is written by a function, and none is given: declare @dbsp\.sink",
        ),
        ([Told().sink, Told().sink], "two sinks are named 'told'"),
        (
            [Told().sink, sink(name="tell")(print)],
            "sink 'tell' is for no table; tables USING python .*: told",
        ),
        ([print], "sinks are what @dbsp.sink makes; not <built-in function print>"),
    ],
)
def test_each_table_has_one(sinks: list[Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        pipeline(program=written(), sinks=sinks)


def test_a_lambda_has_no_name() -> None:
    with pytest.raises(Error, match="'<lambda>' can't be a table's name: give the sink one, as name='t'"):
        sink(lambda step, view, changes: None)
