"""Wherever a request to the store dies, the tables are the views: nothing is twice, nothing lost.

At each request of a delivery: it is refused before it arrives, or its answer is lost after it was carried out
(of the commit, too). Then the same pipeline goes on, or the directory is opened anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

import dbsp.targets.delta.target
from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.program import Program
from dbsp.testing.bags import arrow_values
from tests.dbsp.targets.voting import check_lost_steps, feed, only, opened, voting, write_again
from tests.servers.s3 import BUCKET, ENVIRONMENT, Server, outside, s3

Storage = dict[str, str]


def program(root: str, storage: Storage | None = None) -> Program:
    return voting("delta", lambda name: {"path": f"{root}/{name}", **(storage or {})})


def rows(path: str, storage: Storage | None = None) -> list[Any]:
    return arrow_values(DeltaTable(path, storage_options=storage).to_pyarrow_table())


def check(p: Pipeline, root: str, storage: Storage | None = None) -> None:
    """Of the tables that the program writes."""
    for insert in p.program.inserts:
        CHECKS[insert.target](p, root, storage)


def check_totals(p: Pipeline, root: str, storage: Storage | None = None) -> None:
    totals = sorted((story, n) for story, n, _ in rows(f"{root}/totals", storage))
    assert totals == sorted(tuple(row.values()) for row in p["counts"].rows())


def check_log(p: Pipeline, root: str, storage: Storage | None = None) -> None:
    log: Counter[Any] = Counter()
    for *row, weight in rows(f"{root}/log", storage):
        log[tuple(row)] += weight
    assert {row: weight for row, weight in log.items() if weight} == Counter(
        tuple(row.values()) for row in p["all_votes"].rows()
    )


CHECKS = {"totals": check_totals, "log": check_log}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with s3() as started:
        yield started


def storage_of(endpoint: str) -> Storage:
    """No request is sent again by the client."""
    given = {"AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": "true", "max_retries": "0", **ENVIRONMENT}
    return {**given, "AWS_CONDITIONAL_PUT": "etag"}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "target"), [("lose", "totals"), ("refuse", "log")])
def test_a_delivery_that_dies_at_a_request(server: Server, tmp_path: Path, kind: str, target: str) -> None:
    """At each that writes something, and at some of the others."""
    through, died = storage_of(server.endpoint), 0
    with outside(server) as proxy:
        proxy.fault_at(-1, None)
        place = program(f"s3://{BUCKET}/{kind}", storage_of(proxy.endpoint))
        with opened(only(place, target), tmp_path / "s") as p:
            for _ in range(2):
                feed(p)
                p.step()
        writes = [n for n, request in enumerate(proxy.seen()) if request.method != "GET"]
        assert len(writes) >= 6  # made, claimed, and rows and a commit a step
        for n in sorted({*writes, *range(0, len(proxy.seen()), 15)}):
            root, state = f"s3://{BUCKET}/{kind}{n}", tmp_path / str(n)
            made = only(program(root, storage_of(proxy.endpoint)), target)
            proxy.fault_at(n, kind)
            with opened(made, state) as p:
                for _ in range(2):
                    feed(p)
                    try:
                        p.step()
                    except DeliveryError:
                        died += 1
                        break
                if n % 2:
                    feed(p)
                    p.step()
                    check(p, root, through)
            with opened(made, state) as p:  # which delivers what is left
                feed(p)
                p.step()
                check(p, root, through)
    assert died >= 6


def test_a_step_that_is_written_again_changes_nothing(tmp_path: Path) -> None:
    with opened(program(str(tmp_path)), tmp_path / "state") as p:
        for _ in range(3):
            feed(p)
            p.step()
        versions = [DeltaTable(tmp_path / name).version() for name in ("totals", "log")]
        write_again(p)
        assert [DeltaTable(tmp_path / name).version() for name in ("totals", "log")] == versions
        check(p, str(tmp_path))


@pytest.mark.parametrize("is_made", [False, True])
def test_a_try_that_is_still_under_way_is_not_made_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_made: bool
) -> None:
    """Between what is read of the log and the commit, an earlier try comes through; or it fails."""
    target = dbsp.targets.delta.target.Delta
    add, tries = target._add, list[int]()

    def beside(self: Any, table: DeltaTable, step: int, changes: Any) -> None:
        if self.outlet.table.name != "log" or step != 2:
            add(self, table, step, changes)
        elif not tries:
            tries.append(step)
            if is_made:
                add(self, DeltaTable(table.table_uri), step, changes)
            raise OSError("the answer is lost")
        else:
            tries.append(step)
            if len(tries) == 2:
                add(self, DeltaTable(table.table_uri), step, changes)
            add(self, table, step, changes)

    monkeypatch.setattr(target, "_add", beside)
    with opened(program(str(tmp_path)), tmp_path / "state") as p:
        feed(p)
        p.step()
        feed(p)
        with pytest.raises(DeliveryError, match="the answer is lost"):
            p.step()
        if not is_made:
            with pytest.raises(DeliveryError, match=r"step 2 was not written: .*[Cc]oncurrent"):
                p.deliver()
        p.deliver()
        feed(p)
        p.step()
        check(p, str(tmp_path))


def test_another_writer_between_two_steps_is_no_obstacle(tmp_path: Path) -> None:
    """OPTIMIZE and VACUUM, and a row of somebody's own."""
    with opened(program(str(tmp_path)), tmp_path / "state") as p:
        for _ in range(3):
            feed(p)
            p.step()
            log = DeltaTable(tmp_path / "log")
            log.optimize.compact()
            DeltaTable(tmp_path / "totals").optimize.compact()
            log.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
        check(p, str(tmp_path))


def test_a_table_of_another_directory_is_refused(tmp_path: Path) -> None:
    made = program(str(tmp_path))
    with opened(made, tmp_path / "one") as p:
        feed(p)
        p.step()
    with opened(made, tmp_path / "two") as p:
        feed(p)
        with pytest.raises(
            DeliveryError, match="another state directory's, or this one went back: its log has"
        ):
            p.step()
    with opened(made, tmp_path / "one") as p:
        check(p, str(tmp_path))


def test_a_table_that_has_steps_which_were_lost_is_refused(tmp_path: Path) -> None:
    check_lost_steps(program(str(tmp_path)), tmp_path)


def test_a_table_that_lacks_steps_gets_no_later_ones(tmp_path: Path) -> None:
    made = program(str(tmp_path))
    with opened(made, tmp_path / "state") as p:
        for _ in range(2):
            feed(p)
            p.step()
    (tmp_path / "log").rename(tmp_path / "lost")
    with opened(made, tmp_path / "state") as p:
        feed(p)
        with pytest.raises(
            DeliveryError, match=r"'log': .*lacks what it was given: its log has step 0 of it, and"
        ):
            p.step()


def test_rows_that_no_step_wrote_are_no_view(tmp_path: Path) -> None:
    there = pa.table({"story_id": [77], "n": [1], "__step": [0]})
    write_deltalake(tmp_path / "totals", there)
    with opened(program(str(tmp_path)), tmp_path / "state") as p:
        feed(p)
        with pytest.raises(DeliveryError, match=r"'totals': .*it has rows that no step has written"):
            p.step()
        DeltaTable(tmp_path / "totals").delete()
        feed(p)
        p.step()
        check(p, str(tmp_path))


def test_transactions_of_others_are_not_ours(tmp_path: Path) -> None:
    with opened(program(str(tmp_path)), tmp_path / "state") as p:
        feed(p)
        p.step()
        noted = CommitProperties(app_transactions=[Transaction("dbsp of somebody", 99)])
        nothing = pa.table({"user_id": [1], "story_id": [1], "__weight": [0]})
        write_deltalake(tmp_path / "log", nothing, mode="append", commit_properties=noted)
        feed(p)
        p.step()
        check(p, str(tmp_path))
