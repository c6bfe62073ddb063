"""RETURNING gives what a real server gives, whatever asks for it, and what was told is what is committed."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import asyncpg
import psycopg
import pytest

from tests.dbsp.serving.postgres.connected import Served, connected
from tests.dbsp.serving.postgres.test_transaction import writing
from tests.dbsp.serving.served import TOKEN
from tests.servers.postgres import postgres

pytestmark = [pytest.mark.spark, pytest.mark.slow]
PROGRAM = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, shop STRING NOT NULL, price DECIMAL(10, 2));
CREATE TABLE visits (shop STRING, n INT);
CREATE TABLE noted (id BIGINT PRIMARY KEY, text STRING, at TIMESTAMP DEFAULT now());
CREATE VIEW latest AS SELECT * FROM orders;
CREATE VIEW visitors AS SELECT * FROM visits;
CREATE VIEW notes AS SELECT * FROM noted;
"""
LATE = """
CREATE TABLE heard (id BIGINT, at TIMESTAMP DEFAULT now() LATENESS INTERVAL 0 SECONDS);
CREATE VIEW hearings AS SELECT * FROM heard;
"""
REAL = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, shop TEXT NOT NULL, price DECIMAL(10, 2));
CREATE TABLE visits (shop TEXT, n INT);
"""
STATEMENTS = [
    "INSERT INTO orders VALUES (2, 'b', 1.5), (1, 'a', 2), (3, 'b', NULL) RETURNING *",
    "INSERT INTO orders (shop, id) VALUES ('c', 4) RETURNING \"id\", orders.shop, id",
    "INSERT INTO orders (id, shop) SELECT id + 10, shop FROM orders WHERE id < 3 RETURNING id + 1 AS next",
    "INSERT INTO orders VALUES (1, 'z', 9), (5, 'z', 9) ON CONFLICT DO NOTHING RETURNING id, shop",
    "INSERT INTO orders VALUES (1, 'y', 8), (6, 'y', 8) ON CONFLICT (id) DO UPDATE SET shop = EXCLUDED.shop "
    "RETURNING *",
    "UPDATE orders o SET price = price + 1 WHERE shop = 'b' RETURNING o.id, upper(o.shop), price * 2 AS p",
    "UPDATE orders SET id = 7 WHERE id = 3 RETURNING id",
    "UPDATE orders SET price = 1 WHERE id = 99 RETURNING *",
    "INSERT INTO visits VALUES ('a', 1), ('a', 1), ('b', NULL) RETURNING shop, n",
    "DELETE FROM visits WHERE shop = 'a' RETURNING *",
    "DELETE FROM orders AS o WHERE o.price > 2 RETURNING o.id, o.price",
    "DELETE FROM orders RETURNING id",
]


@pytest.fixture(scope="module")
def port() -> Iterator[Served]:
    with connected(program=PROGRAM) as served:
        yield served


def told(one: psycopg.Connection[Any], statement: str, binary: bool) -> tuple[str | None, list[Any]]:
    with one.cursor(binary=binary) as cursor:
        cursor.execute(statement)
        return cursor.statusmessage, sorted(cursor.fetchall(), key=repr)


def test_as_a_real_server(port: Served) -> None:
    with (
        postgres() as server,
        psycopg.connect(server.url, autocommit=True) as real,
        writing(port, autocommit=True) as one,
    ):
        real.execute(REAL)
        for number, statement in enumerate(STATEMENTS):
            binary = number % 2 == 0
            assert told(one, statement, binary) == told(real, statement, binary), statement
        for table in ("orders", "visits"):
            assert (
                port.asked(f"SELECT count(*) FROM {table}")
                == real.execute(f"SELECT count(*) FROM {table}").fetchall()
            )


def test_columns_come_in_the_order_of_the_values(port: Served) -> None:
    """By which an ORM knows which row has which key."""
    rows = [(i * 7 % 101, "s") for i in range(100)]
    with writing(port) as one, one.cursor() as cursor:
        values = ", ".join(f"({i}, '{shop}')" for i, shop in rows)
        cursor.execute(f"INSERT INTO orders (id, shop) VALUES {values} RETURNING id")
        assert cursor.fetchall() == [(i,) for i, _ in rows]
        one.rollback()
        cursor.executemany(
            "INSERT INTO orders (id, shop) VALUES (%s, %s) RETURNING id", rows[:5], returning=True
        )
        found = [cursor.fetchone()]
        while cursor.nextset():
            found.append(cursor.fetchone())
        assert found == [(i,) for i, _ in rows[:5]]
        one.rollback()


def test_a_driver_that_describes_before_it_binds(port: Served) -> None:
    async def asked() -> list[Any]:
        one = await asyncpg.connect(
            host="127.0.0.1", port=port.port, user="writer", password=TOKEN, database="dbsp", ssl=False
        )
        try:
            insert = "INSERT INTO orders VALUES ($1, $2, $3) RETURNING id, price, length(shop) AS n"
            first = await one.fetchrow(insert, 70, "abc", Decimal("1.25"))
            second = await one.fetchval("DELETE FROM orders WHERE id = $1 RETURNING shop", 70)
            return [tuple(first), second]
        finally:
            await one.close()

    assert asyncio.run(asked()) == [(70, Decimal("1.25"), 3), "abc"]


def test_what_was_told_is_what_is_committed(port: Served) -> None:
    with writing(port) as one, writing(port, autocommit=True) as other:
        other.execute("INSERT INTO orders VALUES (20, 'q', 1)")
        assert one.execute(
            "UPDATE orders SET price = price + 1 WHERE id = 20 RETURNING price"
        ).fetchall() == [(2,)]
        other.execute("UPDATE orders SET shop = 'r' WHERE id = 20")
        one.commit()  # the price is as it was told
        assert one.execute(
            "UPDATE orders SET price = price + 1 WHERE id = 20 RETURNING price"
        ).fetchall() == [(3,)]
        other.execute("UPDATE orders SET price = 50 WHERE id = 20")
        with pytest.raises(psycopg.errors.SerializationFailure):
            one.commit()
        one.rollback()
        assert other.execute("DELETE FROM orders WHERE id = 20 RETURNING price").fetchall() == [(50,)]


def test_a_default_of_the_clock_is_the_moment_of_the_transaction(port: Served) -> None:
    """As of a real server, whatever others do meanwhile."""
    before = dt.datetime.now(dt.UTC)
    with writing(port) as one, writing(port, autocommit=True) as other:
        insert = "INSERT INTO noted (id, text) VALUES (%s, 'a') RETURNING at, at = now(), text"
        (first, is_now, text), *_ = one.execute(insert, (1,)).fetchall()
        other.execute("INSERT INTO noted (id) VALUES (9)")
        ((second, _, _),) = one.execute(insert, (2,)).fetchall()
        assert before <= first == second and is_now and text == "a"
        assert one.execute("SELECT DISTINCT at, at = now() FROM noted WHERE id < 9").fetchall() == [
            (first, True)
        ]
        with one.cursor().copy("COPY noted (id) FROM STDIN") as copy:
            copy.write("3\n")
        one.commit()
        asked = "SELECT id, at FROM notes WHERE id < 9 ORDER BY id"
        assert port.asked(asked) == [(1, first), (2, first), (3, first)]
        assert port.asked("SELECT at > %s FROM notes WHERE id = 9", (first,)) == [(True,)]
        other.execute("DELETE FROM noted")


def test_one_that_could_be_late_is_the_step_s() -> None:
    """Else a row of a long transaction would be left out as late."""
    with connected(program=LATE) as served, writing(served) as one, writing(served, autocommit=True) as other:
        one.execute("INSERT INTO heard (id) VALUES (1)")
        other.execute("INSERT INTO heard (id) VALUES (2)")
        with pytest.raises(
            psycopg.errors.DataException, match="'at' of 'heard' gets its DEFAULT with the step"
        ):
            other.execute("INSERT INTO heard (id) VALUES (3) RETURNING *")
        one.commit()
        assert served.asked("SELECT id FROM hearings ORDER BY at") == [(2,), (1,)]


@pytest.mark.parametrize(
    ("statement", "kind", "said"),
    [
        ("DELETE FROM orders RETURNING nothing", psycopg.errors.UndefinedColumn, "unknown column 'nothing'"),
        (
            "DELETE FROM orders RETURNING (SELECT 1)",
            psycopg.errors.FeatureNotSupported,
            "over the written rows alone",
        ),
        (
            "DELETE FROM orders RETURNING (VALUES (1))",
            psycopg.errors.FeatureNotSupported,
            "over the written rows alone",
        ),
        (
            "DELETE FROM orders RETURNING (TABLE latest)",
            psycopg.errors.FeatureNotSupported,
            "over the written rows alone",
        ),
        (
            "MERGE INTO orders t USING latest s ON t.id = s.id WHEN MATCHED THEN DELETE RETURNING 1",
            psycopg.errors.FeatureNotSupported,
            "SELECT the rows after it",
        ),
        ("TRUNCATE orders RETURNING id", psycopg.errors.SyntaxError, "RETURNING isn't known here"),
    ],
)
def test_what_it_can_t_give_is_said_and_changes_nothing(
    port: Served, statement: str, kind: type[Exception], said: str
) -> None:
    with writing(port, autocommit=True) as one:
        step = port.serving.pipeline.last_step
        with pytest.raises(kind, match=said):
            one.execute(statement)
        assert port.serving.pipeline.last_step == step
