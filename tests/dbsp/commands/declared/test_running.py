"""Runs from the command line, in the run's session."""

from __future__ import annotations

import json
import threading
import time

import pytest
from click.testing import CliRunner

from dbsp.commands.cli import main
from dbsp.commands.declared import running
from tests.dbsp.declared.build import small

pytestmark = pytest.mark.spark

SQL = "CREATE MATERIALIZED VIEW m AS SELECT a, count(*) AS n FROM t GROUP BY a;\n"


@pytest.fixture
def project(spark, tmp_path, monkeypatch):
    with small(spark, tmp_path) as opened:
        monkeypatch.setattr(running, "session_of", lambda spec, settings: opened.spark)
        opened.sql("CREATE TABLE t (a INT) USING parquet", "INSERT INTO t VALUES (1), (1), (2)")
        monkeypatch.chdir(tmp_path)
        yield opened


def test_a_run_and_a_dry_run(project):
    project.write(SQL)
    planned = CliRunner().invoke(main, ["pipeline", "dry-run"])
    assert planned.exit_code == 0
    assert (
        f"spark_catalog.{project.database}.m  materialized view  incremental  its query has" in planned.output
    )
    assert not project.spark.catalog.tableExists("m")
    ran = CliRunner().invoke(main, ["pipeline", "run"])
    assert (ran.exit_code, "Run is COMPLETED." in ran.output) == (0, True)
    assert project.rows("m") == [(1, 2), (2, 1)]
    anew = CliRunner().invoke(main, ["pipeline", "run", "--full-refresh", "m", "--log", "json"])
    assert "full" in anew.stdout
    told = [json.loads(line) for line in anew.stderr.splitlines() if line.startswith("{")]
    (dataset,) = (record for record in told if "dataset" in record)
    assert {name: dataset[name] for name in ("dataset", "kept", "rows_in", "rows_out", "level")} == {
        "dataset": f"spark_catalog.{project.database}.m",
        "kept": "full fill",
        "rows_in": 2,
        "rows_out": 0,
        "level": "INFO",
    }
    project.write(SQL + "CREATE MATERIALIZED VIEW r AS SELECT rand() AS x FROM t;")
    refused = CliRunner().invoke(main, ["pipeline", "dry-run"])
    assert refused.exit_code == 1
    assert "materialized view  refused" in refused.output
    assert "recomputed " in CliRunner().invoke(main, ["pipeline", "dry-run", "--fallback", "full"]).output


def test_a_watch_goes_on_until_it_is_stopped(project, monkeypatch):
    project.write(SQL)
    stop = threading.Event()

    def meanwhile():
        project.sql("INSERT INTO t VALUES (7)")
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and not (
            project.spark.catalog.tableExists("m") and (7, 1) in project.rows("m")
        ):
            time.sleep(0.2)
        stop.set()

    class Stopping:
        entered = 0

        def __enter__(self):
            Stopping.entered += 1
            if Stopping.entered == 2:  # by Spark, which the first refresh needs
                threading.Timer(1.0, meanwhile).start()
            return stop

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(running, "stopping", lambda note: Stopping())
    watched = CliRunner().invoke(main, ["pipeline", "watch", "--every", "200ms"])
    assert watched.exit_code == 0
    assert project.rows("m") == [(1, 2), (2, 1), (7, 1)]


def test_a_project_that_is_known_asks_no_session(project, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = tmp_path / "files"
    project.spark.range(2).coalesce(1).write.parquet(str(files))
    sql = f"CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM parquet.`{files}`"
    project.write(sql)
    asked = []
    monkeypatch.setattr(running, "session_of", lambda spec, settings: asked.append(spec) or project.spark)

    def run(*options):
        ran = CliRunner().invoke(main, ["pipeline", "run", *options])
        assert ran.exit_code == 0, ran.output
        project.spark.catalog.refreshTable("m")
        return len(asked), project.rows("m")

    assert run() == (1, [(2,)])
    project.spark.range(3).coalesce(1).write.parquet(str(tmp_path / "more"))
    (more,) = (tmp_path / "more").glob("*.parquet")
    more.rename(files / "part-99999.parquet")
    assert run() == (1, [(5,)])
    assert run("--full-refresh", "m") == (1, [(5,)])
    assert run("--conf", "spark.sql.shuffle.partitions=1") == (2, [(5,)])
    project.write(sql.replace("count(*)", "sum(id)"))
    assert run() == (3, [(4,)])
    assert run("--full-refresh-all") == (4, [(4,)])


def test_a_project_that_is_known_is_planned_and_watched_without_a_session(project, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = tmp_path / "files"
    project.spark.range(2).coalesce(1).write.parquet(str(files))
    project.write(f"CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM parquet.`{files}`")
    asked = []
    monkeypatch.setattr(running, "session_of", lambda spec, settings: asked.append(spec) or project.spark)

    def planned():
        ran = CliRunner().invoke(main, ["pipeline", "dry-run"])
        assert (ran.exit_code, "materialized view  incremental" in ran.output) == (0, True), ran.output
        return len(asked)

    assert planned() == 1
    assert CliRunner().invoke(main, ["pipeline", "run"]).exit_code == 0
    assert (len(asked), planned()) == (2, 2)
    arrive = iter(["part-99998", "part-99999", "part-0000"])

    class Stop(threading.Event):
        """Each time that the watch waits, a file comes; the last one is where Spark finds the columns."""

        def wait(self, timeout=None):
            seen.append(len(asked))
            name = next(arrive, None)
            if name is None:
                self.set()
            else:
                project.spark.range(3).coalesce(1).write.parquet(str(tmp_path / name))
                (more,) = (tmp_path / name).glob("*.parquet")
                more.rename(files / f"{name}.parquet")
            return True

    class Stopping:
        def __enter__(self):
            return Stop()

        def __exit__(self, *_):
            pass

    seen = []
    monkeypatch.setattr(running, "stopping", lambda note: Stopping())
    watched = CliRunner().invoke(main, ["pipeline", "watch", "--every", "1h"])
    assert (watched.exit_code, seen) == (0, [2, 2, 2, 3]), watched.output
    project.spark.catalog.refreshTable("m")
    assert project.rows("m") == [(11,)]
    assert planned() == 4
