"""What drivers write and bind is what they mean: bytes, numbers, moments, limits."""

from __future__ import annotations

import asyncio
import datetime as dt
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import asyncpg
import psycopg
import pytest
import sqlalchemy as sa
from psycopg.types.json import Jsonb

from tests.dbsp.serving.postgres.connected import Served, connected
from tests.dbsp.serving.postgres.test_transaction import writing

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = """
CREATE TABLE given (id BIGINT PRIMARY KEY, raw BINARY, exact DECIMAL(38, 18), large BIGINT, rate DOUBLE,
  words STRING, clock TIME, moment TIMESTAMP, months INTERVAL YEAR TO MONTH, span INTERVAL DAY TO SECOND);
CREATE VIEW held AS SELECT * FROM given;
"""
SMALL = Decimal("-0.000000000000000001")
MOMENT = dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def port() -> Iterator[Served]:
    with connected(program=PROGRAM) as served:
        with writing(served, autocommit=True) as one:
            one.execute(
                r"INSERT INTO given VALUES (1, '\x00ff41'::bytea, '-0.000000000000000001'::numeric, 12, 0.5, "
                "'a11b', '10:00'::time, timestamp with time zone '2024-02-29 01:02:03+00', "
                "'-23 mons'::interval, '-1 days -02:03:04.000005'::interval), "
                "(2, NULL, 1.5::numeric, 13, 1.5, NULL, NULL, NULL, NULL, NULL)"
            )
        yield served


def _bound_by_client(port: Served, query: str, values: tuple[object, ...]) -> list[Any]:
    """As psycopg2 and JDBC in its simple mode do: the values are in the text."""
    with psycopg.connect(
        host="127.0.0.1", port=port.port, user="me", dbname="dbsp", cursor_factory=psycopg.ClientCursor
    ) as one:
        return one.execute(query, values).fetchall()


def test_bytes(port: Served) -> None:
    assert port.asked("SELECT raw FROM held WHERE id = 1") == [(b"\0\xffA",)]
    for ask in (_bound_by_client, lambda port, query, values: port.asked(query, values)):
        assert ask(port, "SELECT id FROM held WHERE raw = %s", (b"\0\xffA",)) == [(1,)]
    assert _bound_by_client(port, "SELECT %s", (b"\0\xff",)) == [(b"\0\xff",)]
    assert port.asked("SELECT CAST(%s AS bytea)", (r"\x00ff",)) == [(b"\0\xff",)]
    assert port.asked(r"SELECT id FROM held WHERE raw = '\x00ff41'") == [(1,)]
    with writing(port, autocommit=True) as one:
        one.execute(r"UPDATE given SET raw = '\x4142' WHERE id = 2")
        assert port.asked("SELECT raw FROM held WHERE id = 2") == [(b"AB",)]
    with pytest.raises(psycopg.errors.DataException, match=r"is no bytea: after .*two hex digits a byte"):
        port.asked(r"SELECT '\xzz'::bytea")


def test_numeric_loses_no_digit(port: Served) -> None:
    assert port.asked("SELECT exact, exact::numeric, CAST(exact AS numeric) FROM held WHERE id = 1") == [
        (SMALL,) * 3
    ]
    assert port.asked("SELECT 1.5::numeric, '1E-3'::numeric, '12345678901234567890.5'::numeric") == [
        (Decimal("1.5"), Decimal("0.001"), Decimal("12345678901234567890.5"))
    ]
    assert port.asked("SELECT %s::numeric, CAST(%s AS numeric)", (Decimal("1.5"), "0.25")) == [
        (Decimal("1.5"), Decimal("0.25"))
    ]
    found = port.asked(
        "SELECT large::numeric, rate::numeric, count(*)::numeric FROM held GROUP BY 1, 2 ORDER BY 1"
    )
    assert found == [(12, Decimal("0.5"), 1), (13, Decimal("1.5"), 1)]
    assert str(found[0][0]) == "12"
    assert port.asked("SELECT round(avg(rate)::numeric, 2) FROM held") == [(1,)]


def test_limits(port: Served) -> None:
    query = "SELECT id FROM held ORDER BY id LIMIT %s OFFSET %s"
    for connecting in ({}, {"prepare_threshold": 0}):
        with port.connect(**connecting) as one:
            for limit in (1, 2**20, 2**40, Decimal(1), "1"):
                assert one.execute(query, (limit, 1)).fetchall() == [(2,)]
            assert one.execute(query, (None, None)).fetchall() == [(1,), (2,)]
    with pytest.raises(psycopg.errors.InvalidRowCountInLimitClause):
        port.asked("SELECT id FROM held LIMIT %s", (-1,))

    async def by_asyncpg() -> list[int]:
        one = await asyncpg.connect(host="127.0.0.1", port=port.port, user="me", database="dbsp")
        try:
            rows = await one.fetch("SELECT id FROM held ORDER BY id LIMIT $1 OFFSET $2::int", 5, 1)
            return [row["id"] for row in rows]
        finally:
            await one.close()

    assert asyncio.run(by_asyncpg()) == [2]


def test_sqlalchemy(port: Served) -> None:
    engine = sa.create_engine(f"postgresql+psycopg://me@127.0.0.1:{port.port}/dbsp", poolclass=sa.NullPool)
    v = sa.table(
        "held",
        *(sa.column("id", sa.BigInteger), sa.column("moment", sa.DateTime(timezone=True))),
        *(sa.column("exact", sa.Numeric), sa.column("words", sa.String), sa.column("raw", sa.LargeBinary)),
    )
    with engine.connect() as one:
        asked = sa.select(v.c.id).where(v.c.moment == MOMENT).limit(3)
        assert one.execute(asked).all() == [(1,)]
        casts = (
            *(sa.cast(v.c.exact, sa.Numeric), sa.cast(v.c.exact, sa.Double), sa.cast(v.c.exact, sa.Float)),
            *(sa.cast(v.c.words, sa.String(2)), sa.cast(v.c.words, sa.Text)),
        )
        assert one.execute(sa.select(*casts).where(v.c.id == 1)).all() == [
            (SMALL, -1e-18, -1e-18, "a1", "a11b")
        ]
        assert one.execute(sa.select(v.c.id).where(v.c.raw == b"\0\xffA")).all() == [(1,)]


def test_parameters_of_other_types(port: Served) -> None:
    key = uuid.UUID("12345678-1234-5678-1234-567812345678")
    for mark in ("%s", "%b", "%t"):
        assert port.asked(f"SELECT {mark} || ''", (key,)) == [(str(key),)]
        assert port.asked(f"SELECT id FROM held WHERE span = {mark}", (dt.timedelta(-1, -7384, -5),)) == [
            (1,)
        ]
        assert port.asked(
            f"SELECT id FROM held WHERE moment - {mark} < '2024-02-28'", (dt.timedelta(2),)
        ) == [(1,)]
        assert port.asked(f"SELECT {mark} || ''", (Jsonb({"a": 1}),)) == [('{"a": 1}',)]
        assert port.asked(f"SELECT id FROM held WHERE clock = {mark}", (dt.time(10, tzinfo=dt.UTC),)) == [
            (1,)
        ]
    # as JDBC writes java.sql.Time
    assert port.asked("SELECT id FROM held WHERE clock = %s", ("10:00:00+01",)) == [(1,)]
    assert _bound_by_client(port, "SELECT %s, %s::uuid || ''", (dt.timedelta(1, 2), key)) == [
        ("1 00:00:02", str(key))
    ]


def test_intervals_come_as_texts_that_cast_reads(port: Served) -> None:
    ((months, span),) = port.asked("SELECT months, span FROM held WHERE id = 1")
    assert (months, span) == ("-1-11", "-1 02:03:04.000005")
    back = "CAST(%s AS INTERVAL YEAR TO MONTH) = months AND CAST(%s AS INTERVAL DAY TO SECOND) = span"
    assert port.asked(f"SELECT id FROM held WHERE {back}", (months, span)) == [(1,)]
    assert port.asked("SELECT id FROM held WHERE %s::interval = span", (span,)) == [(1,)]


def test_intervals_are_copied_and_read_back(port: Served) -> None:
    with writing(port, autocommit=True) as one, one.cursor() as cursor:
        for form in ("", " WITH (FORMAT csv)"):
            query = "SELECT id + 10 AS id, months, span FROM held WHERE id = 1"
            with cursor.copy(f"COPY ({query}) TO STDOUT{form}") as copy:
                data = b"".join(bytes(piece) for piece in copy)
            with cursor.copy(f"COPY given (id, months, span) FROM STDIN{form}") as copy:
                copy.write(data)
            same = "a.months = b.months AND a.span = b.span"
            assert port.asked(
                f"SELECT a.id FROM held a JOIN held b ON {same} WHERE b.id = 1 AND a.id > 10"
            ) == [(11,)]
            one.execute("DELETE FROM given WHERE id > 10")


def test_texts(port: Served) -> None:
    assert port.asked(r"SELECT E'\x41\u00fc\101'") == [("AüA",)]
    assert port.asked("SELECT 'abc'::char(2), 'a'::char(3), 'abc'::varchar(2)") == [("ab", "a  ", "ab")]
    with pytest.raises(psycopg.errors.FeatureNotSupported, match=r"a backslash in .* is itself"):
        port.asked("SET standard_conforming_strings = off")


def test_the_caret_is_at_what_is_wrong(port: Served) -> None:
    said = "SELECT '1'::numeric, words::varchar(2), none FROM held"
    with pytest.raises(psycopg.errors.UndefinedColumn) as wrong:
        port.asked(said)
    assert wrong.value.diag.statement_position == str(said.index("none") + 1)
    with pytest.raises(psycopg.errors.SyntaxError, match="nothing in parentheses"):
        port.asked("SELECT words::int(5) FROM held")
