"""Windows over random times, in zones whose clocks change: one meaning, however they are spelled."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from tests.effort import examples

pytestmark = pytest.mark.spark

ZONES = ["UTC", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kathmandu"]
UNITS = ["SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"]
LENGTH, ALIGN = "INTERVAL '7' MINUTE", "TIME '0:03'"
COUNTS = "SELECT {0}_START({1}) AS s, {0}_END({1}) AS e, count(*) AS n FROM event GROUP BY {0}({1})"
WINDOWS = {
    "plain": COUNTS.format("TUMBLE", f"ts, {LENGTH}"),
    "aligned_to_nothing": COUNTS.format("TUMBLE", f"ts, {LENGTH}, TIME '0:00'"),
    "aligned": COUNTS.format("TUMBLE", f"ts, {LENGTH}, {ALIGN}"),
    "hop": COUNTS.format("HOP", f"ts, {LENGTH}, {LENGTH}, {ALIGN}"),
    "of_a_table": "SELECT window_start AS s, window_end AS e, count(*) AS n FROM "
    f"TUMBLE(TABLE event, DESCRIPTOR(ts), {LENGTH}, INTERVAL '3' MINUTE) GROUP BY window_start, window_end",
}
# the times for which FLOOR and CEIL are not neighbours with the time between them
UNSOUND = """SELECT ts FROM event WHERE NOT (
  FLOOR(ts TO {0}) <= ts AND ts <= CEIL(ts TO {0})
  AND (FLOOR(ts TO {0}) = ts) = (CEIL(ts TO {0}) = ts)
  AND FLOOR(CEIL(ts TO {0}) TO {0}) = CEIL(ts TO {0})
  AND FLOOR(CEIL(ts TO {0}) - INTERVAL 1 MICROSECOND TO {0}) = FLOOR(ts - INTERVAL 1 MICROSECOND TO {0}))"""
TEXT = "CREATE TABLE event (ts TIMESTAMP);\n" + "\n".join(
    [f"CREATE VIEW {name} AS {query};" for name, query in WINDOWS.items()]
    + [f"CREATE VIEW unsound_{unit} AS {UNSOUND.format(unit)};" for unit in UNITS]
)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
# whole hours around changes of clock are likely to be wrong if anything is
TIMES = st.one_of(
    st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1)),
    st.integers(0, 24 * 366).map(lambda hour: datetime(2024, 1, 1) + hour * timedelta(hours=1)),
    st.tuples(st.sampled_from([1, 2, 3, 4, 9, 10, 11, 12]), st.integers(0, 400)).map(
        lambda at: datetime(2017, at[0], 1) + at[1] * timedelta(minutes=30)
    ),
)
_COMPILED: dict[str, Any] = {}


@pytest.mark.parametrize("zone", ZONES)
@examples(15)
@given(times=st.lists(TIMES, min_size=1, max_size=30))
def test_spellings_agree_and_floors_and_ceilings_enclose(
    spark: Any, zone: str, times: list[datetime]
) -> None:
    if zone not in _COMPILED:
        session = spark.newSession()
        session.conf.set("spark.sql.session.timeZone", zone)
        _COMPILED[zone] = compile_program(TEXT, session=session)
    with Pipeline(_COMPILED[zone], runner="inline") as pipeline:
        pipeline.insert("event", [{"ts": time.replace(tzinfo=UTC)} for time in times])
        pipeline.step()
        rows = {name: pipeline[name].rows() for name in WINDOWS}
        assert rows["aligned_to_nothing"] == rows["plain"]
        assert rows["hop"] == rows["aligned"] == rows["of_a_table"]
        assert sum(row["n"] for row in rows["plain"]) == len(times)
        for row in rows["aligned"]:
            assert (row["s"] - datetime(1970, 1, 1, tzinfo=UTC)) % (420 * SECOND) == 180 * SECOND
            assert row["e"] - row["s"] == 420 * SECOND
        assert {unit: pipeline[f"unsound_{unit}"].rows() for unit in UNITS} == {unit: [] for unit in UNITS}


SESSIONS = """
CREATE TABLE event (k BIGINT, j BIGINT, ts TIMESTAMP);
CREATE VIEW of_one AS SELECT * FROM SESSION(TABLE event, DESCRIPTOR(ts), INTERVAL '5' MINUTE);
CREATE VIEW of_keys AS SELECT * FROM TABLE(SESSION(
  DATA => TABLE event, TIMECOL => DESCRIPTOR(ts), KEY => DESCRIPTOR(k, j), SIZE => INTERVAL '5' MINUTE));
CREATE VIEW counted AS SELECT k, window_start, window_end, count(*) AS n
FROM SESSION(TABLE event, DESCRIPTOR(ts), DESCRIPTOR(k), INTERVAL '5' MINUTE)
GROUP BY k, window_start, window_end;
CREATE VIEW grouped AS SELECT k, session_window.start, session_window.end, count(*) AS n
FROM event GROUP BY session_window(ts, '5 minutes'), k;
"""
GAP = timedelta(minutes=5)
EVENTS = st.tuples(
    st.sampled_from([None, 1, 2]),
    st.sampled_from([None, 1]),
    st.none() | st.integers(0, 40).map(lambda minute: datetime(2024, 3, 1, 10, tzinfo=UTC) + minute * MINUTE),
)


def in_sessions(events: Counter[Any], keys: int) -> Counter[Any]:
    """Each event with its session: two of a key belong together unless more than the gap is between them.

    keys: how many columns of an event are its key.
    """
    found: Counter[Any] = Counter()
    sessions: dict[Any, list[list[Any]]] = defaultdict(list)
    for event in sorted((e for e in events.elements() if e[2] is not None), key=lambda e: e[2]):
        of_key = sessions[event[:keys]]
        if not of_key or event[2] > of_key[-1][-1][2] + GAP:
            of_key.append([])
        of_key[-1].append(event)
    for of_key in sessions.values():
        for session in of_key:
            found.update((*event, session[0][2], session[-1][2] + GAP) for event in session)
    return found


@examples(40)
@given(data=st.data())
def test_sessions_of_a_table(spark: Any, data: st.DataObject) -> None:
    if "sessions" not in _COMPILED:
        _COMPILED["sessions"] = compile_program(SESSIONS, session=spark)
    held: Counter[Any] = Counter()
    with Pipeline(_COMPILED["sessions"], runner="inline") as p:
        for _ in range(data.draw(st.integers(1, 5))):
            gone = [e for e in held.elements() if data.draw(st.integers(0, 3)) == 3]
            come = data.draw(st.lists(EVENTS, max_size=5))
            held += Counter(come)
            held -= Counter(gone)
            p.insert("event", come)
            p.delete("event", gone)
            p.step()
            for view, keys in (("of_one", 0), ("of_keys", 2)):
                assert Counter(tuple(row.values()) for row in p[view].rows()) == in_sessions(held, keys), view
            counted, grouped = (
                [tuple(r.values()) for r in p[view].rows()] for view in ("counted", "grouped")
            )
            assert counted == grouped


# where clocks change a day has up to an hour more or less
CHANGES = {
    "America/New_York": datetime(2024, 3, 9),
    "Australia/Lord_Howe": datetime(2024, 4, 6),
}
FRAMES = {
    "day": "ORDER BY ts RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW",
    "days": "ORDER BY ts RANGE BETWEEN INTERVAL '1 12' DAY TO HOUR PRECEDING "
    "AND INTERVAL '2 0' DAY TO HOUR FOLLOWING",
    "down": "ORDER BY ts DESC RANGE BETWEEN INTERVAL 2 DAY PRECEDING AND INTERVAL 1 DAY PRECEDING",
    "hours": "ORDER BY ts RANGE BETWEEN INTERVAL 3 HOUR PRECEDING AND INTERVAL 2 HOUR FOLLOWING",
}


@pytest.mark.parametrize("zone", CHANGES)
def test_ranges_of_days_where_clocks_change(spark: Any, zone: str) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    queries = {name: f"SELECT ts, count(*) OVER ({frame}) AS n FROM event" for name, frame in FRAMES.items()}
    views = "\n".join(f"CREATE VIEW {name} AS {query};" for name, query in queries.items())
    program = compile_program(f"CREATE TABLE event (ts TIMESTAMP);\n{views}", session=session)
    start = CHANGES[zone].replace(tzinfo=UTC) - 2 * 24 * 60 * MINUTE
    held = Counter(start + hour * 60 * MINUTE for hour in range(7 * 24))
    with Pipeline(program, runner="inline") as pipeline:
        pipeline.insert("event", [{"ts": time} for time in held.elements()])
        pipeline.step()
        for hour in range(36, 84, 8):
            gone, come = start + hour * 60 * MINUTE, start + (hour * 60 + 30) * MINUTE
            pipeline.delete("event", [{"ts": gone}])
            pipeline.insert("event", [{"ts": come}])
            held = held - Counter([gone]) + Counter([come])
            pipeline.step()
            session.createDataFrame(
                [(time,) for time in held.elements()], "ts TIMESTAMP"
            ).createOrReplaceTempView("event")
            for name, query in queries.items():
                rows = session.sql(query.replace("SELECT ts", "SELECT unix_micros(ts)")).collect()
                found = [(row["ts"].timestamp() * 1_000_000, row["n"]) for row in pipeline[name].rows()]
                assert sorted(found) == sorted(map(tuple, rows)), name
