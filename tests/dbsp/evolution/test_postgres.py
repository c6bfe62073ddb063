"""A changed program and its tables in Postgres: each is what its view is, whatever dies meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from dbsp.circuits.errors import StateError
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.nodes import Filter, Scan
from dbsp.sql.plans.program import Insert, Program
from tests.dbsp.build import VOTES, table, view
from tests.dbsp.evolution.changing import counted, known
from tests.dbsp.targets.postgres.test_faults import program as postgres_program
from tests.dbsp.targets.voting import COUNTS
from tests.effort import is_long
from tests.servers.postgres import Server, postgres
from tests.servers.proxy import Proxy

FEW = Filter(
    Scan("votes", VOTES), Call("less_than", (Column(0, pa.int64()), Literal(3, pa.int64())), pa.bool_())
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres() as started:
        yield started


@pytest.fixture
def clean(server: Server) -> Iterator[Server]:
    yield server
    server.execute("DROP SCHEMA public CASCADE", "CREATE SCHEMA public")


def old(url: str, prefix: str = "", logged: bool = True) -> Program:
    """Counted votes are upserted, all votes are logged."""
    made = postgres_program(url, prefix)
    return known(made if logged else replace(made, inserts=made.inserts[:1]))


def new(url: str, prefix: str = "") -> Program:
    """The counts are of a few votes, and go to a second table, too; nothing is logged any more."""
    before = old(url, prefix, logged=False)
    again = table("again", COUNTS, ("story_id",))
    again = replace(again, format="postgres", options={"url": url, "dbtable": f"{prefix}again"})
    views = before.views | {"counts": view("counts", counted(1, "story_id", FEW))}
    insert = Insert("again", "counts", "program.sql:22:1", "upsert", (0, 1, None), (0,))
    inputs = {name: one for name, one in before.tables.items() if one.format is None}
    return known(
        replace(
            before,
            tables=before.tables | {"again": again},
            views=views,
            inserts=(*before.inserts, insert),
            circuit=lower(inputs, views),
        )
    )


def opened(program: Program, state: Path, evolve: bool = False) -> Pipeline:
    return Pipeline(program, runner="inline", state=state, evolve=evolve)


def check(
    p: Pipeline, server: Server, prefix: str = "", targets: Sequence[str] = ("totals", "again")
) -> None:
    wanted = sorted(tuple(row.values()) for row in p["counts"].rows())
    for target in targets:
        assert server.rows(f'SELECT story_id, n FROM "{prefix}{target}" ORDER BY 1') == wanted, target


def feed(p: Pipeline) -> None:
    """Some keys come, some change, some go."""
    p.delete("votes", p["all_votes"].rows()[:4])
    p.insert("votes", [(user, (user + p.last_step) % 4) for user in range(6)])


def stepped(p: Pipeline) -> None:
    feed(p)
    p.step()


@pytest.mark.slow
def test_tables_follow_a_changed_view_and_new_ones_get_all_of_it(clean: Server, tmp_path: Path) -> None:
    with opened(old(clean.url), tmp_path / "s") as p:
        for _ in range(3):
            stepped(p)
        check(p, clean, targets=["totals"])
        full = clean.rows("SELECT story_id, n FROM totals")
    logged = clean.rows("SELECT count(*) FROM log")
    with opened(new(clean.url), tmp_path / "s", evolve=True) as p:
        assert p.last_step == 4
        assert clean.rows("SELECT story_id, n FROM totals") != full
        check(p, clean)
        stepped(p)
        check(p, clean)
    assert clean.rows("SELECT count(*) FROM log") == logged
    with opened(old(clean.url, logged=False), tmp_path / "s", evolve=True) as p:
        check(p, clean, targets=["totals"])
        stepped(p)
        check(p, clean, targets=["totals"])


@pytest.mark.slow
def test_a_server_that_is_down_gets_the_change_later(clean: Server, tmp_path: Path) -> None:
    with opened(old(clean.url), tmp_path / "s") as p:
        stepped(p)
    clean.kill()
    with opened(new(clean.url), tmp_path / "s", evolve=True) as p:
        assert p.last_step == 2
        feed(p)
        with pytest.raises(DeliveryError, match="'totals': step 2 was not written"):
            p.step()
        assert p.last_step == 2
        clean.start()
        p.step()
        check(p, clean)


@pytest.mark.slow
def test_what_a_table_lacks_of_the_program_before_comes_first(clean: Server, tmp_path: Path) -> None:
    with opened(old(clean.url), tmp_path / "s") as p:
        stepped(p)
        clean.kill()
        feed(p)
        with pytest.raises(DeliveryError):
            p.step()
    with pytest.raises(
        StateError, match=r"sink 'totals' hasn't got step 2 yet, which is of the program before"
    ):
        opened(new(clean.url), tmp_path / "s", evolve=True)
    clean.start()
    with opened(old(clean.url), tmp_path / "s") as p:
        check(p, clean, targets=["totals"])
    with opened(new(clean.url), tmp_path / "s", evolve=True) as p:
        check(p, clean)


@pytest.mark.slow
def test_a_table_with_rows_of_somebody_else_s_is_not_begun(clean: Server, tmp_path: Path) -> None:
    clean.execute("CREATE TABLE again (story_id BIGINT PRIMARY KEY, n BIGINT, __step BIGINT)")
    clean.execute("INSERT INTO again VALUES (77, 1, 1)")
    with opened(old(clean.url), tmp_path / "s") as p:
        stepped(p)
    with opened(new(clean.url), tmp_path / "s", evolve=True) as p:
        with pytest.raises(DeliveryError, match=r"table 'again': step 2 was not written: .*rows"):
            p.deliver()
        check(p, clean, targets=["totals"])
    assert clean.rows("SELECT story_id FROM again") == [(77,)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unsent", "unanswered"])
def test_a_change_whose_delivery_dies_at_any_message(clean: Server, tmp_path: Path, kind: str) -> None:
    for n in range(0, 1000, 1 if is_long() else 5):
        prefix, state = f"{kind}{n}_", tmp_path / f"{n}"
        proxy = Proxy(clean, -1, kind != "unsent")
        url = clean.url_of(proxy.port)
        with opened(old(url, prefix), state) as p:
            p.store.durable = False
            stepped(p)
            stepped(p)
        proxy.seen.clear()
        proxy.n = n
        with opened(new(url, prefix), state, evolve=True) as p:
            fired, proxy.n = proxy.fired, -1
            if n % 2:
                stepped(p)
                check(p, clean, prefix)
        with opened(new(url, prefix), state) as p:
            check(p, clean, prefix)
            stepped(p)
            check(p, clean, prefix)
        proxy.close()
        if not fired:
            break
    assert 10 < n < 999
