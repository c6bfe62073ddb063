"""A table in MariaDB: every type, what it can't hold, and a server that dies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
import pytest

from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.schemas import Field
from dbsp.targets.mariadb.target import _collation
from tests.dbsp.targets.databases.places import Place
from tests.dbsp.targets.databases.test_database import DROPPED, check, program
from tests.dbsp.targets.databases.typed import listed, typed_program, written
from tests.dbsp.targets.voting import feed, opened
from tests.servers.mariadb import Server, mariadb
from tests.servers.mysql import Server as MySQL
from tests.servers.mysql import mysql
from tests.servers.proxy import Proxy

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["mariadb", "mysql"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with mariadb() if request.param == "mariadb" else mysql() as started:
        yield started


def place_of(server: Server, port: int | None = None) -> Place:
    url = server.url_of(server.port if port is None else port)
    return Place("mariadb", {"url": url}, server.rows, server.execute, "`")


def test_every_type(server: Server, tmp_path: Path) -> None:
    wanted = written(place_of(server), tmp_path, is_numbered=isinstance(server, MySQL))
    found = server.rows(f"SELECT {listed('`')} FROM typed")
    assert sorted(map(as_given, found)) == wanted


def as_given(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A FLOAT is printed with six digits; a BOOLEAN is a number; times have no zone."""
    *before, f, d, b, n, text, data, day, hour, at, local = row
    f = None if f is None else pa.scalar(f, pa.float32()).as_py()
    f = pa.scalar(3.4e38, pa.float32()).as_py() if f is not None and f > 3e38 else f
    return (
        *before,
        f,
        d,
        None if b is None else bool(b),
        n,
        text,
        data,
        day,
        None if hour is None else (datetime.min + hour).time(),  # a span, to its driver
        at and at.replace(tzinfo=UTC),
        local,
    )


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        (Field("d", pa.float64()), float("inf"), "column 'd' has inf, and MariaDB no such number"),
        (Field("f", pa.float32()), float("nan"), "column 'f' has nan, and MariaDB no such number"),
        (Field("at", pa.timestamp("us")), "-0044-03-15 12:00:00", "a row doesn't fit: .*'at'"),
    ],
)
def test_a_value_that_it_can_t_hold_is_said(
    server: Server, tmp_path: Path, column: Field, value: object, why: str
) -> None:
    if isinstance(value, str):  # before what Python's own dates have
        value = pa.scalar(-63_500_000_000_000_000, pa.timestamp("us"))
    made = typed_program(place_of(server), (Field("id", pa.int64(), False), column), f"odd_{column.name}")
    with opened(made, tmp_path) as p:
        p.insert("given", pa.table({"id": [1], column.name: pa.array([value], column.type)}))
        with pytest.raises(DeliveryError, match=why):
            p.step()
    assert server.rows(f"SELECT count(*) FROM odd_{column.name}") == [(0,)]


@pytest.mark.parametrize("type_", [pa.string(), pa.binary()])
def test_a_key_that_is_too_long_is_said(server: Server, tmp_path: Path, type_: pa.DataType) -> None:
    made = typed_program(place_of(server), (Field("id", type_, False),), f"long_{type_}")
    why = r"a row doesn't fit: Data t.* for column 'id'"
    if pt.is_string(type_) and isinstance(server, MySQL):  # which is of 2019
        why = "no collation in which 'a' and 'a ' are two keys; 8.0.17 has, and MariaDB"
    with opened(made, tmp_path) as p:
        p.insert("given", pa.table({"id": pa.array(["x" * 3073], type_)}))
        with pytest.raises(DeliveryError, match=why):
            p.step()


def test_a_table_without_transactions_is_refused(server: Server, tmp_path: Path) -> None:
    server.execute("CREATE TABLE plain (id bigint PRIMARY KEY) ENGINE = MyISAM")
    made = typed_program(place_of(server), (Field("id", pa.int64(), False),), "plain")
    with opened(made, tmp_path) as p:
        p.insert("given", [(1,)])
        with pytest.raises(DeliveryError, match="table plain is of engine MyISAM, which has no transactions"):
            p.step()


@pytest.mark.parametrize("url", ["http://x", "mariadb://:secret@", "mariadb://me:secret@host:x/db"])
def test_a_broken_url_is_not_shown(tmp_path: Path, url: str) -> None:
    there = Place("mariadb", {"url": url}, lambda _: [], lambda _: None)
    with opened(typed_program(there), tmp_path) as p:
        p.insert("given", [{"id": "a"}])
        with pytest.raises(DeliveryError) as raised:
            p.step()
        assert "secret" not in str(raised.value)


def from_nothing(server: Server) -> None:
    for name in DROPPED:
        server.execute(f"DROP TABLE IF EXISTS {name}")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unsent", "unanswered", "killed"])
def test_a_delivery_that_dies_at_any_message(server: Server, tmp_path: Path, kind: str) -> None:
    """Each commit, and some of the others."""
    from_nothing(server)
    watched = Proxy(server, -1, True)
    with opened(program(place_of(server, watched.port)), tmp_path / "watched") as p:
        for _ in range(2):
            feed(p)
            p.step()
    watched.close()
    commits = [n for n, message in enumerate(watched.seen) if b"COMMIT" in message]
    assert len(commits) == 6
    died = 0
    stride = {"unsent": 9, "unanswered": 16, "killed": 20}[kind]
    for n in sorted({*(() if kind == "unsent" else commits[1::2]), *range(0, len(watched.seen), stride)}):
        from_nothing(server)
        proxy = Proxy(server, n, kind != "unsent", server.kill if kind == "killed" else lambda: None)
        made: Program = program(place_of(server, proxy.port))
        with opened(made, tmp_path / str(n)) as p:
            raised = 0
            for _ in range(2):
                feed(p)
                try:
                    p.step()
                except DeliveryError:
                    raised += 1
                    break
            died += raised
            proxy.n = -1
            if kind == "killed":
                server.start()
            if n % 4 and kind != "killed":  # which every session has seen
                feed(p)
                p.step()
                check(p, place_of(server))
        with opened(made, tmp_path / str(n)) as p:  # which delivers what is left
            check(p, place_of(server))
            feed(p)
            p.step()
            check(p, place_of(server))
        proxy.close()
    assert died >= 4


def test_a_server_that_is_down_gets_the_steps_later(server: Server, tmp_path: Path) -> None:
    from_nothing(server)
    with opened(program(place_of(server)), tmp_path / "state") as p:
        server.kill()
        feed(p)
        with pytest.raises(DeliveryError, match=r"'totals': step 1 was not written: .*refused"):
            p.step()
        server.start()
        feed(p)
        p.step()
        check(p, place_of(server))


def test_mysql_is_spelled_so_too(server: Server, tmp_path: Path) -> None:
    made = typed_program(place_of(server), (Field("id", pa.int64(), False),), "also")
    target = made.tables["also"]
    url = target.options["url"].replace("mariadb:", "mysql:")
    changed = replace(target, format="MySQL", options={**target.options, "url": url})
    with Pipeline(
        replace(made, tables=made.tables | {"also": changed}), runner="inline", state=tmp_path
    ) as p:
        p.insert("given", [(7,)])
        p.step()
    assert server.rows("SELECT id FROM also") == [(7,)]


def test_collations_of_versions() -> None:
    known = {
        "5.5.5-10.11.6-MariaDB-0+deb12u1": "utf8mb4_nopad_bin",
        "8.0.36-0ubuntu0.22.04.1": "utf8mb4_0900_bin",
        "8.0.17": "utf8mb4_0900_bin",
        "9.1.0-commercial": "utf8mb4_0900_bin",
        "8.0.16": "utf8mb4_bin",
        "5.7.44-log": "utf8mb4_bin",
    }
    assert {version: _collation(version) for version in known} == known
