"""What an Iceberg table holds is what the view holds, to any reader, whatever dies at a commit."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException

from dbsp.circuits.errors import ProgramError
from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import Insert, Program
from dbsp.testing.bags import arrow_values, identity
from tests.dbsp.build import program, table, view
from tests.dbsp.targets.databases.typed import COLUMNS, ROWS
from tests.dbsp.targets.voting import check_lost_steps, feed, only, opened, voting, write_again

pytestmark = pytest.mark.slow


def settings(root: Path) -> dict[str, str]:
    return {"type": "sql", "uri": f"sqlite:///{root}/catalog.db", "warehouse": f"file://{root}/warehouse"}


def votes(root: Path) -> Program:
    return voting("iceberg", lambda name: {"table": f"shop.{name}", **settings(root)})


def there(root: Path, name: str) -> Any:
    return load_catalog("dbsp", **settings(root)).load_table(f"shop.{name}")


def rows(root: Path, name: str) -> list[Any]:
    return arrow_values(there(root, name).scan().to_arrow())


def check(p: Pipeline, root: Path) -> None:
    check_rows(p, rows(root, "totals"), rows(root, "log"))


def check_rows(p: Pipeline, totals: list[Any], logged: list[Any]) -> None:
    """What the two tables hold is what the views do."""
    counts = sorted((story, n) for story, n, _ in totals)
    assert counts == sorted(tuple(row.values()) for row in p["counts"].rows())
    log: Counter[Any] = Counter()
    for *row, weight in logged:
        log[tuple(row)] += weight
    votes = Counter(tuple(row.values()) for row in p["all_votes"].rows())
    assert {row: n for row, n in log.items() if n} == votes


def test_a_commit_that_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is carried out, or after, when its answer is lost; then it goes on, or is opened anew."""
    draw, commit = random.Random(1), SqlCatalog.commit_table
    lost: Counter[str] = Counter()

    def dying(catalog: SqlCatalog, *arguments: Any, **named: Any) -> Any:
        kind = draw.choice(["before", "after", "neither"])
        lost[kind] += 1
        answer = commit(catalog, *arguments, **named) if kind != "before" else None
        if kind != "neither":
            raise OSError(f"lost {kind} it was carried out")
        return answer

    monkeypatch.setattr(SqlCatalog, "commit_table", dying)
    for _ in range(8):
        with opened(votes(tmp_path), tmp_path / "state", max_undelivered=2, keep_steps=40) as p:
            for _ in range(2):
                feed(p)
                try:
                    p.step()
                except DeliveryError as error:  # how often follows from the time that tries take
                    assert "lost" in str(error)
    monkeypatch.setattr(SqlCatalog, "commit_table", commit)
    with opened(votes(tmp_path), tmp_path / "state") as p:
        feed(p)
        p.step()
        check(p, tmp_path)
        snapshots = [len(there(tmp_path, name).snapshots()) for name in ("totals", "log")]
        write_again(p)
        assert [len(there(tmp_path, name).snapshots()) for name in ("totals", "log")] == snapshots
    assert min(lost["before"], lost["after"]) >= 2
    # another reader of Parquet, of the files that the metadata names
    files = [task.file.file_path for task in there(tmp_path, "log").scan().plan_files()]
    assert Counter(duckdb.sql(f"SELECT * FROM read_parquet({files!r})").fetchall()) == Counter(
        rows(tmp_path, "log")
    )


def test_a_try_that_is_still_under_way_adds_nothing(tmp_path: Path) -> None:
    """One that has read the table before another wrote the step."""
    with opened(only(votes(tmp_path), "log"), tmp_path / "state") as p:
        feed(p)
        p.step()
        sinks = p._sinks
        assert sinks is not None
        slow = sinks.targets["log"]
        before = there(tmp_path, "log")
        feed(p)
        p.step()
        (insert,), changes = p.program.inserts, p.store.commit_of(2).changes
        records = list(slow.outlet.records(2, [(insert, changes[insert.view])]))
        before.metadata.properties["commit.retry.num-retries"] = "0"
        with pytest.raises(CommitFailedException):
            slow._add(before, 2, records)
        assert len(there(tmp_path, "log").snapshots()) == 2


def test_a_table_of_another_or_with_rows_is_refused(tmp_path: Path) -> None:
    with opened(votes(tmp_path), tmp_path / "state") as p:
        feed(p)
        p.step()
    with opened(votes(tmp_path), tmp_path / "other") as p:
        feed(p)
        with pytest.raises(DeliveryError, match="it is another state directory's"):
            p.step()
    with there(tmp_path, "totals").transaction() as change:
        change.remove_properties("dbsp.writer", "dbsp.step")
    with opened(only(votes(tmp_path), "totals"), tmp_path / "third") as p:
        feed(p)
        with pytest.raises(DeliveryError, match="it has rows that no step has written"):
            p.step()


def test_a_table_that_has_steps_which_were_lost_is_refused(tmp_path: Path) -> None:
    check_lost_steps(votes(tmp_path), tmp_path)


@pytest.mark.parametrize("key", [("id",), ("id", "i")])
def test_every_type(tmp_path: Path, key: tuple[str, ...]) -> None:
    columns = tuple(replace(c, nullable=c.nullable and c.name not in key) for c in COLUMNS)
    given, shown = table("given", columns, key), view("shown", Scan("given", columns))
    target = replace(
        table("typed", columns, key), format="iceberg", options={"table": "a.typed", **settings(tmp_path)}
    )
    places = tuple(range(len(columns)))
    keys = tuple(i for i in places if columns[i].name in key)
    insert = Insert("typed", "shown", "program.sql:20:1", "upsert", places, keys)
    made = program([given], [shown])
    made = replace(made, tables=made.tables | {"typed": target}, inserts=(insert,))
    filled = [(row[0], row[1], row[2] or 0, *row[3:]) for row in ROWS]

    def held() -> Counter[Any]:
        found = load_catalog("dbsp", **settings(tmp_path)).load_table("a.typed").scan().to_arrow()
        return Counter(identity(row) for row in arrow_values(found))

    with opened(made, tmp_path / "state") as p:
        p.insert("given", filled)
        p.step()
        assert held() == Counter(identity(row) for row in arrow_values(p["shown"].to_arrow()))
        p.upsert("given", [(*filled[0][:-1], None), *filled[1:2]])
        p.delete("given", [filled[2]])
        p.step()
        assert held() == Counter(identity(row) for row in arrow_values(p["shown"].to_arrow()))


def test_it_needs_a_table_and_its_columns(tmp_path: Path) -> None:
    with (
        opened(voting("iceberg", lambda name: {"table": name}), tmp_path / "s") as p,
        pytest.raises(ProgramError, match=r"needs OPTIONS \(table 'namespace.name'\)"),
    ):
        feed(p)
        p.step()
    with opened(votes(tmp_path), tmp_path / "state") as p:
        feed(p)
        p.step()
    with there(tmp_path, "log").update_schema() as change:
        change.delete_column("__weight")
    with opened(votes(tmp_path), tmp_path / "state") as p:
        feed(p)
        with pytest.raises(DeliveryError, match=r"it has the columns: .*; declared are: "):
            p.step()
