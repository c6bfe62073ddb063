"""A project whose state is on a store is what one with a directory is."""

from __future__ import annotations

import random
import shutil
import threading

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable, write_deltalake

from dbsp.circuits.errors import Error
from dbsp.commands.cli import main
from dbsp.commands.declared import running
from dbsp.declared.opening import plan_project
from dbsp.declared.refresh import FULL, INCREMENTAL, UNCHANGED
from dbsp.declared.spark.remembering import remembered
from dbsp.declared.spark.spec import read_spec
from dbsp.state.objects.lease import NAME as LEASE
from dbsp.state.records.places import place_of
from tests.dbsp.declared.ice import catalogue
from tests.dbsp.declared.test_reopening import PROJECT, refreshed, write
from tests.dbsp.state.objects.places import on_store
from tests.servers.s3 import BUCKET

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SQL = """
CREATE STREAMING TABLE bronze AS SELECT * FROM STREAM(sale);
CREATE MATERIALIZED VIEW by_shop AS
SELECT shop, count(*) AS n, sum(amount) AS total FROM bronze GROUP BY shop;
CREATE MATERIALIZED VIEW ice.shop.best AS
SELECT shop FROM by_shop WHERE total = (SELECT max(total) FROM by_shop);
"""
WATCHED = """
CREATE MATERIALIZED VIEW bronze AS SELECT * FROM parquet.`{}`;
CREATE MATERIALIZED VIEW by_shop AS
SELECT shop, count(*) AS n, sum(amount) AS total FROM bronze GROUP BY shop;
CREATE MATERIALIZED VIEW ice.shop.best AS
SELECT shop FROM by_shop WHERE total = (SELECT max(total) FROM by_shop);
"""
QUERIES = {
    "bronze": "SELECT * FROM sale",
    "by_shop": "SELECT shop, count(*) AS n, sum(amount) AS total FROM sale GROUP BY shop",
}


@pytest.fixture
def stored(project, s3_server, tmp_path):
    """The project, its storage and the warehouse of its Iceberg tables in a bucket."""
    with on_store(s3_server, tmp_path / "cache") as place:
        write, storage = project.write, place.uri.removesuffix("/state")

        def elsewhere(sql, name="definitions.sql"):
            path = write(sql, name).path
            path.write_text(path.read_text().replace(f"file://{tmp_path}/storage", storage))
            return read_spec(str(path))

        project.write, project.proxy, project.storage = elsewhere, place.proxy, storage
        project.ice = catalogue(project, f"{storage}/ice", **{"s3.endpoint": s3_server.endpoint})
        project.sql("CREATE TABLE sale (shop STRING, amount BIGINT) USING parquet")
        yield project


def check(project):
    for name, query in QUERIES.items():
        assert project.rows(name) == sorted(map(tuple, project.spark.sql(query).collect()), key=repr), name
    best = project.ice.load_table("shop.best")
    assert best.metadata_location.startswith(f"s3://{BUCKET}/")
    query = f"WITH t AS ({QUERIES['by_shop']}) SELECT shop FROM t WHERE total = (SELECT max(total) FROM t)"
    wanted = [row[0] for row in project.spark.sql(query).collect()]
    assert sorted(best.scan().to_arrow()["shop"].to_pylist(), key=repr) == sorted(wanted, key=repr)


def sell(project, random_):
    rows = [f"('{random_.choice('abc')}', {random_.randrange(-3, 9)})" for _ in range(3)]
    project.sql(f"INSERT INTO sale VALUES {', '.join(rows)}")


def test_tables_are_what_spark_computes(stored, tmp_path):
    random_ = random.Random(3)
    for number in range(3):
        sell(stored, random_)
        done = stored.run(SQL)
        assert {one.how for one in done.values()} <= ({FULL} if number == 0 else {INCREMENTAL, UNCHANGED})
        check(stored)
    shutil.rmtree(tmp_path / "cache")  # another host has none
    sell(stored, random_)
    stored.run(SQL)
    check(stored)
    assert not (tmp_path / "storage").exists()
    assert {one.how for one in stored.run(SQL, full_refresh_all=True).values()} == {FULL}
    check(stored)


def test_a_run_needs_no_spark(stored, tmp_path):
    sale, shops = tmp_path / "sales", tmp_path / "shops"
    write(sale, "part-0", [{"shop": "a", "amount": 1}])
    write(shops, "part-0", [{"shop": "a", "country": "UK"}])
    sql = PROJECT.replace("/sale`", "/sales`").format(tmp_path)
    sql += "CREATE MATERIALIZED VIEW ice.shop.m AS SELECT sum(amount) AS s FROM bronze;"
    stored.run(sql)
    planned = plan_project(stored.spark, stored.write(sql))
    known = remembered(stored.spark, planned.project, planned.compiled)
    write(sale, "part-1", [{"shop": "a", "amount": 5}])  # no new partition, of which Spark is told
    done = refreshed(stored, stored.write(sql), known)
    assert {done[name].how for name in ("bronze", "by_shop", "m")} == {INCREMENTAL}
    stored.spark.catalog.refreshTable("by_shop")
    assert stored.rows("by_shop") == [("a", 2, 6, "UK")]
    assert stored.ice.load_table("shop.m").scan().to_arrow().to_pylist() == [{"s": 6}]
    assert {one.how for one in refreshed(stored, stored.write(sql), known).values()} == {UNCHANGED}


class Stop(threading.Event):
    """Of a watch: each time that it waits, one of these comes; after the last it ends."""

    def __init__(self, arrive):
        super().__init__()
        self.arrive = iter(arrive)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def wait(self, timeout=None):
        come = next(self.arrive, self.set)
        come()
        return True


@pytest.mark.parametrize("known", [False, True], ids=["by Spark", "without Spark"])
def test_a_watch(stored, tmp_path, monkeypatch, known):
    """Its tables are as fresh as its last look; a look at which nothing has come writes nothing there."""
    sale, asked = tmp_path / "sales", []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "known"))
    monkeypatch.setattr(running, "session_of", lambda spec, settings: asked.append(spec) or stored.spark)
    write(sale, "part-0", [{"shop": "a", "amount": 1}])
    stored.write(WATCHED.format(sale))
    if known:
        assert CliRunner().invoke(main, ["pipeline", "run"]).exit_code == 0

    def comes(name, *rows):
        return lambda: write(sale, name, [dict(zip(("shop", "amount"), row, strict=True)) for row in rows])

    def look():
        for name in ("bronze", "by_shop"):
            stored.spark.catalog.refreshTable(name)
        best = stored.ice.load_table("shop.best").scan().to_arrow()["shop"].to_pylist()
        seen.append((stored.rows("bronze"), stored.rows("by_shop"), best))
        puts = (request.path for request in stored.proxy.seen if request.method in ("PUT", "POST", "DELETE"))
        written.append([path for path in puts if not path.split("?")[0].endswith(f"/{LEASE}")])

    seen, written = [], []
    arrive = [look, comes("part-1", ("b", 5), ("a", 1)), look, look, comes("part-2", ("b", -5)), look]
    monkeypatch.setattr(running, "stopping", lambda note: Stop([] if not asked and not known else arrive))
    watched = CliRunner().invoke(main, ["pipeline", "watch", "--every", "1h"])
    assert watched.exit_code == 0, watched.output
    assert len(asked) == 1
    first, second, third = (
        [("a", 1)],
        [("a", 1), ("a", 1), ("b", 5)],
        [("a", 1), ("a", 1), ("b", -5), ("b", 5)],
    )
    assert [rows for rows, _, _ in seen] == [first, second, second, third]
    assert [best for _, _, best in seen] == [["a"], ["b"], ["b"], ["a"]]
    assert [rows for _, rows, _ in seen][-1] == [("a", 2, 2), ("b", 2, 0)]
    assert len(written[0]) < len(written[1]) == len(written[2]) < len(written[3])


def test_a_run_that_dies_at_a_request(stored):
    """At some of them, in turn: the next run ends as if it had been the only one."""
    random_ = random.Random(4)
    sell(stored, random_)
    stored.run(SQL)
    proxy, died = stored.proxy, 0
    for point in range(0, 60, 7):
        sell(stored, random_)
        begin = len(proxy.seen)
        proxy.fault = lambda n, request, at=begin + point: "refuse" if n >= at else None
        try:
            stored.run(SQL)
        except Error:
            died += 1
        proxy.fault = lambda n, request: None
        (place_of(stored.storage) / "dbsp" / "state" / LEASE).unlink()  # which ends after a minute
        stored.run(SQL)
        check(stored)
    assert died > 3


def test_a_delta_table_there_is_a_source(stored):
    """By the name that Hadoop has for the store."""
    place, allowed = f"{stored.storage}/raw", {"allow_http": "true"}
    write_deltalake(place, pa.table({"k": [1, 2]}), storage_options=allowed)
    sql = f"CREATE MATERIALIZED VIEW m AS SELECT k FROM delta.`{place.replace('s3:', 's3a:')}`"
    stored.run(sql)
    DeltaTable(place, storage_options=allowed).delete("k = 1")
    write_deltalake(place, pa.table({"k": [3]}), mode="append", storage_options=allowed)
    assert stored.run(sql)["m"].how == INCREMENTAL
    assert stored.rows("m") == [(2,), (3,)]


def test_sinks_want_a_directory(stored):
    stored.write(
        "from pyspark import pipelines as dp\n"
        "dp.create_sink('out', 'json', {'path': '/nowhere'})\n"
        "@dp.append_flow(target='out')\n"
        "def rows():\n"
        "    return spark.readStream.table('sale')\n",
        "definitions.py",
    )
    with pytest.raises(Error, match=r"not supported yet: sink .*out with storage at s3://.*give a directory"):
        stored.run("CREATE MATERIALIZED VIEW m AS SELECT 1 AS a")
