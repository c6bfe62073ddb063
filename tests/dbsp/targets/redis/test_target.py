"""Hashes in Redis are the view: every type and kind of key, wherever the connection or the server dies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.time_of_day import TIME
from dbsp.circuits.errors import ProgramError
from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import Insert, Program
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import program, table, view
from tests.dbsp.targets.voting import check_lost_steps, feed, only, opened, random_steps, voting
from tests.servers.proxy import Proxy
from tests.servers.redis import Server, redis_server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with redis_server() as started:
        yield started


@pytest.fixture
def clean(server: Server) -> Iterator[Server]:
    yield server
    server.client.flushall()


def of(url: str, **options: str) -> Program:
    """The counted votes, by story."""
    return only(voting("redis", lambda _: {"url": url, **options}), "totals")


def check(p: Pipeline, server: Server, prefix: str = "totals:") -> None:
    client = server.client
    found = {key: client.hgetall(key) for key in client.keys("*") if not str(key).startswith("dbsp_steps")}
    for held in found.values():
        held.pop("__step")
    assert found == {
        f"{prefix}{row['story_id']}": {name: str(value) for name, value in row.items()}
        for row in p["counts"].rows()
    }
    assert client.hget(f"dbsp_steps:{prefix}", "step") == str(p.last_step)


COLUMNS = (
    Field("k", pa.string(), False),
    Field("d", pa.date32(), False),
    Field("i", pa.int64()),
    Field("f", pa.float64()),
    Field("b", pa.bool_()),
    Field("n", pa.decimal128(9, 2)),
    Field("bytes", pa.binary()),
    Field("at", pa.timestamp("us", tz="UTC")),
    Field("local", pa.timestamp("us")),
    Field("hour", TIME),
)


def test_every_type(clean: Server, tmp_path: Path) -> None:
    key = ("k", "d")
    made = program([table("given", COLUMNS, key)], [view("shown", Scan("given", COLUMNS))])
    target = replace(
        table("out", COLUMNS, key), format="redis", options={"url": clean.url, "prefix": "a*[b]:"}
    )
    insert = Insert("out", "shown", "program.sql:20:1", "upsert", tuple(range(len(COLUMNS))), (0, 1))
    made = replace(made, tables=made.tables | {"out": target}, inserts=(insert,))
    instant = datetime(2024, 3, 31, 1, 30, 0, 1, tzinfo=UTC)
    clean.client.set("a", "another's")
    with opened(made, tmp_path) as p:
        p.insert(
            "given",
            [
                (
                    "x:y%",
                    date(1, 1, 1),
                    -(2**63),
                    0.1,
                    True,
                    Decimal("-1.50"),
                    b"\x00\xff",
                    instant,
                    instant.replace(tzinfo=None),
                    time(1, 30, 0, 500),
                ),
                ("é", date(2024, 2, 29), None, float("inf"), False, None, b"", None, None, None),
                ("", date(2024, 2, 29), *[None] * 8),
            ],
        )
        p.step()
    import redis  # noqa: PLC0415

    client = redis.Redis(port=clean.port)
    assert client.hgetall("a*[b]:x%3Ay%25:0001-01-01") == {
        b"k": b"x:y%", b"d": b"0001-01-01", b"i": b"-9223372036854775808", b"f": b"0.1", b"b": b"true",
        b"n": b"-1.50", b"bytes": b"\x00\xff", b"at": b"2024-03-31T01:30:00.000001Z",
        b"local": b"2024-03-31T01:30:00.000001", b"hour": b"01:30:00.000500",
    }  # fmt: skip
    assert client.hgetall("a*[b]:é:2024-02-29") == {
        b"k": "é".encode(), b"d": b"2024-02-29", b"f": b"inf", b"b": b"false", b"bytes": b""
    }  # fmt: skip
    assert client.hgetall("a*[b]::2024-02-29") == {b"k": b"", b"d": b"2024-02-29"}


def test_random_changes_are_the_view(clean: Server, tmp_path: Path) -> None:
    with opened(of(clean.url, prefix="p:"), tmp_path) as p:
        for present in random_steps(p, "votes", least=1):
            check(p, clean, "p:")
            assert sum(row["n"] for row in p["counts"].rows()) == sum(Counter(present).values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unsent", "unanswered", "killed"])
def test_a_delivery_that_dies_at_any_message(clean: Server, tmp_path: Path, kind: str) -> None:
    executed = 0
    for n in range(1000):
        clean.client.flushall()
        proxy = Proxy(clean, n, kind != "unsent", clean.kill if kind == "killed" else lambda: None)
        made = of(clean.url_of(proxy.port))
        with opened(made, tmp_path / str(n)) as p:
            raised = None
            for _ in range(3):
                feed(p)
                try:
                    p.step()
                except DeliveryError as error:
                    raised = error
                    break
            if not proxy.fired:
                check(p, clean)
                break
            assert raised is not None
            executed += b"EXEC" in proxy.seen[n]
            proxy.n = -1
            if kind == "killed":
                clean.start()
            elif n % 2:
                feed(p)
                p.step()
                check(p, clean)
        with opened(made, tmp_path / str(n)) as p:  # which delivers what is left
            check(p, clean)
            feed(p)
            p.step()
            check(p, clean)
        proxy.close()
    else:
        pytest.fail("there was no end")
    assert executed >= 3


def test_an_earlier_try_that_comes_through_late_is_not_made_twice(
    clean: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the steps and the transaction."""
    from dbsp.targets.redis.target import Redis  # noqa: PLC0415

    claimed, late = Redis._claimed, list[int]()

    def beside(self: Redis, client: Any, step: int, is_fresh: bool) -> int:
        written = claimed(self, client, step, is_fresh)
        if step == 2 and not late:
            late.append(step)
            clean.client.hset(self._steps, "step", 2)  # as if it had written all of it
        return written

    with opened(of(clean.url), tmp_path) as p:
        feed(p)
        p.step()
        monkeypatch.setattr(Redis, "_claimed", beside)
        feed(p)
        with pytest.raises(DeliveryError, match="step 2 was not written: Watched variable changed"):
            p.step()
        p.deliver()
        assert clean.client.hget("dbsp_steps:totals:", "step") == "2"


def test_a_prefix_of_another_directory_and_keys_of_others(clean: Server, tmp_path: Path) -> None:
    with opened(of(clean.url), tmp_path / "one") as p:
        feed(p)
        p.step()
    with opened(of(clean.url), tmp_path / "two") as p:
        feed(p)
        with pytest.raises(
            DeliveryError, match="another state directory's, or this one went back: dbsp_steps:"
        ):
            p.step()
    clean.client.hset("mine:1", "x", 1)
    with opened(of(clean.url, prefix="mine:"), tmp_path / "three") as p:
        feed(p)
        with pytest.raises(
            DeliveryError, match="there are keys that begin with 'mine:' and that no step has"
        ):
            p.step()
    clean.client.flushall()
    with opened(of(clean.url), tmp_path / "one") as p:
        feed(p)
        with pytest.raises(DeliveryError, match="it lacks what it was given: dbsp_steps:totals: has step 0"):
            p.step()


def test_a_prefix_that_has_steps_which_were_lost_is_refused(clean: Server, tmp_path: Path) -> None:
    check_lost_steps(of(clean.url), tmp_path)


def test_a_broken_url_is_not_shown(tmp_path: Path) -> None:
    with opened(of("rediss//me:secret@host"), tmp_path) as p:
        feed(p)
        with pytest.raises(DeliveryError) as raised:
            p.step()
        assert "secret" not in str(raised.value)


@pytest.mark.spark
def test_a_table_without_a_key_is_refused(spark: Any) -> None:
    text = "CREATE TABLE t (a INT);\nCREATE TABLE out (a INT, __op STRING) USING redis OPTIONS (url 'x');\n"
    with pytest.raises(
        ProgramError, match=r"p\.sql:2:14: redis holds a row for each key; declare the PRIMARY KEY"
    ):
        compile_program(text + "INSERT INTO out SELECT * FROM t;", "p.sql", session=spark)
