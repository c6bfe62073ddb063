"""A program that is changed in the middle goes on as if it had been the new one from the start."""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbsp
import dbsp.evolution.given
from dbsp.circuits.errors import StateError
from dbsp.evolution.plan import Plan
from dbsp.pipeline.beside.changing import Changing
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.inline import InlineRunner
from dbsp.sql.plans.program import Program
from tests.effort import examples
from tests.generators.changed_programs import (
    changed,
    late_by,
    numbers_of,
    waiting,
    widened,
    with_all_rows,
    with_watermarks,
)
from tests.generators.programs import Column, Table
from tests.generators.strategies import Change, Contents, Delta, Row, seeded_program, seeded_run
from tests.laws.laws import naive, queue
from tests.oracles.recorded_catalyst import KNOWN, compile_recorded

Changed = dict[str, Counter[Any]]
FAR = 1 << 40


def opened(program: Program, state: Path, **options: Any) -> Pipeline:
    pipeline = Pipeline(program, state=state, runner="inline", **options)
    pipeline.store.durable = False
    return pipeline


def step(pipeline: Pipeline, tables: dict[str, Table], delta: Delta) -> Changed:
    for name, changes in delta.items():
        queue(pipeline, tables[name], changes)
    made = pipeline.step()
    return {view: naive(made[view].zset) for view in made}


def total(changes: Iterable[Changed]) -> Changed:
    """What was told, summed up."""
    summed: Changed = {}
    for each in changes:
        for view, told in each.items():
            summed.setdefault(view, Counter()).update(told)
    return {view: Counter({row: n for row, n in told.items() if n}) for view, told in summed.items()}


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


def drawn(compiled: Program, choose: random.Random) -> tuple[Program, Program]:
    """Two of a kind: what their tables keep, their watermarks, what they emit, and how late rows may be."""
    if choose.random() < 0.7:
        compiled = with_all_rows(compiled)
    if choose.random() < 0.3:
        compiled = with_watermarks(compiled, choose)
    before, after = changed(compiled, choose), changed(compiled, choose)
    if choose.random() < 0.4:
        before, after = waiting(before, choose), waiting(after, choose)
    if choose.random() < 0.4:  # of which nothing is late
        columns = [column for column in numbers_of(compiled) if choose.random() < 0.5]
        before, after = (
            late_by(one, {c: choose.choice([FAR, 2 * FAR]) for c in columns}) for one in (before, after)
        )
    return before, after


def goes_on(seed: int, choose: random.Random, partitions: int) -> str:
    """What became of it: '', or why it was refused."""
    known = seeded_program(seed)
    before, after = drawn(compile_recorded(known.text), choose)
    waits = {name for one in (before, after) for name, view in one.views.items() if view.emission}
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
            left = total(step(pipeline, narrow, delta) for delta in run[:cut])
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
                    told = {view: naive(evolved.changes_of(view, cut + 1).zset) for view in evolved}
                    left = total([{view: left.get(view, Counter()) for view in evolved}, told])
                for view in {*evolved} - waits:
                    assert left[view] == rows(evolved)[view]
                for delta in run[cut:]:
                    # rows of bags are retracted by all of their columns
                    valued = {name for name in names if wide[name].key or wide[name].append_only}
                    given_ = with_value(delta, names - valued, None)
                    given_ = with_value(given_, valued, choose.choice(["x", None]))
                    made, expected = step(evolved, wide, given_), step(new, wide, given_)
                    for view in {*made} - waits:
                        assert made[view] == expected[view]
                    left = total([left, made])
                assert rows(evolved) == rows(new)
                new.finish()  # rows that a WATERMARK holds come in
                if (end := evolved.finish()) is not None:
                    left = total([left, {view: naive(end[view].zset) for view in end}])
                assert left == rows(new)  # nothing has left twice, or never
            with opened(after, state) as again:
                assert rows(again) == rows(new)
    return ""


def goes_beside(seed: int, choose: random.Random, partitions: int) -> str:
    """The same while the old program's steps go on: after pieces of what is new, and some at its end."""
    known = seeded_program(seed)
    compiled = with_all_rows(compile_recorded(known.text))
    if choose.random() < 0.3:
        compiled = with_watermarks(compiled, choose)
    before, after = changed(compiled, choose), changed(compiled, choose)
    tables = {table.name: table for table in known.tables}
    run = seeded_run(choose.randrange(1 << 30), known, steps=10)
    begun = choose.randrange(len(run)) + 1
    cut = choose.randint(begun, len(run))
    with tempfile.TemporaryDirectory(prefix="dbsp-law-") as directory:
        state, fresh = Path(directory, "state"), Path(directory, "fresh")
        with opened(before, state, partitions=partitions, keep_steps=1) as old:
            for delta in run[:begun]:
                step(old, tables, delta)
            meanwhile = list(run[begun:cut])

            def said(line: str) -> None:
                if line.startswith("back-filling") and meanwhile and choose.random() < 0.7:
                    step(old, tables, meanwhile.pop(0))

            try:
                changing = Changing(old, after, InlineRunner(), said)
            except StateError as error:
                return str(error)
            if not changing.waits:
                changing.fill()
                while meanwhile:
                    step(old, tables, meanwhile.pop(0))
                held = rows(old)
                changing.commit()
        if changing.waits:
            return changing.waits
        with opened(after, fresh) as new, opened(after, state) as evolved:
            for delta in run[:cut]:
                step(new, tables, delta)
            assert (evolved.last_step, rows(evolved)) == (cut + 1, rows(new))
            for view in evolved:
                told = naive(evolved.changes_of(view, cut + 1).zset)
                follows_from(held.get(view), told, rows(evolved)[view])
            for delta in run[cut:]:
                assert step(evolved, tables, delta) == step(new, tables, delta)
    return ""


def goes_across(seed: int, other: int, choose: random.Random) -> str:
    """The same of two programs that have nothing in common but names: tables have other columns, or kinds."""
    first, second = seeded_program(seed), seeded_program(other)
    before, after = (with_all_rows(compile_recorded(one.text)) for one in (first, second))
    narrow, wide = ({table.name: table for table in one.tables} for one in (first, second))
    held = Contents(first.tables)
    with tempfile.TemporaryDirectory(prefix="dbsp-law-") as directory:
        state, fresh = Path(directory, "state"), Path(directory, "fresh")
        with opened(before, state) as pipeline:
            for delta in seeded_run(choose.randrange(1 << 30), first):
                step(pipeline, narrow, delta)
                held.apply(delta)
        there = files(state)
        try:
            evolved = opened(after, state, evolve=True)
        except StateError as error:
            assert files(state) == there
            return str(error)
        with evolved, opened(after, fresh) as new:
            same = [name for name in wide if name in narrow]
            step(new, wide, {name: as_columns(held.rows(name), narrow[name], wide[name]) for name in same})
            assert rows(evolved) == rows(new)
            for delta in seeded_run(choose.randrange(1 << 30), second):
                more = {name: [c for c in changes if c.kind != "retract"] for name, changes in delta.items()}
                assert step(evolved, wide, more) == step(new, wide, more)
    return ""


def goes_on_after(
    before: Program, after: Program, tables: dict[str, Table], run: list[Delta], at: int
) -> Plan:
    """The plan of a change of compilations at a step, after which all is as from the start by the second."""
    with tempfile.TemporaryDirectory() as root, opened(after, Path(root) / "all") as through:
        state = Path(root) / "state"
        with opened(before, state) as p:
            for delta in run[:at]:
                assert step(p, tables, delta) == step(through, tables, delta)
        plan = dbsp.plan(after, state)
        assert not plan.refused and not plan.of("dropped")
        if before.fingerprint != after.fingerprint:
            with pytest.raises(dbsp.Error, match="--evolve"):
                opened(after, state)
        with opened(after, state, evolve=True) as p:
            for delta in [{}, *run[at:]]:
                assert step(p, tables, delta) == step(through, tables, delta)
                assert rows(p) == rows(through)
    return plan


def as_columns(held: list[Row], narrow: Table, wide: Table) -> list[Change]:
    """Rows of a table with the columns of another; those that they haven't are NULL."""
    names = [column.name for column in narrow.columns]
    kind = "upsert" if wide.key else "insert"
    places = [names.index(column.name) if column.name in names else None for column in wide.columns]
    return [Change(kind, tuple(None if i is None else row[i] for i in places)) for row in held]


def follows_from(before: Counter[Any] | None, told: Counter[Any], now: Counter[Any]) -> None:
    """What the change says of a view leads from what it held to what it holds."""
    total = Counter(before or {})
    total.update(told)
    assert {row: n for row, n in total.items() if n} == now


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dbsp.evolution.given, "PIECE", 3)


@pytest.mark.slow
@examples(60)
@given(st.integers(0, KNOWN - 1), st.integers(0, 1 << 30), st.sampled_from([1, 1, 3]))
def test_evolved_is_as_from_the_start(seed: int, choice: int, partitions: int) -> None:
    why = goes_on(seed, random.Random(choice), partitions)
    assert why == "" or "can't be computed from what is there" in why, why


@pytest.mark.slow
@examples(60)
@given(st.integers(0, KNOWN - 1), st.integers(0, 1 << 30), st.sampled_from([1, 1, 3]))
def test_evolved_beside_its_steps_is_as_from_the_start(seed: int, choice: int, partitions: int) -> None:
    why = goes_beside(seed, random.Random(choice), partitions)
    assert why == "" or re.search("can't be computed from what is there|sums are taken over", why), why


@pytest.mark.slow
@examples(40)
@given(st.integers(0, KNOWN - 1), st.integers(0, KNOWN - 1), st.integers(0, 1 << 30))
def test_of_unrelated_programs_what_can_be_is_computed(seed: int, other: int, choice: int) -> None:
    why = goes_across(seed, other, random.Random(choice))
    said = r"can't be computed from what is there|rows with the key|NOT NULL|never NULL"
    assert why == "" or re.search(said, why), why
