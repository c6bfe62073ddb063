"""Streams over random queries: what leaves is never taken back, leaves once, and is the view in the end."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import DataError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.properties.keys import view_keys
from dbsp.testing.choices import Seeded
from dbsp.testing.strategies import Drawn
from tests.effort import examples, pool_of
from tests.generators.lateness import Annotated, draw_drifting_run
from tests.generators.streaming import draw_defined, draw_streams, streaming, streaming_alike
from tests.laws.laws import WAYS, Case, Running, naive

pytestmark = pytest.mark.spark

POOL = pool_of(30)


@cache
def drawn(seed: int, session: Any) -> tuple[Annotated, Case]:
    annotated, compiled = streaming(draw_streams(Seeded(seed)), session)
    return annotated, Case(annotated.program, compiled)


@cache
def defined(seed: int, session: Any) -> tuple[Annotated, Case]:
    annotated, compiled = streaming_alike(draw_defined(Seeded(seed)), session)
    return annotated, Case(annotated.program, compiled)


def waiting(case: Case) -> list[str]:
    """The views whose rows wait until they are final."""
    return [view for view in case.program.outputs if case.compiled.views[view].emits_once]


def by_key(case: Case, view: str, rows: Counter[Any]) -> set[Any]:
    key = view_keys(case.compiled)[view]
    # the first of an identity is what it is of
    return {row if key is None else tuple(row[1 + i] for i in key) for row in rows}


@examples(60)
@given(data=st.data())
def test_a_stream_only_grows_and_is_the_view_in_the_end(spark: Any, data: st.DataObject) -> None:
    annotated, case = drawn(data.draw(st.integers(0, POOL - 1)), spark)
    views = waiting(case)
    emitted: dict[str, Counter[Any]] = {view: Counter() for view in views}
    run = draw_drifting_run(Drawn(data.draw), annotated)
    way = data.draw(st.sampled_from(list(WAYS.values())))

    def leave(running: Running, changes: dict[str, Counter[Any]]) -> None:
        for view in views:
            assert all(weight > 0 for weight in changes[view].values()), f"{view} is taken back"
            known = by_key(case, view, emitted[view])
            assert not known & by_key(case, view, changes[view]), f"{view}: a key has left twice"
            emitted[view].update(changes[view])
            assert emitted[view] <= naive(running.pipeline[view].zset), f"{view}: what left wasn't final"

    with Running(case, way) as running:
        for delta in run:
            leave(running, running.changes(delta))
        before = running.pipeline.last_step
        running.finish()
        if running.pipeline.last_step > before:
            leave(running, running.last_changes())
        for view in views:
            assert emitted[view] == naive(running.pipeline[view].zset), f"{view}: at the end"


@pytest.mark.parametrize("way", WAYS)
@examples(6)
@given(data=st.data())
def test_the_way_changes_no_byte_of_a_stream(spark: Any, way: str, data: st.DataObject) -> None:
    annotated, case = drawn(data.draw(st.integers(0, POOL - 1)), spark)
    run = draw_drifting_run(Drawn(data.draw), annotated)
    with Running(case) as plain, Running(case, WAYS[way]) as other:
        for delta in run:
            assert other.step(delta) == plain.step(delta)
        assert other.finish() == plain.finish()


@examples(30)
@given(data=st.data())
def test_a_view_is_what_its_query_is_where_a_stream_reads_it(spark: Any, data: st.DataObject) -> None:
    annotated, case = defined(data.draw(st.integers(0, POOL - 1)), spark)
    run = draw_drifting_run(Drawn(data.draw), annotated)
    with Running(case, data.draw(st.sampled_from(list(WAYS.values())))) as running:
        for delta in run:
            _as_the_query(running.changes(delta))
        before = running.pipeline.last_step
        running.finish()
        if running.pipeline.last_step > before:
            _as_the_query(running.last_changes())


def _as_the_query(changes: dict[str, Counter[Any]]) -> None:
    assert changes["v1"] == changes["v0"]
    assert changes["v2"] == changes["v0"]


def test_most_random_queries_are_streams(spark: Any) -> None:
    assert sum(len(waiting(drawn(seed, spark)[1])) for seed in range(30)) > 30


HOURLY = """
CREATE STREAM a (k BIGINT, ts TIMESTAMP LATENESS INTERVAL 1 MINUTE);
CREATE VIEW hourly AS SELECT STREAM window.end AS e, count(*) AS n FROM a GROUP BY window(ts, '1 hour');
"""


def test_after_the_end_of_the_input_nothing_that_left_may_change(spark: Any) -> None:
    with Pipeline(compile_program(HOURLY, session=spark), runner="inline") as p:
        p.insert("a", [(1, datetime(2024, 3, 1, 10, 5))])
        assert not len(p.step()["hourly"])
        ended = p.finish()
        assert ended is not None
        assert len(ended["hourly"]) == 1
        p.insert("a", [(1, datetime(2024, 3, 1, 11, 5))])
        p.step()
        p.insert("a", [(1, datetime(2024, 3, 1, 11, 6)), (1, datetime(2024, 3, 1, 11, 59))])
        p.step()
        p.insert("a", [(1, datetime(2024, 3, 1, 10, 7)), (1, datetime(2024, 3, 1, 12, 7))])
        assert [row["n"] for row, _ in p.step()["hourly"].rows()] == [3]
    with Pipeline(compile_program(HOURLY, session=spark), runner="inline") as p:
        p.insert("a", [(1, datetime(2024, 3, 1, 10, 5))])
        p.step()
        p.finish()
        p.insert("a", [(1, datetime(2024, 3, 1, 10, 7)), (1, datetime(2024, 3, 1, 11, 7))])
        with pytest.raises(DataError, match="stream 'hourly': a row that has left would change"):
            p.step()
        assert p.last_step == 2
