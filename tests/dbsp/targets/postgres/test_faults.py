"""Wherever the connection or the server dies, the tables are the views: nothing is twice, nothing lost.

At each message of a delivery to the server: the connection ends before it arrives, or after it was carried
out and before the answer (of COMMIT, too); or the server is killed. Then the same pipeline goes on, or the
directory is opened anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.program import Insert, Program
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import VOTES, table, votes_program
from tests.servers.postgres import Server
from tests.servers.proxy import Proxy

COUNTS = (Field("story_id", pa.int64(), False), Field("n", pa.int64(), False), Field("__step", pa.int64()))
LOGGED = (*VOTES, Field("__weight", pa.int64()))


def program(url: str, prefix: str = "") -> Program:
    """The counted votes upserted, all votes as a changelog."""
    made = votes_program()
    targets = [
        replace(
            table(name, schema, key),
            format="postgres",
            options={"url": url, "dbtable": f"{prefix}{name}"},
        )
        for name, schema, key in (("totals", COUNTS, ("story_id",)), ("log", LOGGED, ()))
    ]
    inserts = (
        Insert("totals", "counts", "program.sql:20:1", "upsert", (0, 1, None), (0,)),
        Insert("log", "all_votes", "program.sql:21:1", "retract", (0, 1, None)),
    )
    return replace(made, tables=made.tables | {t.name: t for t in targets}, inserts=inserts)


def opened(program: Program, state: Path) -> Pipeline:
    p = Pipeline(program, runner="inline", state=state)
    p.store.durable = False
    return p


def feed(p: Pipeline) -> None:
    """A step's changes are a function of its number: some keys come, some change, some go."""
    step = p.last_step + 1
    p.insert("votes", [(user, user % (step + 1)) for user in range(6)])
    if step > 1:
        p.delete("votes", [(user, user % step) for user in range(6)])


def check(p: Pipeline, server: Server, prefix: str = "") -> None:
    totals = server.rows(f'SELECT story_id, n FROM "{prefix}totals" ORDER BY 1')
    assert totals == sorted(tuple(row.values()) for row in p["counts"].rows())
    log: Counter[Any] = Counter()
    for *row, weight in server.rows(f'SELECT user_id, story_id, __weight FROM "{prefix}log"'):
        log[tuple(row)] += weight
    assert +log == Counter(tuple(row.values()) for row in p["all_votes"].rows())
    assert not -log
    steps = server.rows(f"SELECT step FROM dbsp_steps WHERE target LIKE '{prefix}%'")
    assert steps == [(p.last_step,)] * 2


@pytest.fixture
def clean(server: Server) -> Iterator[Server]:
    yield server
    server.execute("DROP SCHEMA public CASCADE", "CREATE SCHEMA public")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unsent", "unanswered", "killed"])
def test_a_delivery_that_dies_at_any_message(clean: Server, tmp_path: Path, kind: str) -> None:
    commits = 0
    for n in range(1000):
        fault = clean.kill if kind == "killed" else lambda: None
        if kind == "killed" and n % 4:
            continue
        proxy = Proxy(clean, n, kind != "unsent", fault)
        made, prefix = program(clean.url_of(proxy.port), f"{kind}{n}_"), f"{kind}{n}_"
        state = tmp_path / str(n)
        with opened(made, state) as p:
            raised = None
            for _ in range(2):
                feed(p)
                try:
                    p.step()
                except DeliveryError as error:
                    raised = error
                    break
            if not proxy.fired:
                proxy.n = -1  # not at the session's end
                check(p, clean, prefix)
                break
            assert raised is not None
            commits += b"COMMIT" in proxy.seen[n]
            if kind == "killed":
                clean.start()
            if n % 2:
                feed(p)
                p.step()
                check(p, clean, prefix)
        with opened(made, state) as p:  # which delivers what is left
            check(p, clean, prefix)
            feed(p)
            p.step()
            check(p, clean, prefix)
        proxy.close()
    else:
        pytest.fail("there was no end")
    assert n > 20
    assert commits >= (4 if kind != "killed" else 0)


def test_a_server_that_is_down_gets_the_steps_later(clean: Server, tmp_path: Path) -> None:
    with opened(program(clean.url), tmp_path / "state") as p:
        clean.kill()
        feed(p)
        with pytest.raises(DeliveryError, match=r"'totals': step 1 was not written: .*refused"):
            p.step()
        assert p.last_step == 1
        clean.start()
        feed(p)
        p.step()
        check(p, clean)


def test_a_server_that_is_down_holds_back_delivery_and_not_steps(clean: Server, tmp_path: Path) -> None:
    made = program(clean.url)
    with Pipeline(made, runner="inline", state=tmp_path / "state", keep_steps=1, max_undelivered=3) as p:
        p.store.durable = False
        feed(p)
        p.step()
        clean.kill()
        for _ in range(3):
            feed(p)
            p.step()
        feed(p)
        with pytest.raises(DeliveryError, match="'totals': step 2 was not written"):
            p.step()
        assert (p.last_step, p.queued["votes"]) == (4, 12)
        with pytest.raises(DeliveryError, match="'totals': step 2 was not written"):
            p.deliver()
        clean.start()
        p.redeliver()  # too early
        assert clean.rows("SELECT DISTINCT step FROM dbsp_steps") == [(1,)]
        p.deliver()
        check(p, clean)
        p.step()
        check(p, clean)


def test_a_step_that_is_written_again_changes_nothing(clean: Server, tmp_path: Path) -> None:
    made, state = program(clean.url), tmp_path / "state"
    with opened(made, state) as p:
        for _ in range(3):
            feed(p)
            p.step()
        sinks = p._sinks
        assert sinks is not None
        before = clean.rows("SELECT ctid::text, xmin::text FROM totals ORDER BY 1")
        for name, delivery in sinks._delivered.items():
            sinks._delivered[name] = replace(delivery, step=0)
        sinks.catch_up()
        assert clean.rows("SELECT ctid::text, xmin::text FROM totals ORDER BY 1") == before
        check(p, clean)


def test_a_table_of_another_directory_is_refused(clean: Server, tmp_path: Path) -> None:
    made = program(clean.url)
    with opened(made, tmp_path / "one") as p:
        feed(p)
        p.step()
    with opened(made, tmp_path / "two") as p:
        feed(p)
        with pytest.raises(
            DeliveryError, match="another state directory's, or this one went back: dbsp_steps"
        ):
            p.step()
    with opened(made, tmp_path / "one") as p:
        check(p, clean)


def test_a_table_that_lacks_steps_gets_no_later_ones(clean: Server, tmp_path: Path) -> None:
    """As one that was restored from a backup, or another one of the same name."""
    for undone in ("UPDATE dbsp_steps SET step = 1", "DROP TABLE totals, log, dbsp_steps"):
        state = tmp_path / undone[:4]
        clean.execute("DROP TABLE IF EXISTS totals, log, dbsp_steps")
        with opened(program(clean.url), state) as p:
            for _ in range(2):
                feed(p)
                p.step()
        clean.execute(undone)
        with opened(program(clean.url), state) as p:
            feed(p)
            with pytest.raises(
                DeliveryError, match=r"lacks what it was given: dbsp_steps has step [01] of it, and"
            ):
                p.step()


def test_a_broken_url_is_not_shown(tmp_path: Path) -> None:
    with opened(program("postgresql//me:secret@host/db"), tmp_path / "state") as p:
        feed(p)
        with pytest.raises(DeliveryError) as raised:
            p.step()
        assert "secret" not in str(raised.value)
        assert "the url" in str(raised.value)


def test_rows_that_no_step_wrote_are_no_view(clean: Server, tmp_path: Path) -> None:
    clean.execute("CREATE TABLE totals (story_id bigint PRIMARY KEY, n bigint, __step bigint)")
    clean.execute("INSERT INTO totals VALUES (77, 1, 0)")
    with opened(program(clean.url), tmp_path / "state") as p:
        feed(p)
        with pytest.raises(DeliveryError, match="totals has rows that no step has written"):
            p.step()
        clean.execute("TRUNCATE totals")
        feed(p)
        p.step()
        check(p, clean)


def test_a_schema_and_names_in_quotes(clean: Server, tmp_path: Path) -> None:
    clean.execute('CREATE SCHEMA "Sales 100%"')
    made = program(clean.url, "Sales 100%.My ")
    with opened(made, tmp_path / "state") as p:
        for _ in range(2):
            feed(p)
            p.step()
        found = clean.rows('SELECT story_id, n FROM "Sales 100%"."My totals" ORDER BY 1')
        assert found == [tuple(row.values()) for row in p["counts"].rows()]
        assert clean.rows('SELECT step FROM "Sales 100%".dbsp_steps') == [(2,), (2,)]
    clean.execute('DROP SCHEMA "Sales 100%" CASCADE')
