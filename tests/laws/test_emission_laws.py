"""Triggers over random programs: they choose when changes leave, and change nothing else."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.properties.keys import view_keys
from dbsp.testing.bags import identity
from dbsp.testing.choices import Seeded
from tests.effort import examples, pool_of
from tests.generators.programs import Program, View, table
from tests.generators.strategies import Change, Run, runs, seeded_program
from tests.laws.laws import WAYS, Case, Running, Way, naive
from tests.oracles.emission import MINUTE, Clause, Model, triggered

pytestmark = pytest.mark.spark

POOL = pool_of(40)
START = datetime(2024, 3, 1, 10, tzinfo=UTC)
_COMPILED: dict[str, Any] = {}


def compiled(text: str, session: Any) -> Any:
    if text not in _COMPILED:
        _COMPILED[text] = compile_program(text, session=session)
    return _COMPILED[text]


def case_of(program: Program, session: Any) -> Case:
    return Case(program, compiled(program.text, session))


def triggered_program(seed: int) -> Program:
    return triggered(Seeded(seed), seeded_program(seed))


@st.composite
def clocks(draw: st.DrawFn, steps: int) -> list[datetime]:
    """A clock for each step, in minutes; it may stand still."""
    clock, found = START, []
    for _ in range(steps):
        clock += timedelta(minutes=draw(st.integers(0, 3)))
        found.append(clock)
    return found


class Keyed:
    """A view's rows by stream key, as of every step."""

    def __init__(self, case: Case, view: str) -> None:
        self.view = view
        schema = case.compiled.views[view].schema
        key = view_keys(case.compiled)[view]
        self.columns = tuple(range(len(schema))) if key is None else key
        self.history: dict[Any, list[Counter[Any]]] = defaultdict(lambda: [Counter()])

    def by_key(self, rows: Counter[Any]) -> dict[Any, Counter[Any]]:
        found: dict[Any, Counter[Any]] = defaultdict(Counter)
        for row, weight in rows.items():
            # the first of an identity is what it is of
            found[tuple(row[1 + i] for i in self.columns)][row] += weight
        return found

    def remember(self, rows: Counter[Any]) -> None:
        now = self.by_key(rows)
        for key in {*now, *self.history}:
            self.history[key].append(now.get(key, Counter()))

    def check(self, emitted: Counter[Any]) -> None:
        """Of every key, what was emitted is the view as of some step."""
        for key, rows in self.by_key(emitted).items():
            assert rows in self.history[key], f"{self.view}: {key} was emitted as {rows}"


@examples(40)
@given(data=st.data())
def test_emissions_follow_the_view(spark: Any, data: st.DataObject) -> None:
    """Each key as of an earlier step, at any moment; at the end, the view, which no trigger changes."""
    seed = data.draw(st.integers(0, POOL - 1))
    program = triggered_program(seed)
    case = case_of(program, spark)
    run = data.draw(runs(program))
    way = data.draw(st.sampled_from(list(WAYS.values())))
    emitted: dict[str, Counter[Any]] = {view: Counter() for view in program.outputs}
    keyed = {view: Keyed(case, view) for view in program.outputs}
    with Running(case, way) as running, Running(Case.of(seeded_program(seed), spark)) as plain:
        for delta, clock in zip(run, data.draw(clocks(len(run))), strict=True):
            changes = running.changes(delta, clock)
            plain.step(delta)
            for view in program.outputs:
                held = naive(running.pipeline[view].zset)
                assert held == naive(plain.pipeline[view].zset), view
                emitted[view].update(changes[view])
                emitted[view] = Counter({row: n for row, n in emitted[view].items() if n})
                keyed[view].remember(held)
                keyed[view].check(emitted[view])
        before = running.pipeline.last_step
        running.finish()
        if running.pipeline.last_step > before:
            for view, change in running.last_changes().items():
                emitted[view].update(change)
        for view in program.outputs:
            left = Counter({row: n for row, n in emitted[view].items() if n})
            assert left == naive(running.pipeline[view].zset), f"{view}: at the end"
        assert running.finish() == ""


@pytest.mark.parametrize("way", WAYS)
@examples(8)
@given(data=st.data())
def test_the_way_changes_no_byte_of_what_is_emitted(spark: Any, way: str, data: st.DataObject) -> None:
    """Nor does a replay with the recorded clock."""
    program = triggered_program(data.draw(st.integers(0, POOL - 1)))
    case, run = case_of(program, spark), data.draw(runs(program))
    times = data.draw(clocks(len(run)))
    with Running(case) as plain, Running(case, WAYS[way]) as other:
        for delta, clock in zip(run, times, strict=True):
            assert other.step(delta, clock) == plain.step(delta, clock)
        assert other.finish() == plain.finish()


# ---- when: windows of ten minutes by a key, against the model -----------------------------------------

CLAUSES = {
    "count1": Clause(counting=1),
    "count3": Clause(counting=3),
    "delay0": Clause(delay=0),
    "delay2": Clause(delay=2),
    "waterline": Clause(waterline=True),
    "listed": Clause(counting=4, delay=3, waterline=True),
    "emit_rate": Clause(emit=(-7, 2, 2), every=3, flag=True),
    "emit_late": Clause(emit=(-5, 1, 6), every=2, late=True, flag=True),
    "emit_rows": Clause(emit=(-10, 0, 0), rows=2),
    "emit_late_rows": Clause(emit=(-8, 0, 9), rows=3, late=True, flag=True),
    "emit_default": Clause(emit=(0, 0, 0), rows=1),
}
QUERY = "SELECT window.end AS e, k, count(*) AS n, sum(v) AS s FROM r GROUP BY window(ts, '10 minutes'), k"
LATENESS, TEN, HOUR = 4 * MINUTE, 10 * MINUTE, 60 * MINUTE
TABLE = table("r", "k BIGINT, v BIGINT, ts TIMESTAMP")
# the same keys without an aggregate: their records are the table's rows all the same
BARE = {
    "grouped": "SELECT window.end AS e, k FROM r GROUP BY window(ts, '10 minutes'), k",
    "distinct": "SELECT DISTINCT w.end AS e, k FROM (SELECT window(ts, '10 minutes') AS w, k FROM r)",
}
# a key that is no window, though its values are those of the windows' ends
PLAIN = (
    "SELECT timestamp_micros((unix_micros(ts) DIV 600000000 + 1) * 600000000) AS e, k, count(*) AS n, "
    "sum(v) AS s FROM r GROUP BY 1, k"
)
# a window that rows without a time are in, too
HOURLY = "SELECT date_trunc('HOUR', ts) AS e, k, count(*) AS n, sum(v) AS s FROM r GROUP BY 1, k"
HOURLY_CLAUSES = ("listed", "emit_rate", "emit_late", "emit_late_rows")
RATES = {"each3": Clause(counting=3, rated=True), "each2minutes": Clause(delay=2, rated=True)}
# one row, which is there before any record
EVERYTHING = "SELECT count(*) AS n, sum(v) AS s FROM r"
BARE_CLAUSES = ("count3", "listed", "emit_rows")
# view → (query, clause)
WINDOWED = {name: (QUERY, clause) for name, clause in CLAUSES.items()} | {
    f"{shape}_{name}": (query, CLAUSES[name]) for shape, query in BARE.items() for name in BARE_CLAUSES
}
WINDOWED |= {name: (PLAIN, clause) for name, clause in RATES.items()}
WINDOWED |= {f"hourly_{name}": (HOURLY, CLAUSES[name]) for name in HOURLY_CLAUSES}
EVER = {"each2minutes": RATES["each2minutes"], "count3": CLAUSES["count3"], "delay2": CLAUSES["delay2"]}
WINDOWED |= {f"all_{name}": (EVERYTHING, clause) for name, clause in EVER.items()}
WINDOWS = Program(
    (TABLE,),
    tuple(View(name, query, None, emission=clause.sql) for name, (query, clause) in WINDOWED.items()),
)


@st.composite
def drifting(draw: st.DrawFn) -> list[tuple[Run, datetime]]:
    """Keys fire each on their own, and a step costs what its operators do: so several keys a step."""
    steps = []
    time, held = START, Counter[Any]()
    for clock in draw(clocks(draw(st.integers(1, 10)))):
        changes = []
        for _ in range(draw(st.integers(0, 8))):
            ts = time + timedelta(minutes=draw(st.integers(-6, 6))) if draw(st.integers(0, 9)) else None
            row = (draw(st.integers(0, 4)), draw(st.integers(1, 2)), ts)
            if held and draw(st.integers(0, 4)) == 4:
                row = draw(st.sampled_from(sorted(held, key=str)))
                changes.append(Change("retract", row))
                held -= Counter([row])
            else:
                changes.append(Change("insert", row))
                held[row] += 1
        steps.append(({"r": changes} if changes else {}, clock))
        time += timedelta(minutes=draw(st.integers(0, 8)))
    return steps


def end_of(ts: datetime, length: timedelta = TEN) -> datetime:
    """Of the window that the instant is in."""
    return START + ((ts - START) // length + 1) * length


def key_of(ts: datetime | None, length: timedelta) -> datetime | None:
    return None if ts is None else end_of(ts, length)


@dataclass
class Held:
    """The table, as its LATENESS lets rows in. records: those of this step, by (time, k)."""

    rows: Counter[Any] = field(default_factory=Counter)
    records: Counter[Any] = field(default_factory=Counter)
    waterline: datetime | None = None
    largest: datetime | None = None

    def take(self, changes: list[Change]) -> None:
        self.records = Counter()
        passing = [c for c in changes if None in (self.waterline, c.row[2]) or c.row[2] >= self.waterline]
        for change in passing:
            k, _, ts = change.row
            self.records[ts, k] += change.weight
            self.rows[change.row] += change.weight if change.kind == "insert" else -change.weight
        self.waterline = latest(self.waterline, *(c.row[2] and c.row[2] - LATENESS for c in changes))
        self.largest = latest(self.largest, *(c.row[2] for c in passing))

    def view(self, query: str) -> dict[Any, tuple[int, ...]]:
        """By its key, (window's end, k), what it has beside."""
        if query == EVERYTHING:
            count = self.rows.total()
            return {(): (count, sum(v * n for (_, v, _), n in self.rows.items()) if count else None)}
        sums: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
        for (k, v, ts), weight in self.rows.items():
            for i, one in enumerate((weight, v * weight)):
                sums[key_of(ts, length_of(query)), k][i] += one
        found = {key: tuple(both) for key, both in sums.items() if both[0] and has_key(query, key)}
        return dict.fromkeys(found, ()) if query in BARE.values() else found

    def came(self, query: str) -> Counter[Any]:
        """The step's records by the view's key."""
        found = Counter[Any]()
        for (ts, k), n in self.records.items():
            found[() if query == EVERYTHING else (key_of(ts, length_of(query)), k)] += n
        return Counter({key: n for key, n in found.items() if has_key(query, key)})


def latest(*times: datetime | None) -> datetime | None:
    return max((time for time in times if time is not None), default=None)


def length_of(query: str) -> timedelta:
    return HOUR if query == HOURLY else TEN


def has_key(query: str, key: Any) -> bool:
    """Whether it groups such rows: a window() has none without a time."""
    return None not in key or query in (PLAIN, HOURLY)


@examples(30)
@given(data=st.data())
def test_keys_fire_when_the_book_says(spark: Any, data: st.DataObject) -> None:
    late = WINDOWS.text.replace("ts TIMESTAMP", "ts TIMESTAMP LATENESS INTERVAL '4' MINUTE")
    case = Case(WINDOWS, compiled(late, spark))
    steps = data.draw(drifting())
    way = data.draw(st.sampled_from([Way(), Way(partitions=3), Way(reopened=True, small=0)]))
    models = {name: Model(clause) for name, (_, clause) in WINDOWED.items()}
    held = Held()
    with Running(case, way) as running:
        for number, (delta, clock) in enumerate([*steps, ({}, steps[-1][1])], 1):
            ending = number > len(steps)
            held.take(delta.get("r", []))
            if any(weight < 0 for weight in held.rows.values()):
                return  # a retraction of a row that was late: another law's
            if ending:
                before = running.pipeline.last_step
                running.finish()
                made = running.pipeline.last_step > before
                found = running.last_changes() if made else {name: Counter() for name in WINDOWED}
            else:
                found = running.changes(delta, clock)
            for name, model in models.items():
                query, clause = WINDOWED[name]
                length = length_of(query)
                bound = held.waterline and end_of(held.waterline, length) - length
                came = held.came(query)
                if query == EVERYTHING and number == 1:
                    came.setdefault((), 0)
                emitted = model.step(came, held.view(query), clock, bound, held.largest, ending)
                if query == HOURLY:  # known by its start
                    emitted = Counter({(e and e - HOUR, *rest): n for (e, *rest), n in emitted.items()})
                expected = Counter({identity(row): n for row, n in emitted.items()})
                assert found[name] == expected, f"step {number} of {steps}: {name}: {clause.sql}"


STARTS = tuple(
    View(f"{name}_{part}", QUERY.replace("window.end AS e", f"window.{part} AS e"), None, emission=clause.sql)
    for name, clause in CLAUSES.items()
    if clause.emit is not None
    for part in ("start", "end")
)


@pytest.mark.parametrize("lateness", ["", " LATENESS INTERVAL '4' MINUTE"])
@examples(12)
@given(data=st.data())
def test_a_window_may_be_known_by_its_start(spark: Any, lateness: str, data: st.DataObject) -> None:
    program = Program((TABLE,), STARTS)
    text = program.text.replace("ts TIMESTAMP", f"ts TIMESTAMP{lateness}")
    with Running(Case(program, compiled(text, spark)), Way(small=0)) as running:
        for delta, clock in data.draw(drifting()):
            running.changes(delta, clock)
            p = running.pipeline
            rows = {view: p.changes_of(view, p.last_step).rows() for view in program.outputs}
            for view in program.outputs[::2]:
                shifted = [({**row, "e": row["e"] + TEN}, weight) for row, weight in rows[view]]
                assert shifted == rows[view.replace("_start", "_end")], view


@pytest.mark.parametrize("lateness", ["", " LATENESS INTERVAL '4' MINUTE"])
def test_what_was_final_stays_though_the_input_goes_on(spark: Any, lateness: str) -> None:
    """The one result of a key, which may go to where nothing is taken back."""
    text = (
        f"CREATE TABLE r (ts TIMESTAMP{lateness}); CREATE VIEW v AS SELECT date_trunc('HOUR', ts) AS e, "
        "count(*) AS n FROM r GROUP BY 1 EMIT (COMPLETE RESULT OFFSET INTERVAL 0 MINUTES);"
    )
    with Pipeline(compiled(text, spark), runner="inline") as p:
        left: Counter[Any] = Counter()
        for minute in (0, 20, 70, 200):
            p.insert("r", [(None,), (START + minute * MINUTE,)])
            for changes in (p.step(), p.finish() if minute else None):
                for row, weight in changes["v"].rows() if changes is not None else ():
                    left[row["e"], row["n"]] += weight
        hours = (None, *(START + hour * HOUR for hour in (0, 1, 3)))
        assert left == Counter(zip(hours, (2, 2, 1, 1), strict=True))
