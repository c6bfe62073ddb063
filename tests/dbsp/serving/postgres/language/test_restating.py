"""What PostgreSQL says otherwise than Spark."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from dbsp.serving.postgres.language.restating import columns_of, for_spark, standard
from dbsp.serving.postgres.language.spelling import spark_text, statements
from tests.dbsp.serving.postgres.connected import connected


def _said(text: str) -> str:
    return spark_text(standard(statements(text)[0]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT a FROM dbsp.public.v", "SELECT a FROM v"),
        ('SELECT v.a FROM "dbsp"."public"."v"', "SELECT v.a FROM `v`"),
        ("SELECT x.dbsp.public FROM x", "SELECT x.dbsp.public FROM x"),
        ("SELECT dbsp.a FROM dbsp", "SELECT dbsp.a FROM dbsp"),
        ("SELECT a FROM v FETCH FIRST 3 ROWS ONLY", "SELECT a FROM v LIMIT 3"),
        ("SELECT a FROM v FETCH NEXT ROW ONLY", "SELECT a FROM v LIMIT 1"),
        ("SELECT a OFFSET 2 ROWS FETCH NEXT (1 + 1) ROWS ONLY", "SELECT a LIMIT (1 + 1) OFFSET 2"),
        ("SELECT (SELECT 1 FETCH FIRST 1 ROW ONLY) OFFSET 1 ROW", "SELECT (SELECT 1 LIMIT 1) OFFSET 1"),
        ("SELECT fetch, first FROM v", "SELECT fetch, first FROM v"),
    ],
)
def test_for_whoever_reads_it(text: str, said: str) -> None:
    assert _said(text) == said


def test_users() -> None:
    text = "SELECT current_user, a, session_user || 'x' FROM v WHERE v.current_user = current_user"
    words = statements(text)[0]
    assert spark_text(for_spark(words)) == (
        "SELECT 'dbsp' AS current_user, a, 'dbsp' || 'x' FROM v WHERE v.current_user = 'dbsp'"
    )
    assert for_spark(statements("SELECT a FROM v")[0]) == statements("SELECT a FROM v")[0]


def test_columns_without_names() -> None:
    words = statements("SELECT a, f(b, c), d AS e FROM t, u")[0]
    assert columns_of(words) == {1: 2, 3: 9, 10: 13}
    assert columns_of(statements("VALUES (1, 2)")[0]) == {}


PROGRAM = """
CREATE TABLE seen (id INT PRIMARY KEY, at TIMESTAMP, local TIMESTAMP_NTZ, day DATE);
CREATE VIEW shown AS SELECT id, at, local, day FROM seen;
"""


@pytest.mark.spark
def test_seconds_since_1970() -> None:
    with connected(program=PROGRAM) as served, served.connect(options="-c timezone=Europe/Berlin") as one:
        moment = dt.datetime(2024, 7, 1, 12, 0, 0, 250_000)
        row = {"id": 1, "at": moment.replace(tzinfo=dt.UTC), "local": moment, "day": moment.date()}
        pipeline = served.serving.pipeline
        with pipeline.turn:
            pipeline.insert("seen", [row])
            pipeline.step()
        query = "SELECT extract(epoch from {0}), date_part('epoch', {0}) * 2 FROM dbsp.public.shown"
        for column, seconds in (
            ("at", "1719835200.250000"),
            ("local", "1719835200.250000"),
            ("day", "1719792000.000000"),
        ):
            found = one.execute(query.format(column).encode())
            assert found.fetchall() == [(Decimal(seconds), 2 * Decimal(seconds))]
            assert found.description is not None and found.description[0].name == "extract"
        grouped = "SELECT floor(extract(epoch FROM at) / 60) * 60 AS time, count(*) FROM shown GROUP BY 1"
        assert one.execute(grouped).fetchall() == [(1719835200, 1)]
        users = one.execute("SELECT current_user, session_user FROM shown FETCH FIRST 1 ROW ONLY")
        assert users.fetchall() == [("dbsp", "dbsp")]
        assert one.execute("SELECT user FROM shown").fetchall() == [("dbsp",)]
