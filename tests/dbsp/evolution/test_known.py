"""What is declared otherwise: LATENESS of another amount, a PRIMARY KEY that comes or goes, a TRIGGER."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbsp
from dbsp.circuits.errors import StateError
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.progress.percentile import Percentile
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.identity.fingerprint import fingerprint
from dbsp.sql.plans.nodes import Aggregate, Scan
from dbsp.sql.plans.program import ColumnLateness, Program, Table, Triggers
from dbsp.sql.plans.schemas import Field
from dbsp.views.changes import Changes
from tests.dbsp.build import pipeline, program, table, view
from tests.dbsp.evolution.changing import files
from tests.effort import examples
from tests.oracles.emission import MINUTE, Clause, Model

EVENT = (Field("at", pa.int64()), Field("n", pa.int64(), False))
ITEM = (Field("id", pa.int64(), False), Field("shelf", pa.int64(), False), Field("n", pa.int64()))


def known(made: Program) -> Program:
    print_ = fingerprint(made.timezone, made.tables, made.views, made.inserts)
    return replace(made, fingerprint=print_)


def counted(name: str, relation: str, schema: tuple[Field, ...], column: int) -> Aggregate:
    call = AggregateCall("count", (), pa.int64(), False)
    group = schema[column]
    return Aggregate(
        Scan(relation, schema),
        (Column(column, group.type, group.nullable),),
        (call,),
        (replace(group, name=name), Field("rows", pa.int64(), False)),
    )


def events(
    amount: int, jump: int | None = None, percentile: Percentile | None = None, falling: bool = False
) -> Program:
    late = ColumnLateness(0, amount, jump, percentile, falling)
    event = replace(table("event", EVENT, append_only=True), lateness=(late,))
    views = [
        view("counts", counted("at", "event", EVENT, 0)),
        view("events", Scan("event", EVENT), append_only=True),
    ]
    return known(program([event], views))


def items(*key: str, append_only: bool = False, columns: tuple[Field, ...] = ITEM) -> Program:
    views = [view("held", Scan("item", columns)), view("shelves", counted("shelf", "item", columns, 1))]
    return known(program([table("item", columns, key, append_only=append_only)], views))


def rows(p: Pipeline, name: str) -> list[tuple[object, ...]]:
    return sorted((tuple(row.values()) for row in p[name].rows()), key=str)


# -- LATENESS ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("now", "taken"), [(100, {(60,)}), (2, set())])
def test_lateness_is_another_from_the_next_row_on(tmp_path: Path, now: int, taken: set[tuple[int]]) -> None:
    with pipeline(tmp_path, program=events(10)) as p:
        p.insert("event", [(100, 1)])
        p.step()
        p.insert("event", [(95, 1), (80, 1)])  # the waterline is 90
        p.step()
    plan = dbsp.plan(events(now), tmp_path)
    assert not plan.filled and not plan.refused
    assert "kept         table event: of another LATENESS or WATERMARK from its next row on" in plan.lines()
    with pipeline(tmp_path, program=events(now), evolve=True) as p:
        assert rows(p, "counts") == [(100, 1), (95, 1)]  # what was dropped stays so
        p.insert("event", [(89, 1), (91, 1)])  # and the waterline doesn't go back
        p.step()
        assert rows(p, "counts") == [(100, 1), (91, 1), (95, 1)]
        p.insert("event", [(150, 1)])
        p.step()
        p.insert("event", [(139, 1), (147, 1), (148, 1)])
        p.step()
        late = {100: 91, 2: 148}[now]  # 150 − 100 is behind the waterline, 150 − 2 before it
        found = {row["at"] for row in p["counts"].rows()}
        assert {at for at in found if at > 100} == {n for n in (139, 147, 148, 150) if n >= late}


@pytest.mark.slow
@examples(30)
@given(st.integers(0, 1 << 30))
def test_a_looser_lateness_is_as_from_the_start_of_what_was_taken(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """The new program, fed what the old one took, its waterline where that was."""
    choose, root = random.Random(seed), tmp_path_factory.mktemp("law")
    old, new = choose.randint(0, 5), choose.randint(5, 12)
    run = [[(choose.randint(0, 40), 1) for _ in range(choose.randint(0, 5))] for _ in range(6)]
    cut = choose.randint(1, 5)
    jump = choose.choice([None, 10])
    with pipeline(root / "state", program=events(old, jump)) as p:
        for each in run[:cut]:
            p.insert("event", each)
            p.step()
        taken = rows(p, "events")
        line = p._position.state.waterlines.get("event.at")
    with (
        pipeline(root / "state", program=events(new, jump), evolve=True) as p,
        pipeline(root / "fresh", program=events(new, jump)) as fresh,
    ):
        if taken:
            fresh.insert("event", taken)
        if line is not None:
            fresh.advance("event", "at", line.as_py())
        fresh.step()
        for each in run[cut:]:
            for one in (p, fresh):
                one.insert("event", each)
                one.step()
            assert rows(p, "counts") == rows(fresh, "counts")
            assert p._position.state.waterlines == fresh._position.state.waterlines


@pytest.mark.parametrize("first", [False, True])
def test_lateness_the_other_way_round_is_refused(tmp_path: Path, first: bool) -> None:
    with pipeline(tmp_path, program=events(10, falling=first)) as p:
        p.insert("event", [(100, 1)])
        p.step()
    there = files(tmp_path)
    with pytest.raises(StateError, match="LATENESS or WATERMARK of other columns"):
        pipeline(tmp_path, program=events(10, falling=not first), evolve=True)
    assert files(tmp_path) == there


def test_lateness_of_percentiles_is_refused(tmp_path: Path) -> None:
    with pipeline(tmp_path, program=events(10)) as p:
        p.insert("event", [(100, 1)])
        p.step()
    there = files(tmp_path)
    percentile = events(0, None, Percentile(Decimal(90), 5))
    with pytest.raises(
        StateError, match="LATENESS or WATERMARK of other columns, or LATENESS of percentiles"
    ):
        pipeline(tmp_path, program=percentile, evolve=True)
    assert files(tmp_path) == there


@pytest.mark.parametrize(("now", "released"), [(20, []), (3, [(10,), (16,)])])
def test_a_watermark_is_another_from_the_next_row_on(
    tmp_path: Path, now: int, released: list[tuple[int]]
) -> None:
    def waiting(amount: int) -> Program:
        item = replace(table("item", ITEM), watermarks=(ColumnLateness(0, amount, None),))
        return known(program([item], [view("held", Scan("item", ITEM))]))

    def ids(p: Pipeline) -> list[tuple[object, ...]]:
        return sorted({row[:1] for row in rows(p, "held")})

    with pipeline(tmp_path, program=waiting(10)) as p:
        for id_ in (10, 16):
            p.insert("item", [(id_, 1, 2)])
            p.step()
        assert ids(p) == []
    with pipeline(tmp_path, program=waiting(now), evolve=True) as p:
        assert ids(p) == []
        p.insert("item", [(19, 1, 2)])
        p.step()
        assert ids(p) == released
        p.finish()
        assert ids(p) == [(10,), (16,), (19,)]


# -- PRIMARY KEY ------------------------------------------------------------------------------------

KEYS = [(), ("id",), ("shelf",), ("id", "shelf")]
NAMES = [field.name for field in ITEM]


@pytest.mark.slow
@examples(60)
@given(st.integers(0, 1 << 30))
def test_another_key_is_as_from_the_start(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Of rows that it tells apart, also by wider columns; where it doesn't, nothing changes."""
    choose, root = random.Random(seed), tmp_path_factory.mktemp("law")
    before, after = choose.choice(KEYS), choose.choice(KEYS)
    narrow = tuple(replace(column, type=pa.int32()) if choose.random() < 0.3 else column for column in ITEM)
    drawn = [(choose.randint(0, 4), choose.randint(0, 3), choose.choice([None, 1, 2])) for _ in range(5)]
    with pipeline(root / "state", program=items(*before, columns=narrow)) as p:
        for part in (drawn[:2], drawn[2:]):
            p.insert("item", part)
            p.step()
        held = rows(p, "held")
    places = [NAMES.index(name) for name in after]
    apart = not after or len({tuple(row[i] for i in places) for row in held}) == len(held)
    there = files(root / "state")
    try:
        evolved = pipeline(root / "state", program=items(*after), evolve=True)
    except StateError as error:
        assert not apart and f"rows with the key ({after[0]}=" in str(error), error
        assert files(root / "state") == there
        return
    assert apart
    with evolved, pipeline(root / "fresh", program=items(*after)) as fresh:
        fresh.insert("item", held)
        fresh.step()
        for _ in range(3):
            more = [(choose.randint(0, 4), choose.randint(0, 3), 3)]
            for one in (evolved, fresh):
                one.insert("item", more)
                one.step()
            gone = choose.choice(rows(evolved, "held"))
            row = {name: gone[i] for name, i in zip(after, places, strict=True)} if after else gone
            for one in (evolved, fresh):
                one.delete("item", [row])
                one.step()
            for name in ("held", "shelves"):
                assert rows(evolved, name) == rows(fresh, name)


def test_what_reads_the_table_goes_on(tmp_path: Path) -> None:
    with pipeline(tmp_path, program=items()) as p:
        p.insert("item", [(1, 7, None), (2, 7, 5)])
        p.step()
    plan = dbsp.plan(items("id"), tmp_path)
    assert "shelves" in plan.of("kept")
    assert "kept         table item: the key is id, by which its rows must be apart" in plan.lines()
    with pipeline(tmp_path, program=items("id"), evolve=True) as p:
        assert not any(len(p.changes_of(name, 2)) for name in ("held", "shelves"))
        p.upsert("item", [{"id": 1, "shelf": 8, "n": 1}])
        p.step()
        assert rows(p, "shelves") == [(7, 1), (8, 1)]
    with pipeline(tmp_path, program=items(), evolve=True) as p:
        p.insert("item", [(1, 9, 1)])
        p.delete("item", [(2, 7, 5)])
        p.step()
        assert rows(p, "held") == [(1, 8, 1), (1, 9, 1)]
    with pytest.raises(StateError, match=r"table 'item' has 2 rows with the key \(id=1\), and can't have"):
        pipeline(tmp_path, program=items("id"), evolve=True)


def test_a_row_that_came_twice_has_no_key(tmp_path: Path) -> None:
    with pipeline(tmp_path, program=items()) as p:
        p.insert("item", [(1, 7, 1), (1, 7, 1)])
        p.step()
    there = files(tmp_path)
    for key in (("id", "shelf"), ("id", "shelf", "n")):  # the last has the place of whole rows
        with pytest.raises(StateError, match="has 2 rows with the key"):
            pipeline(tmp_path, program=items(*key), evolve=True)
        assert files(tmp_path) == there


def test_beside_lateness_it_is_refused(tmp_path: Path) -> None:
    def late(*key: str) -> Program:
        schema = (replace(EVENT[0], nullable=False), EVENT[1])
        one: Table = replace(table("event", schema, key), lateness=(ColumnLateness(0, 10, None),))
        return known(program([one], [view("counts", counted("at", "event", schema, 0))]))

    with pipeline(tmp_path, program=late("at")) as p:
        p.insert("event", [(100, 1)])
        p.step()
    with pytest.raises(StateError, match=r"table 'event' had PRIMARY KEY \(at\), and LATENESS"):
        pipeline(tmp_path, program=late("at", "n"), evolve=True)


# -- TRIGGER ----------------------------------------------------------------------------------------


def triggered(counting: int | None, delay: int | None) -> Program:
    """delay: in seconds."""
    when = Triggers(counting, None if delay is None else delay * 1_000_000, False, "program.sql:9:1")
    shelves = replace(view("shelves", counted("shelf", "item", ITEM, 1)), emission=when)
    return known(program([table("item", ITEM)], [shelves]))


def left(p: Pipeline, second: int, *shelves: int) -> list[tuple[object, ...]]:
    """What leaves at that second, when such items come."""
    p.insert("item", [(1, shelf, None) for shelf in shelves])
    changes = p.step(START + timedelta(seconds=second))
    return sorted(tuple(row.values()) for row, weight in changes["shelves"].rows() if weight > 0)


START = datetime(2024, 1, 1, tzinfo=UTC)


def test_what_waits_for_records_waits_for_as_many_as_is_said_now(tmp_path: Path) -> None:
    with pipeline(tmp_path, program=triggered(4, None)) as p:
        assert left(p, 0, 7, 7, 8) == []
    plan = dbsp.plan(triggered(3, None), tmp_path)
    assert not plan.refused and not plan.filled
    assert "kept         view shelves: of another TRIGGER from its next row on" in plan.lines()
    with pipeline(tmp_path, program=triggered(3, None), evolve=True) as p:
        assert left(p, 1, 7, 8) == [(7, 3)]
        assert left(p, 2, 8) == [(8, 3)]
        assert left(p, 3, 7, 7) == [] and left(p, 4, 7) == [(7, 6)]


@pytest.mark.parametrize(("before", "now"), [(10, 60), (60, 10)])
def test_what_waits_leaves_when_it_would_have(tmp_path: Path, before: int, now: int) -> None:
    with pipeline(tmp_path, program=triggered(None, before)) as p:
        assert left(p, 0, 7) == []
    with pipeline(tmp_path, program=triggered(None, now), evolve=True) as p:
        assert left(p, 1, 8) == []
        at = {7: before, 8: 1 + now}
        for second in (9, 10, 11, 12, 59, 60, 61):
            assert left(p, second) == [(shelf, 1) for shelf in (7, 8) if at[shelf] == second]


CLAUSES = [
    None,
    Clause(counting=1),
    Clause(counting=3),
    Clause(counting=4),
    Clause(delay=0),
    Clause(delay=1),
    Clause(delay=3),
    Clause(counting=2, delay=2),
]


def by(clause: Clause | None) -> Program:
    """None: every change leaves at once, as by COUNTING 1."""
    if clause is None:
        return items()
    return triggered(clause.counting, None if clause.delay is None else 60 * clause.delay)


def is_of_a_kind(one: Clause | None, other: Clause | None) -> bool:
    kinds = [None if each is None else (each.counting is None, each.delay is None) for each in (one, other)]
    return kinds[0] == kinds[1]


@pytest.mark.slow
@examples(80)
@given(st.integers(0, 1 << 30))
def test_another_trigger_is_as_the_book_says(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Of another kind, or none, what waits leaves at once; of other numbers, it waits on."""
    choose, root = random.Random(seed), tmp_path_factory.mktemp("law")
    before, now = choose.choice(CLAUSES), choose.choice(CLAUSES)
    model, held, clock = Model(before or Clause(counting=1)), Counter[int](), START

    def steps(p: Pipeline, count: int) -> None:
        nonlocal clock
        for _ in range(count):
            clock += choose.choice([0, 0, 1, 2]) * MINUTE
            came = Counter(choose.choice([7, 7, 8, 9]) for _ in range(choose.randint(0, 3)))
            gone = Counter(shelf for shelf in list(held) if held[shelf] and choose.random() < 0.2)
            p.insert("item", [(1, shelf, None) for shelf in came.elements()])
            p.delete("item", [(1, shelf, None) for shelf in gone.elements()])
            held.update(came)
            held.subtract(gone)
            records = {(shelf,): number for shelf, number in (came + gone).items()}  # however they cancel
            expected = model.step(records, contents(), clock, None, None)
            assert Counter(told(p.step(clock))) == expected

    def contents() -> dict[tuple[Any, ...], tuple[int, ...]]:
        return {(shelf,): (number,) for shelf, number in held.items() if number}

    with pipeline(root, program=by(before)) as p:
        steps(p, choose.randint(1, 6))
        last = p.last_step
    left = Counter({(*key, *row): 1 for key, row in model.emitted.items()})
    if is_of_a_kind(before, now):
        model.clause = now or Clause(counting=1)
    else:
        model = Model(now or Clause(counting=1), emitted=contents())
    with pipeline(root, program=by(now), evolve=True) as p:
        leaves = Counter({(*key, *row): 1 for key, row in contents().items()})
        leaves.subtract(left)
        if not is_of_a_kind(before, now):
            found = told(p.changes_of("shelves", last + 1))
            assert found == {row: weight for row, weight in leaves.items() if weight}
        steps(p, 6)
        assert rows(p, "shelves") == sorted((*key, *row) for key, row in contents().items())


def told(changes: Any) -> dict[tuple[Any, ...], int]:
    view = changes["shelves"] if isinstance(changes, Changes) else changes
    return {tuple(row.values()): weight for row, weight in view.rows()}


def test_a_new_view_with_a_trigger_appears_whole(tmp_path: Path) -> None:
    with pipeline(tmp_path, program=known(program([table("item", ITEM)], []))) as p:
        p.insert("item", [(1, 7, None), (2, 7, None), (3, 8, None)])
        p.step(START)
    with pipeline(tmp_path, program=triggered(2, None), evolve=True) as p:
        assert told(p.changes_of("shelves", 2)) == {(7, 2): 1, (8, 1): 1}
        assert left(p, 1, 7) == []
        assert left(p, 2, 7) == [(7, 4)]


def test_what_had_left_by_a_trigger_isn_t_told_by_contents(tmp_path: Path) -> None:
    """Where steps between two are missing, the difference of the contents would be more than what left."""
    with pipeline(tmp_path, program=triggered(4, None), keep_steps=1) as p:
        left(p, 0, 7)
        p.store.tags.add("before", 1)
    with pipeline(tmp_path, program=items(), evolve=True) as p:
        left(p, 1, 8)
        left(p, 2, 8)
        with pytest.raises(StateError, match="as of step 1 it was another, or none"):
            p.changes("shelves", since=1)
