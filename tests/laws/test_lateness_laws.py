"""LATENESS over random programs: it leaves out late rows and nothing else, whatever is collected."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.progress.percentile import Percentile
from dbsp.sql.compiler.load import compile_program
from dbsp.testing.choices import Seeded
from dbsp.testing.strategies import Drawn
from tests.effort import examples, pool_of
from tests.generators.lateness import (
    Advances,
    Annotated,
    Falling,
    draw_advances,
    draw_annotated,
    draw_drifting_run,
    surviving,
)
from tests.generators.strategies import runs, seeded_program
from tests.laws.laws import ALWAYS, Case, Running, Way

pytestmark = pytest.mark.spark

POOL = pool_of(40)
WAYS = {
    "as usual": Way(),
    "every run merged": Way(small=ALWAYS),
    "no small run merged": Way(small=0),
    "merges in pieces": Way(small=0, piecemeal=True),
    "three partitions, reopened": Way(partitions=3, small=1, reopened=True),
}
_COMPILED: dict[str, Any] = {}


def annotated_case(annotated: Annotated, session: Any) -> Case:
    text = annotated.text
    if text not in _COMPILED:
        _COMPILED[text] = compile_program(text, session=session)
    return Case(annotated.program, _COMPILED[text])


def same_as_surviving_rows(
    spark: Any, annotated: Annotated, run: Any, way: Way, advances: Advances = ()
) -> None:
    """The changes with lateness are those of the program without it, fed the rows that aren't late."""
    kept = surviving(annotated, run, advances)
    with (
        Running(annotated_case(annotated, spark), way) as with_lateness,
        Running(Case.of(annotated.program, spark)) as without,
    ):
        for number, (delta, rest) in enumerate(zip(run, kept, strict=True), 1):
            advanced = advances[number - 1] if advances else {}
            found, expected = with_lateness.changes(delta, advanced=advanced), without.changes(rest)
            told = f"step {number} of\n{annotated.text}\n{run}\n{advances}\nsurviving: {kept}"
            assert found == expected, told


@pytest.mark.parametrize("way", WAYS)
@examples(20)
@given(data=st.data())
def test_only_late_rows_are_missing(spark: Any, way: str, data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, POOL - 1))
    annotated = draw_annotated(Seeded(seed), seeded_program(seed))
    run = data.draw(drifting_runs(annotated))
    advances = draw_advances(Drawn(data.draw), annotated, len(run))
    same_as_surviving_rows(spark, annotated, run, WAYS[way], advances)


@examples(20)
@given(data=st.data())
def test_any_run_whatever_is_late(spark: Any, data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, POOL - 1))
    annotated = draw_annotated(Seeded(seed), seeded_program(seed))
    run = data.draw(runs(annotated.program, steps=6))
    way = data.draw(st.sampled_from(list(WAYS.values())))
    same_as_surviving_rows(spark, annotated, run, way)


@examples(20)
@given(data=st.data())
def test_waterlines_never_fall_whatever_the_way(spark: Any, data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, POOL - 1))
    annotated = draw_annotated(Seeded(seed), seeded_program(seed))
    case = annotated_case(annotated, spark)
    run = data.draw(runs(annotated.program, steps=6))
    way = data.draw(st.sampled_from(list(WAYS.values())))
    before: dict[str, Any] = {}
    with Running(case) as plain, Running(case, way) as other:
        for delta in run:
            plain.step(delta)
            other.step(
                {
                    name: list(reversed(changes)) if _any_order_will_do(annotated, name) else changes
                    for name, changes in delta.items()
                }
            )
            now = {name: line.as_py() for name, line in plain.pipeline._position.state.waterlines.items()}
            assert {
                name: line.as_py() for name, line in other.pipeline._position.state.waterlines.items()
            } == now
            assert all(now[name] >= line for name, line in before.items())
            before = now


def _any_order_will_do(annotated: Annotated, name: str) -> bool:
    table = annotated.program.table(name)
    amounts = [one.amount if isinstance(one, Falling) else one for _, one in annotated.of(table)]
    return not table.key and not any(isinstance(amount, Percentile) for amount in amounts)


@st.composite
def drifting_runs(draw: st.DrawFn, annotated: Annotated) -> Any:
    return draw_drifting_run(Drawn(draw), annotated)
