"""What `dbsp check` says of state, against state measured over a long run whose time moves on, both ways.

What is called bounded holds as many rows after 48 hours as after 24; what is called unbounded holds more. The
users of a run are new ones every hour; places and products are always the same few.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.shown.bounds import bounds
from tests.laws.laws import ALWAYS

pytestmark = pytest.mark.spark

START = datetime(2024, 1, 1, tzinfo=UTC)
HOURS = 24  # as long again is run after the first measurement
ROWS = 6
TABLES = """
CREATE TABLE click (at TIMESTAMP LATENESS INTERVAL 1 HOUR, user STRING, place STRING CONSTANT DOMAIN,
  n BIGINT, x DOUBLE) WITH (append_only = true);
CREATE TABLE seen (at TIMESTAMP LATENESS INTERVAL 1 HOUR, user STRING, place STRING CONSTANT DOMAIN,
  n BIGINT, x DOUBLE) WITH (append_only = true);
CREATE TABLE plain (at TIMESTAMP, user STRING, place STRING CONSTANT DOMAIN, n BIGINT, x DOUBLE)
  WITH (append_only = true);
CREATE TABLE counter (n BIGINT LATENESS 2, m BIGINT LATENESS 2, user STRING, day DATE LATENESS INTERVAL 1 DAY,
  day2 DATE LATENESS INTERVAL 1 DAY NOT NULL) WITH (append_only = true);
CREATE TABLE product (id BIGINT PRIMARY KEY, place STRING, price BIGINT);
"""
NOW = "now() - INTERVAL 2 HOURS"
# each stateful operator, over what should bound it and over what shouldn't
QUERIES = [
    "SELECT place, avg(x) AS a, sum(x) AS s, count(*) AS c FROM plain GROUP BY place",
    "SELECT place, stddev(x) AS a, bit_xor(n) AS b FROM plain GROUP BY place",
    "SELECT user, page, count(*) AS c FROM (SELECT user, place AS page, at FROM plain)"
    f" WHERE at BETWEEN {NOW} AND now() GROUP BY user, page",
    f"SELECT DISTINCT user FROM plain WHERE at > {NOW}",
    f"SELECT * FROM plain WHERE at > {NOW}",
    f"SELECT p.user, price FROM (SELECT * FROM plain WHERE at > {NOW}) p JOIN product r ON p.place = r.place",
    f"SELECT user, n, row_number() OVER (PARTITION BY user ORDER BY n) AS r FROM plain WHERE at > {NOW}",
    f"SELECT user FROM plain WHERE at > {NOW} EXCEPT SELECT user FROM click",
    "SELECT user, count(*) AS c FROM plain GROUP BY user",
    "SELECT DISTINCT user FROM plain",
    "SELECT DISTINCT place FROM plain",
    "SELECT place, max(n) AS m, min(x) AS l FROM plain GROUP BY place",
    "SELECT place, collect_list(n) AS l FROM plain GROUP BY place",
    "SELECT max(n) AS m, sum(x) AS s FROM plain",
    "SELECT user, n FROM plain ORDER BY n DESC LIMIT 3",
    "SELECT * FROM plain",
    "SELECT a.user, b.n FROM plain a JOIN plain b ON a.user = b.user",
    "SELECT a.user FROM plain a LEFT SEMI JOIN product b ON a.place = b.place",
    "SELECT place, sum(price) AS s FROM product GROUP BY place",
    "SELECT a.user, b.x FROM click a JOIN seen b ON a.user = b.user"
    " AND b.at BETWEEN a.at AND a.at + INTERVAL 1 HOUR",
    "SELECT a.user, b.x FROM click a LEFT JOIN seen b ON a.at = b.at",
    "SELECT window.start AS s, user, count(*) AS c FROM click GROUP BY window(at, '1 hour'), user",
    "SELECT window.start AS s, user FROM click GROUP BY window(at, '1 hour'), user",
    "SELECT session_window.end AS s, user, count(*) AS c FROM click"
    " GROUP BY session_window(at, '5 minutes'), user",
    "SELECT a.user, b.x FROM click a ASOF JOIN seen b MATCH_CONDITION (a.at >= b.at) ON a.place = b.place",
    "SELECT a.user, b.x FROM plain a ASOF JOIN plain b MATCH_CONDITION (a.at >= b.at) ON a.user = b.user",
    "SELECT user, sum(n) OVER"
    " (PARTITION BY place ORDER BY at RANGE INTERVAL 1 HOUR PRECEDING) AS s FROM click",
    "SELECT greatest(n, m) AS g, user, count(*) AS c FROM counter GROUP BY greatest(n, m), user",
    "SELECT coalesce(n, m) AS g, user, count(*) AS c FROM counter GROUP BY coalesce(n, m), user",
    "SELECT n + n AS g, user, count(*) AS c FROM counter GROUP BY n + n, user",
    "SELECT n + m AS g, user, sum(n) AS c FROM counter GROUP BY n + m, user",
    "SELECT greatest(day2, DATE '2000-01-01') AS g, user, count(*) AS c FROM counter"
    " GROUP BY greatest(day2, DATE '2000-01-01'), user",
    "SELECT coalesce(n, 0) AS g, user, count(*) AS c FROM counter GROUP BY coalesce(n, 0), user",
    "SELECT n - m AS g, user, count(*) AS c FROM counter GROUP BY n - m, user",
]
TRIGGERS = [
    "SELECT window.end AS e, user, count(*) AS c FROM click"
    " GROUP BY window(at, '1 hour'), user TRIGGER ON WATERMARK",
    "SELECT place, count(*) AS c FROM plain GROUP BY place TRIGGER COUNTING 3, AFTER DELAY INTERVAL 1 HOUR",
    "SELECT user, count(*) AS c FROM plain GROUP BY user TRIGGER COUNTING 3",
]


def batch(random: Random, hour: int) -> dict[str, list[dict[str, Any]]]:
    def clicks() -> Iterator[dict[str, Any]]:
        for number in range(ROWS):
            at = START + timedelta(hours=hour, minutes=random.randrange(-30, 0))
            user = f"user {hour} {number // 4}"
            n, x = hour * 100 + random.randrange(50), random.choice([0.5, 1.25, 3.0])
            yield {"at": at, "user": user, "place": random.choice("abc"), "n": n, "x": x}

    def counters() -> Iterator[dict[str, Any]]:
        day = (START + timedelta(days=hour)).date()
        for number in range(ROWS):
            n = 3 * hour + random.randrange(2)
            user = f"user {hour * ROWS + number}"
            yield {"n": n, "m": n + random.randrange(2), "user": user, "day": day, "day2": day}

    return {**{table: [*clicks()] for table in ("click", "seen", "plain")}, "counter": [*counters()]}


def measured(program: Program) -> list[dict[int, int]]:
    """Rows by node after half of the run and at its end."""
    random, found = Random(7), []
    with Pipeline(program, runner="inline") as pipeline:
        object.__setattr__(pipeline._position.state, "small", ALWAYS)
        if "product" in program.circuit.sources:
            pipeline.upsert("product", [{"id": i, "place": "abc"[i], "price": i} for i in range(3)])
        for hour in range(1, 2 * HOURS + 1):
            for table, rows in batch(random, hour).items():
                if table in program.circuit.sources:
                    pipeline.insert(table, rows)
            pipeline.step(START + timedelta(hours=hour))
            if hour % HOURS == 0:
                found.append(dict(pipeline._position.state.rows()))
    return found


@pytest.mark.parametrize("query", QUERIES + TRIGGERS)
def test_what_is_said_of_state_is_what_it_does(spark: Any, query: str) -> None:
    program = compile_program(f"{TABLES}CREATE VIEW v AS {query};", session=spark)
    half, whole = measured(program)
    for i, said in zip(
        sorted({*program.circuit.layouts, *program.circuit.logs}), bounds(program), strict=True
    ):
        before, after = half.get(i, 0), whole.get(i, 0)
        if said.is_bounded:
            assert after <= before + 3 * ROWS, f"{query}\n{said}\n{before} rows, then {after}"
        else:
            assert after >= before + HOURS // 2, f"{query}\n{said}\n{before} rows, then {after}"
