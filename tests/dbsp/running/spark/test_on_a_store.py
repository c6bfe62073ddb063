"""Tasks of Spark with state on a store: they write their own segments there, and read what their host has."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import StateError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.spark import runner
from dbsp.running.spark.runner import SparkRunner
from tests.dbsp.build import votes_program
from tests.dbsp.state.objects.places import on_store
from tests.servers.s3 import Server

pytestmark = [pytest.mark.spark, pytest.mark.slow]
ROWS = 20_000
STEPS = 3


@pytest.fixture(autouse=True)
def _are_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of one task, too, as where it would be on another machine."""
    monkeypatch.setattr(runner, "is_local", lambda master: False)


def fed(p: Pipeline, step: int) -> None:
    users = range(step * ROWS, (step + 1) * ROWS)
    p.insert("votes", pa.table({"user_id": users, "story_id": [user % 7 for user in users]}))
    p.step()


@pytest.mark.parametrize("small", [0, 1_000_000])
def test_steps_of_one_task_and_of_many(spark: Any, s3_server: Server, tmp_path: Path, small: int) -> None:
    """Warm, and with nothing on the host: what one small task wrote may still be in its worker's memory."""
    with on_store(s3_server, tmp_path / "cache") as place:
        for step in range(STEPS):
            with Pipeline(votes_program(), state=place.uri, spark=spark, partitions=2) as p:
                p.runner = SparkRunner(spark, small=small)
                first = len(place.proxy.seen)
                fed(p, step)
                counts = p["counts"].to_arrow().sort_by("story_id")["n"].to_pylist()
                asked = place.proxy.seen[first:]
            assert sum(counts) == (step + 1) * ROWS
            records = [request for request in asked if "/commits/" in request.path]
            assert [request.method for request in records] == ["PUT"]
            if step == 1:  # after which the host has lost them
                shutil.rmtree(tmp_path / "cache")
            reads = [request for request in asked if request.method == "GET"]
            assert step == 2 if reads else small or step < 2, reads


def test_what_a_step_asked_for_is_counted_of_all_tasks(spark: Any, s3_server: Server, tmp_path: Path) -> None:
    with (
        on_store(s3_server, tmp_path / "cache") as place,
        Pipeline(votes_program(), state=place.uri, spark=spark, partitions=2) as p,
    ):
        fed(p, 0)
        first = len(place.proxy.seen)
        p.insert("votes", [(1, 1)])
        traffic = p.step().metrics.traffic
        asked = place.proxy.seen[first:]
    # the lease may be renewed meanwhile, by a thread of its own
    leases = [request for request in asked if request.path.endswith("/lease")]
    assert [request.method for request in asked if request not in leases] == ["PUT", "PUT"]
    assert 2 <= traffic.puts <= 2 + len(leases)
    assert (traffic.gets, traffic.lists) == (0, 0)


def test_a_task_that_can_t_write_says_so(spark: Any, s3_server: Server, tmp_path: Path) -> None:
    with (
        on_store(s3_server, tmp_path / "cache") as place,
        Pipeline(votes_program(), state=place.uri, spark=spark, partitions=2) as p,
    ):
        fed(p, 0)
        place.proxy.fault = lambda n, request: "deny" if "/segments/" in request.path else None
        p.insert("votes", [(1, 1)])
        with pytest.raises(StateError, match=r"denied \(AccessDenied\)") as raised:
            p.step()
        assert "\n" not in str(raised.value)
        place.proxy.fault = lambda n, request: None
        p.step()
        assert p.last_step == 2
