"""Wherever the connection or the server dies, the tables are the views: nothing is twice, nothing lost.

At each message of a delivery to the server: the connection ends before it arrives, or after it was carried
out and before the answer (of COMMIT, too); or the server is killed. Then the same pipeline goes on, or the
directory is opened anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.program import Program
from tests.dbsp.targets.voting import feed, opened, voting, write_again
from tests.servers.postgres import Server
from tests.servers.proxy import Proxy

pytestmark = pytest.mark.slow


def program(url: str, prefix: str = "") -> Program:
    return voting("postgres", lambda name: {"url": url, "dbtable": f"{prefix}{name}"})


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
        written, prefix = program(clean.url_of(proxy.port), f"{kind}{n}_"), f"{kind}{n}_"
        state = tmp_path / str(n)
        with opened(written, state) as p:
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
        with opened(written, state) as p:  # which delivers what is left
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
    written = program(clean.url)
    with Pipeline(written, runner="inline", state=tmp_path / "state", keep_steps=1, max_undelivered=3) as p:
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
    """Not so much as a row's place."""
    with opened(program(clean.url), tmp_path / "state") as p:
        for _ in range(3):
            feed(p)
            p.step()
        before = clean.rows("SELECT ctid::text, xmin::text FROM totals ORDER BY 1")
        write_again(p)
        assert clean.rows("SELECT ctid::text, xmin::text FROM totals ORDER BY 1") == before
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


def test_a_schema_and_names_in_quotes(clean: Server, tmp_path: Path) -> None:
    clean.execute('CREATE SCHEMA "Sales 100%"')
    written = program(clean.url, "Sales 100%.My ")
    with opened(written, tmp_path / "state") as p:
        for _ in range(2):
            feed(p)
            p.step()
        found = clean.rows('SELECT story_id, n FROM "Sales 100%"."My totals" ORDER BY 1')
        assert found == [tuple(row.values()) for row in p["counts"].rows()]
        assert clean.rows('SELECT step FROM "Sales 100%".dbsp_steps') == [(2,), (2,)]
    clean.execute('DROP SCHEMA "Sales 100%" CASCADE')
