"""Rows that clients copy in: psql, psycopg and asyncpg load as they load a real server, each COPY a step."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import asyncpg
import psycopg
import pytest

from dbsp.serving.postgres.copying import rows as module
from tests.dbsp.serving.postgres.connected import Served, connected
from tests.dbsp.serving.postgres.test_transaction import writing
from tests.dbsp.serving.served import TOKEN
from tests.servers.postgres import binaries

pytestmark = pytest.mark.slow  # clients of others
PROGRAM = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, shop STRING NOT NULL, price DECIMAL(10, 2), n INT DEFAULT 7);
CREATE TABLE visits (shop STRING, day DATE);
CREATE VIEW latest AS SELECT * FROM orders;
CREATE VIEW visitors AS SELECT * FROM visits;
"""


@pytest.fixture
def port() -> Iterator[Served]:
    with connected(program=PROGRAM) as served:
        yield served


def _psql(port: Served, command: str) -> subprocess.CompletedProcess[str]:
    address = ["-h", "127.0.0.1", "-p", str(port.port), "-U", "writer", "-d", "dbsp"]
    return subprocess.run(
        [binaries() / "psql", "-X", *address, "-c", command],
        env={**os.environ, "PGPASSWORD": TOKEN},
        capture_output=True,
        text=True,
        check=False,
    )


def test_psql_loads_and_unloads_a_file(port: Served, tmp_path: Path) -> None:
    given, taken = tmp_path / "orders.csv", tmp_path / "taken.csv"
    given.write_text('id;shop;price\n1;"Ada\n""A""";2.50\n2;Bo;-\n')
    options = "with (format csv, header match, delimiter ';', null '-')"
    done = _psql(port, f"\\copy orders (id, shop, price) from '{given}' {options}")
    assert (done.stdout, done.stderr) == ("COPY 2\n", "")
    assert port.asked("SELECT * FROM latest ORDER BY id") == [
        (1, 'Ada\n"A"', Decimal("2.50"), 7),
        (2, "Bo", None, 7),
    ]
    done = _psql(port, f"\\copy (select id, shop, price from latest order by id) to '{taken}' {options}")
    assert (done.stdout, done.stderr) == ("COPY 2\n", "")
    assert taken.read_text() == '"id";"shop";"price"\n"1";"Ada\n""A""";"2.50"\n"2";"Bo";-\n'
    done = _psql(port, f"\\copy orders (id, shop, price) from '{given}' {options}")
    assert "already" in done.stderr
    given.write_text("id,shop\n3,\n")
    done = _psql(port, f"\\copy orders (id, shop) from '{given}' csv header")
    assert "row 2: no value; a row needs one in column 'shop'" in done.stderr
    done = _psql(port, f"\\copy orders (id, price) from '{given}' (format csv, header match)")
    assert "the header has id, shop; the columns are id, price" in done.stderr


def test_a_copy_is_a_step_or_part_of_one(port: Served) -> None:
    pipeline = port.serving.pipeline
    with writing(port) as one, one.cursor() as cursor:
        for first in (1, 11):
            with cursor.copy("COPY orders (id, shop) FROM STDIN") as copy:
                for i in range(10):
                    copy.write_row((first + i, f"s\t{i}"))
            assert cursor.statusmessage == "COPY 10"
        assert cursor.execute("UPDATE orders SET price = 1 WHERE n = 7").rowcount == 20
        assert pipeline.last_step == 0
        one.commit()
        assert pipeline.last_step == 1
        with cursor.copy("COPY visits FROM STDIN") as copy:
            copy.write(b"")
        assert cursor.statusmessage == "COPY 0"
        one.commit()
        assert pipeline.last_step == 1
    assert port.asked("SELECT count(*), sum(price), max(shop) FROM latest") == [(20, 20, "s\t9")]


def test_what_fails_leaves_the_connection_as_it_was(port: Served) -> None:
    with writing(port, autocommit=True) as one, one.cursor() as cursor:
        with pytest.raises(ZeroDivisionError), cursor.copy("COPY visits FROM STDIN") as copy:
            copy.write_row(("a", 1 / 0))
        wrong = psycopg.errors.BadCopyFileFormat
        with pytest.MonkeyPatch.context() as patch, pytest.raises(wrong, match="row 1: 'x' doesn't fit"):
            patch.setattr(module, "_AT_ONCE", 10)  # it fails while more comes
            with cursor.copy("COPY visits FROM STDIN") as copy:
                for _ in range(50_000):
                    copy.write("a\tx\n")
        with pytest.MonkeyPatch.context() as patch, pytest.raises(wrong, match="in several"):
            patch.setattr(module, "LARGEST", 100)
            with cursor.copy("COPY visits FROM STDIN") as copy:
                copy.write("a\t2024-01-01\n" * 50)
        with pytest.raises(psycopg.errors.UndefinedColumn, match="did you mean 'shop'"):
            cursor.execute("COPY visits (shopp) FROM STDIN")
        assert cursor.execute("SELECT count(*) FROM visitors").fetchall() == [(0,)]
    with port.connect() as one, pytest.raises(psycopg.errors.InsufficientPrivilege, match="user 'writer'"):
        one.execute("COPY visits FROM STDIN")


def test_one_that_is_cancelled_ends(port: Served) -> None:
    with writing(port, autocommit=True) as one, one.cursor() as cursor:
        timer = threading.Timer(0.2, one.cancel_safe)
        with (
            pytest.raises(psycopg.errors.QueryCanceled, match="cancelled, as was asked"),
            cursor.copy("COPY visits FROM STDIN") as copy,
        ):
            copy.write("a\t2024-01-01\n")
            timer.start()
            timer.join()
            time.sleep(0.1)
        assert cursor.execute("SELECT count(*) FROM visitors").fetchall() == [(0,)]


def test_by_asyncpg(port: Served) -> None:
    async def copied() -> list[object]:
        one = await asyncpg.connect(
            host="127.0.0.1", port=port.port, user="writer", password=TOKEN, database="dbsp", ssl=False
        )
        try:
            rows = io.BytesIO(b"shop,day\nAda,2024-01-02\n,\n")
            done = await one.copy_to_table("visits", source=rows, format="csv", header=True)
            orders = [(i, f"s{i % 3}", Decimal(i) / 100 if i % 5 else None) for i in range(20_000)]
            columns = ["id", "shop", "price"]
            taken = await one.copy_records_to_table("orders", records=orders, columns=columns)
            found = await one.fetch("SELECT id, shop, price FROM latest ORDER BY id")
            assert [tuple(row) for row in found] == orders
            with pytest.raises(asyncpg.BadCopyFileFormatError, match=r"row 2: .* doesn't fit column 'price'"):
                await one.copy_records_to_table(
                    "orders", records=[(-1, "a", 1), (-2, "a", 10**9)], columns=columns
                )
            return [done, await one.fetchval("SELECT count(*) FROM visitors"), taken]
        finally:
            await one.close()

    assert asyncio.run(copied()) == ["COPY 2", 2, "COPY 20000"]
