"""On a cluster whose hosts share nothing but the store, whatever is killed, results are those in process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dbsp
from dbsp.commands.fsck import examine
from dbsp.pipeline.pipeline import Pipeline
from dbsp.state.records.places import place_of
from tests.dbsp.state.objects.places import OnStore, on_store
from tests.servers.cluster import OPTIONS, Cluster, cluster
from tests.servers.s3 import ENVIRONMENT, Request, Server

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TEXT = """
CREATE TABLE sale (id BIGINT, shop STRING, price INT);
CREATE TABLE shop (name STRING PRIMARY KEY, town STRING);
CREATE FUNCTION doubled (n INT) RETURNS INT LANGUAGE PYTHON AS $$ return 2 * n $$;
CREATE VIEW turnover AS
  SELECT shop, sum(doubled(price)) AS total, max(price) AS dearest FROM sale GROUP BY shop;
CREATE VIEW by_town AS SELECT town, count(*) AS n FROM sale JOIN shop ON sale.shop = shop.name GROUP BY town;
"""
STEPS = 4
EXECUTORS = {"spark.executor.memory": "512m", "spark.executor.extraJavaOptions": OPTIONS}
# makes the steps that are missing, a large one each, and prints what they changed
RUN = f"""
import json, sys
import dbsp
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.spark.runner import SparkRunner
from tests.dbsp.running.spark.test_on_a_cluster import TEXT, made
state, master, until = sys.argv[1:]
session = dbsp.session(master=master, conf={EXECUTORS})
with Pipeline(sql=TEXT, state=state, spark=session) as p:
    p.runner.close()
    p.runner = SparkRunner(session, small=0)
    frame = lambda rows: session.createDataFrame(rows, "id BIGINT, shop STRING, price INT")
    while p.last_step < int(until):
        print(json.dumps(made(p, frame)), flush=True)
"""

SHARDS, SHOPS, LOST = 8, 5000, 6
# steps of sales in as many shops as make runs that are merged; prints what each asked for
ASK = f"""
import json, sys, time
import dbsp
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.spark.runner import SparkRunner
state, master, until = sys.argv[1:]
conf = {EXECUTORS} | {{"spark.locality.wait": "600s"}}
session = dbsp.session(master=master, conf=conf)
text = '''CREATE TABLE sale (id BIGINT, shop STRING, price INT);
CREATE VIEW turnover AS SELECT shop, sum(price) AS total, count(*) AS n FROM sale GROUP BY shop;'''
with Pipeline(sql=text, state=state, spark=session, partitions={SHARDS}) as p:
    p.runner.close()
    p.runner = SparkRunner(session, small=0)
    while len({{*p.runner._hosts.homes({SHARDS})}}) < 2:
        time.sleep(0.1)
    for n in range(int(until)):
        rows = session.range(n * {SHOPS}, (n + 1) * {SHOPS}, 1, {SHARDS})
        sold = "concat('s', id % {SHOPS}) AS shop", "CAST(id % 97 AS INT) AS price"
        p.insert("sale", rows.selectExpr("id", *sold))
        traffic = p.step().metrics.traffic
        print(json.dumps([traffic.puts, traffic.gets]), flush=True)
    held = p["turnover"].rows()
    print(json.dumps([len(held), sum(row["n"] for row in held)]))
"""


def made(p: Pipeline, frame: Any = list) -> list[Any]:
    """A step, a function of its number; what it changed, and what the views hold. frame: of rows of sales."""
    n = p.last_step + 1
    sales = [(i, f"s{i % 5}", (i * n) % 97) for i in range(n * 1000, n * 1000 + 500)]
    p.insert("sale", frame(sales))
    if n > 1:
        p.delete(
            "sale", [(i, f"s{i % 5}", (i * (n - 1)) % 97) for i in range((n - 1) * 1000, n * 1000 - 900)]
        )
    p.upsert("shop", [{"name": f"s{i}", "town": f"t{(i + n) % 3}"} for i in range(5)])
    changes = p.step()
    return [n, {view: [changes[view].rows(), p[view].rows()] for view in ("turnover", "by_town")}]


@pytest.fixture
def place(s3_server: Server, tmp_path: Path) -> Iterator[OnStore]:
    with on_store(s3_server, tmp_path / "driver") as found:
        yield found


class Driver:
    """A process with a home of its own, which makes steps on the cluster."""

    def __init__(self, place: OnStore, on: Cluster, home: Path, run: str = RUN, steps: int = STEPS) -> None:
        self._home, self._command = home, [sys.executable, "-c", run, place.uri, on.master, str(steps)]
        home.mkdir(exist_ok=True)
        kept = (name for name in os.environ if not name.startswith(("DBSP_", "XDG_")))
        environment = {name: os.environ[name] for name in kept}
        environment |= {**ENVIRONMENT, "AWS_ENDPOINT_URL": place.proxy.endpoint, "HOME": str(home)}
        self.process = subprocess.Popen(
            self._command,
            env=environment,
            cwd=Path(dbsp.__file__).parents[1],
            stdout=subprocess.PIPE,
            stderr=(home / "log").open("ab"),
            start_new_session=True,
        )

    def kill(self) -> None:
        """With its JVM."""
        os.killpg(self.process.pid, signal.SIGKILL)

    def said(self) -> list[Any]:
        """What each step printed that it made before it ended."""
        out, _ = self.process.communicate(timeout=600)
        return [json.loads(line) for line in out.splitlines() if line.startswith(b"[")]

    def log(self) -> str:
        return (self._home / "log").read_text()[-4000:]


def test_a_worker_and_then_the_driver_are_killed_in_mid_step(place: OnStore, tmp_path: Path) -> None:
    with Pipeline(sql=TEXT, runner="inline") as p:
        expected = json.loads(json.dumps([made(p) for _ in range(STEPS)]))
    killed: list[str] = []

    def fault(_: int, request: Request) -> None:
        """Just before a segment of the second step is there, a worker goes; of the third, the driver."""
        step = request.path.rpartition("/")[2][:12]
        if request.method != "PUT" or "/segments/" not in request.path or not request.path.endswith(".trace"):
            return
        if step == f"{2:012d}" and not killed:
            killed.append("worker")
            running.workers[1].kill()
        elif step == f"{3:012d}" and killed == ["worker"]:
            killed.append("driver")
            driver.kill()

    with cluster(tmp_path) as running:
        place.proxy.fault = fault
        driver = Driver(place, running, tmp_path / "home")
        before = driver.said()
        assert killed == ["worker", "driver"], driver.log()
        assert before == expected[:2]
        driver = Driver(place, running, tmp_path / "home")
        after = driver.said()
        assert driver.process.returncode == 0, driver.log()
    assert after == expected[2:]
    assert examine(place_of(place.uri))[0] == []
    for home in ("worker0", "worker1", "home"):
        assert list((tmp_path / home / ".cache" / "dbsp" / "segments").glob("*/*")), home


def test_a_task_reads_the_state_that_its_host_wrote(place: OnStore, tmp_path: Path) -> None:
    """Until a host is lost: what that one had is read from the store once."""
    asked: list[list[Request]] = [[]]

    def fault(_: int, request: Request) -> None:
        asked[-1].append(request)
        if request.method == "PUT" and "/commits/" in request.path:
            if len(asked) == LOST - 1:
                running.workers[1].kill()
            asked.append([])

    def segments(step: int, method: str, kind: str) -> list[str]:
        paths = [request.path for request in asked[step - 1] if request.method == method]
        return [path for path in paths if "/segments/" in path and path.endswith(kind)]

    with cluster(tmp_path) as running:
        place.proxy.fault = fault
        driver = Driver(place, running, tmp_path / "home", ASK, LOST + 1)
        said = driver.said()
        assert driver.process.returncode == 0, driver.log()
    *traffic, held = said
    assert held == [SHOPS, (LOST + 1) * SHOPS]
    merged = 0
    for step in range(1, LOST + 2):
        read, written = segments(step, "GET", ".trace"), segments(step, "PUT", ".trace")
        assert not segments(step, "PUT", ".view")
        if step == LOST:  # what it reads, it reads once
            assert 0 < len(read) == len({*read})
            continue
        assert read == []
        assert len(segments(step, "GET", ".input")) <= SHARDS
        assert SHARDS <= len(written) <= 2 * SHARDS
        # a lease may be renewed while the commit is answered, which is still of the step
        during = asked[step - 1] + asked[step]
        leases = sum(r.method == "PUT" and r.path.endswith("/lease") for r in during)
        assert 0 <= traffic[step - 1][0] - (len(written) + 1) <= leases
        merged += len(written) > SHARDS
    assert merged
