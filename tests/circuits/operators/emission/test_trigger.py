"""Which keys fire, and when: through Emit, against the model that looks at one key after the other."""

from __future__ import annotations

import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.expressions.nodes import Column
from dbsp.circuits.operators.emission.emit import Emit
from dbsp.circuits.operators.emission.records import Records
from dbsp.circuits.operators.emission.timers import After, At, Timers, Timetable
from dbsp.circuits.operators.emission.trigger import Passed, Schedule, Trigger
from dbsp.circuits.operators.inputs.thresholds import Threshold
from dbsp.circuits.operators.linear import Map
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.steps.contents import is_pending
from dbsp.circuits.verify import verify
from tests.circuits.engine import Engine, Options, source
from tests.effort import examples
from tests.generators.columns.zsets import naive_of, zset_of
from tests.laws.operators_laws import hash_seeds, options
from tests.oracles.emission import MINUTE, Clause, Model

TIME = CLOCK.type
END, NOW = Column(0, TIME), Column(0, TIME)
SCHEMA = pa.schema([("e", TIME), ("v", pa.int64())])
KEYS = pa.schema([("e", TIME)])
START = datetime(2024, 2, 29, 10, tzinfo=UTC)
ENDS = [START + i * MINUTE for i in (0, 3, 6)]
CLAUSES = {
    "every record": Clause(counting=1),
    "every third": Clause(counting=3),
    "at once": Clause(delay=0),
    "later": Clause(delay=2),
    "passed": Clause(waterline=True),
    "whatever comes first": Clause(counting=4, delay=3, waterline=True),
    "a timetable": Clause(emit=(-4, 2, 2), every=2, flag=True),
    "a timetable with late rows": Clause(emit=(-3, 1, 5), every=2, late=True, flag=True),
    "a timetable that counts rows": Clause(emit=(-4, 0, 4), rows=2, late=True, flag=True),
}


def triggered(clause: Clause, seed: int = 0) -> Circuit:
    """The table by its key e, emitted as the clause says; the clock is also the event time."""
    builder = CircuitBuilder(seed, lateness=[CLOCK])
    table = source(builder, "t", SCHEMA)
    view = builder.add(Integrate((0,)), builder.placed(table, (0,)))
    records = builder.placed(builder.add(Records(), builder.add(Map((END,), KEYS), table)), (0,))
    agendas, passed, schedule = [], (), None
    delay = None if clause.delay is None else clause.delay * 60_000_000
    if delay is not None:
        agendas.append(builder.add(Timers((0,), After(delay), Threshold((CLOCK,), (NOW,), True)), records))
    if clause.waterline:
        threshold = Threshold((CLOCK,), (NOW,))
        agendas.append(builder.add(Timers((0,), At(END), threshold), records))
        passed = (Passed(END, threshold),)
    if clause.emit is not None:
        first, complete, last = (offset * 60_000_000 for offset in clause.emit)
        every = None if clause.every is None else clause.every * 60_000_000
        table_of = Timetable(END, first, every, complete, last)
        threshold = Threshold((CLOCK,), (NOW,), True)
        schedule = Schedule(table_of, threshold, clause.rows, clause.late, clause.flag)
        agendas.append(builder.add(Timers((0,), table_of, threshold, again=True), records))
    trigger = Trigger((0,), len(agendas), clause.counting, delay, passed, schedule)
    fired = builder.add(trigger, records, view, *agendas)
    builder.output("v", view, view, builder.add(Emit((0,), schedule), fired, view))
    return builder.build()


Step = tuple[datetime, list[tuple[datetime, int | None]]]


@st.composite
def updates(draw: st.DrawFn) -> list[Step]:
    """(clock, new values by key); None: the key goes."""
    clock, steps = START - 5 * MINUTE, []
    changes = st.tuples(st.sampled_from(ENDS), st.one_of(st.none(), st.integers(0, 2)))
    for _ in range(draw(st.integers(1, 7))):
        clock += draw(st.integers(0, 4)) * MINUTE
        steps.append((clock, draw(st.lists(changes, max_size=3))))
    return steps


def follows_the_book(clause: Clause, steps: list[Step], way: Options, seed: int) -> None:
    model, held = Model(clause), dict[datetime, int]()
    circuit = triggered(clause, seed)
    with tempfile.TemporaryDirectory() as root:
        engine = Engine(circuit, Path(root), way)
        for number, (clock, changes) in enumerate([*steps, (steps[-1][0], [])]):
            listed: list[tuple[tuple[Any, ...], int]] = []
            for end, value in changes:
                if end in held:
                    listed.append(((end, held.pop(end)), -1))
                if value is not None:
                    held[end] = value
                    listed.append(((end, value), 1))
            records = Counter((end,) for (end, _), _ in listed)
            ending = number == len(steps)
            if ending and clause.emit is None:
                pending = any(waiting.pending for waiting in model.keys.values())
                assert is_pending(circuit, engine.state, engine.segments) == pending
            emitted = engine.step({"t": zset_of(SCHEMA, listed)}, clock, ending)["v"]
            rows = {(end,): (value,) for end, value in held.items()}
            bound = clock - timedelta(microseconds=1)
            expected = model.step(records, rows, clock, bound, clock, ending)
            assert naive_of(emitted) == Counter({("list", *row): n for row, n in expected.items()})


@examples(25)
@given(st.sampled_from(sorted(CLAUSES)), updates(), options, hash_seeds)
def test_keys_fire_when_the_book_says(name: str, steps: list[Step], way: Options, seed: int) -> None:
    follows_the_book(CLAUSES[name], steps, way, seed)


def test_what_it_says_of_itself() -> None:
    counting = Trigger((0,), 0, counting=2)
    assert counting.own_bound() is None, "a remainder stays"
    assert Trigger((0,), 1, delay=5).own_bound() == "what is still to leave"
    assert counting.held([("a",)]) is None and not counting.retracts([True])
    assert [counting.reach(i, [{}, {}]) for i in range(2)] == [None, ()]
    assert counting.shown([], ["e"]) == "by (e)"
    assert Trigger((0,), 2).timers == slice(2, 4)


def test_keys_that_aren_t_the_view_s_are_refused() -> None:
    builder = CircuitBuilder()
    table = source(builder, "t", SCHEMA)
    view = builder.add(Integrate((0,)), builder.placed(table, (0,)))
    values = builder.add(Map((Column(1, pa.int64()),), pa.schema([("v", pa.int64())])), table)
    builder.add(Trigger((0,), 0, 1), builder.placed(builder.add(Records(), values), (0,)), view)
    with pytest.raises(AssertionError, match="the keys aren't the view's"):
        verify(builder.build())
