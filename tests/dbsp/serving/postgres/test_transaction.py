"""What clients write: a transaction is a step, and is there as a whole or not at all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from dbsp.serving.postgres import transaction
from tests.dbsp.serving.postgres.connected import Served, connected
from tests.dbsp.serving.served import TOKEN

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    with connected() as port:
        yield port


@pytest.fixture
def port(shared: Served) -> Iterator[Served]:
    with writing(shared, autocommit=True) as one:
        one.execute("TRUNCATE orders")
    yield shared


def writing(port: Served, autocommit: bool = False) -> psycopg.Connection[Any]:
    return psycopg.connect(
        host="127.0.0.1", port=port.port, user="writer", password=TOKEN, dbname="dbsp", autocommit=autocommit
    )


def totals(port: Served) -> dict[str, tuple[int, Decimal | None]]:
    return {shop: (n, total) for shop, n, total in port.asked("SELECT shop, n, total FROM turnover")}


def test_each_statement_is_a_step_of_its_own(port: Served) -> None:
    pipeline = port.serving.pipeline
    with writing(port, autocommit=True) as one:
        first = pipeline.last_step
        insert = "INSERT INTO orders (id, shop, price) VALUES (%s, %s, %s), (%s, 'Bo', 1.25)"
        assert one.execute(insert, (1, "Ada's", Decimal("2.50"), 2)).statusmessage == "INSERT 0 2"
        assert (pipeline.last_step, totals(port)["Ada's"]) == (first + 1, (1, Decimal("2.50")))
        assert one.execute("UPDATE orders SET price = %s WHERE id = %s", (3, 1)).rowcount == 1
        assert one.execute("UPDATE orders SET price = price * 2 WHERE price < 3").rowcount == 1
        assert totals(port) == {"Ada's": (1, 3), "Bo": (1, Decimal("2.50"))}
        assert one.execute("DELETE FROM orders WHERE shop = 'Bo'").rowcount == 1
        assert one.execute("DELETE FROM orders WHERE id = 99").rowcount == 0
        assert pipeline.last_step == first + 4  # what changes nothing is no step
        assert totals(port) == {"Ada's": (1, 3)}


def test_a_merge_is_counted_as_postgres_does(port: Served) -> None:
    merge = (
        "MERGE INTO orders t USING (SELECT 1 AS id, 4.5 AS price UNION ALL SELECT 3, 7) AS s ON t.id = s.id "
        "WHEN MATCHED AND t.shop = %s THEN UPDATE SET price = s.price "
        "WHEN NOT MATCHED THEN INSERT (id, shop, price) VALUES (s.id, 'Cy', s.price)"
    )
    with writing(port, autocommit=True) as one:
        one.execute("INSERT INTO orders (id, shop, price) VALUES (1, 'Al', 2), (2, 'Bo', 1)")
        assert one.execute(merge, ("Al",)).statusmessage == "MERGE 2"
        assert totals(port) == {"Al": (1, Decimal("4.50")), "Bo": (1, 1), "Cy": (1, 7)}


def test_statements_begin_with_with_and_may_name_another_relation(port: Served) -> None:
    given = "WITH g (id, price) AS (VALUES (1, 4), (3, 7)) "
    with writing(port, autocommit=True) as one:
        one.execute("UPSERT INTO orders (id, shop, price) VALUES (1, 'Al', 2), (2, 'Bo', DEFAULT)")
        said = one.execute(given + "UPDATE orders SET price = %s WHERE id IN (SELECT id FROM g)", (9,))
        assert said.statusmessage == "UPDATE 1"
        said = one.execute(given + "INSERT INTO orders (id, shop) SELECT id + 3, 'Cy' FROM g RETURNING id")
        assert (said.statusmessage, sorted(said.fetchall())) == ("INSERT 0 2", [(4,), (6,)])
        assert one.execute(given + "SELECT count(*) FROM g").fetchall() == [(2,)]
        update = "UPDATE orders o SET price = g.price FROM (VALUES (1, 5)) AS g(id, price) WHERE g.id = o.id"
        assert one.execute(update).statusmessage == "UPDATE 1"
        assert totals(port) == {"Al": (1, 5), "Bo": (1, None), "Cy": (2, None)}
        delete = "DELETE FROM orders USING (VALUES (4), (6)) AS g(id) WHERE g.id = orders.id RETURNING shop"
        said = one.execute(delete)
        assert (said.statusmessage, said.fetchall()) == ("DELETE 2", [("Cy",), ("Cy",)])
    with port.connect() as one, pytest.raises(psycopg.errors.InsufficientPrivilege):
        one.execute(given + "DELETE FROM orders WHERE id IN (SELECT id FROM g)")


def test_a_transaction_is_one_step_that_sees_its_own_changes(port: Served) -> None:
    pipeline = port.serving.pipeline
    with writing(port) as one:
        first = pipeline.last_step
        one.execute("INSERT INTO orders (id, shop) VALUES (1, 'a'), (2, 'a'), (3, 'b')")
        assert one.execute("UPDATE orders SET price = 5 WHERE shop = 'a'").rowcount == 2
        assert one.execute("DELETE FROM orders WHERE id = 2").rowcount == 1
        assert one.execute("UPDATE orders SET id = 4 WHERE id = 3").rowcount == 1
        assert pipeline.last_step == first and totals(port) == {}
        one.commit()
        assert pipeline.last_step == first + 1
        assert port.asked("SELECT id, shop, price FROM orders ORDER BY id") == [(1, "a", 5), (4, "b", None)]
        one.execute("DELETE FROM orders")
        one.rollback()
        assert len(port.asked("SELECT * FROM orders")) == 2


def test_savepoints(port: Served) -> None:
    with writing(port) as one:
        one.execute("INSERT INTO orders (id, shop) VALUES (1, 'a')")
        with pytest.raises(psycopg.errors.UniqueViolation), one.transaction():
            one.execute("INSERT INTO orders (id, shop) VALUES (2, 'a')")
            one.execute("INSERT INTO orders (id, shop) VALUES (1, 'b')")
        with one.transaction():
            one.execute("INSERT INTO orders (id, shop) VALUES (3, 'a')")
    assert port.asked("SELECT id FROM orders ORDER BY id") == [(1,), (3,)]


def test_keys_that_are_there(port: Served) -> None:
    with writing(port, autocommit=True) as one:
        one.execute("INSERT INTO orders (id, shop, price) VALUES (1, 'a', 1), (2, 'b', 2)")
        with pytest.raises(psycopg.errors.UniqueViolation, match="with the key id=2 already"):
            one.execute("INSERT INTO orders (id, shop) VALUES (3, 'c'), (2, 'c')")
        with pytest.raises(psycopg.errors.UniqueViolation, match="two of the rows have the same key"):
            one.execute("INSERT INTO orders (id, shop) VALUES (3, 'c'), (3, 'c')")
        nothing = "INSERT INTO orders (id, shop) VALUES (2, 'x'), (3, 'x') ON CONFLICT DO NOTHING"
        assert one.execute(nothing).rowcount == 1
        update = (
            "INSERT INTO orders (id, shop, price) VALUES (1, 'y', 9), (4, 'y', 9)"
            " ON CONFLICT (id) DO UPDATE SET shop = EXCLUDED.shop"
        )
        assert one.execute(update).rowcount == 2
    expected = [(1, "y", 1), (2, "b", 2), (3, "x", None), (4, "y", 9)]
    assert port.asked("SELECT id, shop, price FROM orders ORDER BY id") == expected


def test_what_others_changed_meanwhile_is_seen_or_ends_it(port: Served) -> None:
    with writing(port) as one, writing(port) as other:
        one.execute("INSERT INTO orders (id, shop, price) VALUES (1, 'a', 1), (2, 'a', 2)")
        one.commit()
        one.execute("UPDATE orders SET price = price + 10 WHERE shop = 'a'")
        other.execute("UPDATE orders SET price = 100 WHERE id = 1")
        other.commit()
        one.commit()  # the same rows, as they are now
        assert port.asked("SELECT id, price FROM orders ORDER BY id") == [(1, 110), (2, 12)]
        one.execute("DELETE FROM orders WHERE shop = 'a'")
        other.execute("UPDATE orders SET shop = 'b' WHERE id = 2")
        other.commit()
        with pytest.raises(psycopg.errors.SerializationFailure):
            one.commit()
        one.rollback()
        assert len(port.asked("SELECT * FROM orders")) == 2


def test_what_was_given_up_while_it_ran_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread can't be stopped: a statement that was cancelled may end when nobody waits for it."""
    nothing: Any = None
    one = transaction.Transaction(nothing, nothing)
    edits: Any = SimpleNamespace()
    one._edits = edits

    def did(*_: object) -> SimpleNamespace:
        one.clear()
        return SimpleNamespace(count=1, returned=None)

    monkeypatch.setattr(transaction, "_did", did)
    assert one.do(nothing, "UTC") == (1, None)
    assert not one.done and not one.has_begun


def test_counters_of_many_writers_lose_nothing(port: Served) -> None:
    with writing(port, autocommit=True) as one:
        one.execute("INSERT INTO orders (id, shop, price) VALUES (1, 'a', 0)")

    def add() -> None:
        with writing(port, autocommit=True) as one:
            for _ in range(10):
                one.execute("UPDATE orders SET price = price + 1 WHERE id = 1")

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert port.asked("SELECT price FROM orders") == [(40,)]


def test_many_rows_in_one_pipeline_are_one_step(port: Served) -> None:
    first = port.serving.pipeline.last_step
    rows = [(i, f"s{i % 7}", Decimal(i), datetime(2024, 1, 1, tzinfo=UTC)) for i in range(500)]
    with writing(port, autocommit=True) as one, one.cursor() as cursor:
        cursor.executemany("INSERT INTO orders VALUES (%s, %s, %s, %s)", rows)
    assert port.asked("SELECT count(*), sum(price) FROM orders") == [(500, 124750)]
    assert port.serving.pipeline.last_step == first + 1


def test_an_orm_writes_objects(port: Served) -> None:
    class Base(DeclarativeBase):
        pass

    class Order(Base):
        __tablename__ = "orders"
        id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
        shop: Mapped[str]
        price: Mapped[Decimal | None]

    url = f"postgresql+psycopg://writer:{TOKEN.replace(' ', '%20')}@127.0.0.1:{port.port}/dbsp"
    engine = sa.create_engine(url)
    with Session(engine) as session:
        session.add_all([Order(id=1, shop="a", price=Decimal(1)), Order(id=2, shop="b", price=None)])
        session.commit()
        found = session.get(Order, 1)
        assert found is not None
        found.price = Decimal("7.50")
        session.delete(session.get(Order, 2))
        session.commit()
    engine.dispose()
    assert port.asked("SELECT id, price FROM orders") == [(1, Decimal("7.50"))]


def test_who_has_no_token_writes_nothing(port: Served) -> None:
    with pytest.raises(psycopg.OperationalError, match="has the token that `dbsp serve` printed"):
        psycopg.connect(host="127.0.0.1", port=port.port, user="writer", password="wrong", dbname="dbsp")
    with port.connect() as one, pytest.raises(psycopg.errors.InsufficientPrivilege, match="user 'writer'"):
        one.execute("DELETE FROM orders")


@pytest.mark.parametrize(
    ("statement", "kind", "said"),
    [
        ("INSERT INTO order VALUES (1)", psycopg.errors.UndefinedTable, "did you mean 'orders'"),
        ("INSERT INTO turnover VALUES ('a', 1, 1)", psycopg.errors.SyntaxError, "'turnover' is a view"),
        ("UPDATE visits SET shop = 'a'", psycopg.errors.DataException, "append-only"),
        (
            "INSERT INTO orders (id) VALUES (1)",
            psycopg.errors.DataException,
            "a row needs one in column 'shop'",
        ),
        ("UPDATE orders SET price = 'x' WHERE id = 1", psycopg.errors.SyntaxError, "'x' doesn't fit"),
        ("CREATE TABLE x (a INT)", psycopg.errors.FeatureNotSupported, "the program defines what there is"),
    ],
)
def test_what_can_t_be_written_is_said(
    port: Served, statement: str, kind: type[Exception], said: str
) -> None:
    with writing(port) as one:
        one.execute("INSERT INTO orders (id, shop) VALUES (1, 'a')")
        with pytest.raises(kind, match=said):
            one.execute(statement)
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            one.execute("INSERT INTO orders (id, shop) VALUES (2, 'a')")
        one.rollback()
    assert port.asked("SELECT * FROM orders") == []


def test_a_transaction_reads_one_step_and_its_own_changes(port: Served) -> None:
    with writing(port) as one, writing(port, autocommit=True) as other:
        other.execute("INSERT INTO orders (id, shop, price) VALUES (1, 'a', 1), (2, 'b', 2)")
        prices = "SELECT id, price FROM orders ORDER BY id"
        assert one.execute(prices).fetchall() == [(1, 1), (2, 2)]
        other.execute("UPDATE orders SET price = 9 WHERE id = 2")
        other.execute("INSERT INTO orders (id, shop, price) VALUES (3, 'c', 3)")
        assert one.execute(prices).fetchall() == [(1, 1), (2, 2)]
        assert one.execute("SELECT price FROM latest WHERE id = 2").fetchall() == [(2,)]
        one.execute("SAVEPOINT s")
        assert one.execute("UPDATE orders SET price = 5 WHERE id = 1").rowcount == 1
        assert one.execute(prices).fetchall() == [(1, 5), (2, 2)]
        assert one.execute("SELECT sum(total) FROM turnover").fetchall() == [(3,)]  # a view is the step's
        one.execute("ROLLBACK TO SAVEPOINT s")
        assert one.execute(prices).fetchall() == [(1, 1), (2, 2)]
        one.commit()
        assert one.execute(prices).fetchall() == [(1, 1), (2, 9), (3, 3)]
