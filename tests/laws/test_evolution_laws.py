"""A program that is changed in the middle goes on as if it had been the new one from the start."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbsp.evolution.given
from dbsp.circuits.errors import StateError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.program import Program
from tests.effort import examples
from tests.generators.changed_programs import changed, widened, with_all_rows
from tests.generators.programs import Column, Table
from tests.generators.strategies import Delta, Row, seeded_program, seeded_run
from tests.laws.laws import naive, queue
from tests.oracles.recorded_catalyst import KNOWN, compile_recorded

Changed = dict[str, Counter[Any]]


def opened(program: Program, state: Path, **options: Any) -> Pipeline:
    pipeline = Pipeline(program, state=state, runner="inline", **options)
    pipeline.store.durable = False
    return pipeline


def step(pipeline: Pipeline, tables: dict[str, Table], delta: Delta) -> Changed:
    for name, changes in delta.items():
        queue(pipeline, tables[name], changes)
    made = pipeline.step()
    return {view: naive(made[view].zset) for view in made}


def rows(pipeline: Pipeline) -> Changed:
    return {view: naive(pipeline[view].zset) for view in pipeline}


def files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def wider(table: Table) -> Table:
    return Table(table.name, (*table.columns, Column("added", "STRING")), table.key, table.append_only)


def with_value(delta: Delta, names: set[str], value: str | None) -> Delta:
    """Rows of a wider table; what is deleted by its key says no more than that."""

    def row(kind: str, row_: Row) -> Row:
        return (*row_, None if kind == "delete" else value)

    return {
        name: [type(c)(c.kind, row(c.kind, c.row), c.weight) for c in changes] if name in names else changes
        for name, changes in delta.items()
    }


def goes_on(seed: int, choose: random.Random, partitions: int) -> str:
    """What became of it: '', or why it was refused."""
    known = seeded_program(seed)
    compiled = compile_recorded(known.text)
    if choose.random() < 0.7:
        compiled = with_all_rows(compiled)
    before, after = changed(compiled, choose), changed(compiled, choose)
    names = {table.name for table in known.tables if choose.random() < 0.3}
    if names:
        after = widened(after, names)
    narrow = {table.name: table for table in known.tables}
    wide = narrow | {name: wider(narrow[name]) for name in names}
    run = seeded_run(choose.randrange(1 << 30), known, steps=6)
    cut = choose.randrange(len(run)) + 1
    with tempfile.TemporaryDirectory(prefix="dbsp-law-") as directory:
        state, fresh = Path(directory, "state"), Path(directory, "fresh")
        with opened(before, state) as pipeline:
            for delta in run[:cut]:
                step(pipeline, narrow, delta)
            held = rows(pipeline)
        with opened(after, fresh, partitions=partitions) as new:
            for delta in run[:cut]:
                step(new, wide, with_value(delta, names, None))
            there = files(state)
            try:
                evolved = opened(after, state, evolve=True, partitions=partitions)
            except StateError as error:
                assert files(state) == there
                return str(error)
            with evolved:
                assert rows(evolved) == rows(new)
                if evolved.last_step > cut:
                    assert evolved.last_step == cut + 1
                    for view in evolved:
                        told = naive(evolved.changes_of(view, cut + 1).zset)
                        follows_from(held.get(view), told, rows(evolved)[view])
                for delta in run[cut:]:
                    # rows of bags are retracted by all of their columns
                    valued = {name for name in names if wide[name].key or wide[name].append_only}
                    given_ = with_value(delta, names - valued, None)
                    given_ = with_value(given_, valued, choose.choice(["x", None]))
                    assert step(evolved, wide, given_) == step(new, wide, given_)
                assert rows(evolved) == rows(new)
            with opened(after, state) as again:
                assert rows(again) == rows(new)
    return ""


def follows_from(before: Counter[Any] | None, told: Counter[Any], now: Counter[Any]) -> None:
    """What the change says of a view leads from what it held to what it holds."""
    total = Counter(before or {})
    total.update(told)
    assert {row: n for row, n in total.items() if n} == now


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dbsp.evolution.given, "PIECE", 3)


@examples(60)
@given(st.integers(0, KNOWN - 1), st.integers(0, 1 << 30), st.sampled_from([1, 1, 3]))
def test_evolved_is_as_from_the_start(seed: int, choice: int, partitions: int) -> None:
    why = goes_on(seed, random.Random(choice), partitions)
    assert why == "" or "can't be computed from what is there" in why, why
