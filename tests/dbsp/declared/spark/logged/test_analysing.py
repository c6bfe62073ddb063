"""Delta tables as sources of a project: read by their logs, by a Spark that has no jar for them."""

from __future__ import annotations

import random
import shutil

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from dbsp.circuits.errors import Error, ProgramError, StateError
from dbsp.declared.asked import Asked
from dbsp.declared.refresh import FULL, INCREMENTAL, UNCHANGED
from tests.dbsp.declared.ice import catalogue
from tests.dbsp.declared.logs.beside import change_rows_beside, mapped
from tests.dbsp.declared.logs.test_delta import there

pytestmark = pytest.mark.spark

SQL = """
CREATE MATERIALIZED VIEW by_shop AS
SELECT shop, count(*) AS n, sum(amount) AS total FROM delta.`{0}/sale` GROUP BY shop;
CREATE STREAMING TABLE fed AS SELECT shop, amount FROM STREAM(delta.`{0}/feed`) WHERE amount > 0;
"""
PYTHON = """
from pyspark import pipelines as dp

@dp.materialized_view
def shops():
    return spark.read.format("delta").load("{0}/sale").select("shop").distinct()

@dp.table
def more():
    return spark.readStream.format("delta").load("{0}/feed").where("amount > 1")

@dp.materialized_view
def named():
    return spark.read.table("delta.`{0}/sale`").groupBy("shop").count()
"""
ORACLE = {
    "by_shop": "SELECT shop, count(*), sum(amount) FROM sale GROUP BY shop",
    "shops": "SELECT DISTINCT shop FROM sale",
    "named": "SELECT shop, count(*) FROM sale GROUP BY shop",
    "fed": "SELECT shop, amount FROM feed WHERE amount > 0",
    "more": "SELECT shop, amount FROM feed WHERE amount > 1",
}
SCHEMA = pa.schema([("shop", pa.string()), ("amount", pa.int64())])
FEED = {"delta.enableChangeDataFeed": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}


def rows(*given):
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in given], schema=SCHEMA)


def drawn(random_, count=3):
    return rows(
        *((random_.choice(["a", "b", "ü /=", None]), random_.choice([None, 1, 5])) for _ in range(count))
    )


def change(random_, place):
    """A commit, or what isn't one."""
    amount = random_.choice(["amount = 1", "amount = 5", "shop = 'a'", "shop IS NULL"])
    kind = random_.choice(["append", "delete", "update", "merge", "compact", "overwrite", "none"])
    if kind in ("append", "overwrite"):
        write_deltalake(place, drawn(random_), mode=kind)
    elif kind == "delete":
        DeltaTable(place).delete(amount)
    elif kind == "update":
        DeltaTable(place).update(updates={"amount": "amount + 1"}, predicate=amount)
    elif kind == "merge":
        merging = DeltaTable(place).merge(
            drawn(random_, 1), "s.shop = t.shop", source_alias="s", target_alias="t"
        )
        merging.when_matched_update({"amount": "9"}).when_not_matched_insert_all().execute()
    elif kind == "compact" and not mapped(DeltaTable(place)):  # which delta-rs doesn't do
        DeltaTable(place).optimize.compact()
    elif kind == "none":
        change_rows_beside(random_, place)


def assert_as_duckdb(project, folder, tables):
    read = {name: there(folder / name) for name in ("sale", "feed")}
    with duckdb.connect() as connection:
        for name, table in read.items():
            connection.register(name, table)
        for table in tables:
            wanted = sorted(connection.execute(ORACLE[table]).fetchall(), key=repr)
            assert project.rows(table) == wanted, table


@pytest.mark.parametrize(
    "options", [{}, {"configuration": FEED}, {"partition_by": ["shop"]}, {"configuration": MAPPED}]
)
def test_tables_are_those_of_the_last_versions(project, tmp_path, options):
    random_ = random.Random(7)
    write_deltalake(tmp_path / "sale", drawn(random_), **options)
    write_deltalake(tmp_path / "feed", drawn(random_), **options)
    project.write(PYTHON.format(tmp_path), "definitions.py")
    with project.opened(SQL.format(tmp_path)) as refresh:
        for _ in range(6):
            refresh.run(Asked())
            assert_as_duckdb(project, tmp_path, ORACLE)
            for _ in range(random_.randrange(3)):
                change(random_, tmp_path / "sale")
            write_deltalake(tmp_path / "feed", drawn(random_), mode="append")
            if random_.random() < 0.3 and options.get("configuration") is not MAPPED:
                DeltaTable(tmp_path / "feed").optimize.compact()
        refresh.run(Asked())
        assert {one.how for one in refresh.run(Asked())} == {UNCHANGED}


def test_a_table_of_the_catalogue(project, tmp_path):
    """As another project has written it."""
    for name in ("src", "src2"):
        project.sql(
            f"CREATE TABLE {name} (shop STRING, amount BIGINT) USING parquet",
            f"INSERT INTO {name} VALUES ('a', 1)",
        )
    first = (
        "CREATE MATERIALIZED VIEW written USING delta AS SELECT * FROM src;"
        "CREATE STREAMING TABLE grown USING delta AS SELECT * FROM STREAM(src2)"
    )
    project.run(first)
    second = (
        "CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n, sum(amount) AS total FROM written;"
        "CREATE STREAMING TABLE s AS SELECT shop FROM STREAM grown"
    )
    (tmp_path / "definitions" / "definitions.sql").unlink()
    shutil.rmtree(tmp_path / "storage")
    # as Delta's jar is set up, which isn't there
    project.spark.conf.set(
        "spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"
    )
    project.run(second)
    assert (project.rows("m"), project.rows("s")) == ([(1, 1)], [("a",)])
    for name in ("written", "grown"):
        write_deltalake(tmp_path / "warehouse" / name, rows(("b", 5)), mode="append")
    assert {name: one.how for name, one in project.run(second).items()} == {
        "m": INCREMENTAL,
        "s": INCREMENTAL,
    }
    assert (project.rows("m"), project.rows("s")) == ([(2, 6)], [("a",), ("b",)])


def test_an_iceberg_table_by_its_catalogue(project, tmp_path):
    """Set as Iceberg's own jar has it set."""
    ice = catalogue(project, f"file://{tmp_path}/ice")
    ice.create_namespace("shop")
    sale, feed = (ice.create_table(f"shop.{name}", SCHEMA) for name in ("sale", "feed"))
    sql = (
        "CREATE MATERIALIZED VIEW m AS SELECT shop, sum(amount) AS s FROM ice.shop.sale GROUP BY shop;"
        "CREATE STREAMING TABLE s AS SELECT shop FROM STREAM(ice.shop.feed)"
    )
    sale.append(rows(("a", 1), ("b", 2)))
    project.run(sql)
    sale.append(rows(("a", 5)))
    sale.delete("shop = 'b'")
    feed.append(rows(("x", 1)))
    assert {one.how for one in project.run(sql).values()} == {INCREMENTAL}
    assert (project.rows("m"), project.rows("s")) == ([("a", 6)], [("x",)])
    assert {one.how for one in project.run(sql).values()} == {UNCHANGED}
    project.spark.conf.set("spark.sql.catalog.ice.type", "hadoop")
    with pytest.raises(Error, match="catalogue 'ice' of Iceberg with type hadoop; those of the types rest"):
        project.run(sql)


def test_what_a_stream_cant_read(project, tmp_path):
    write_deltalake(tmp_path / "feed", rows(("a", 1), ("b", 2)))
    sql = f"CREATE STREAMING TABLE s AS SELECT * FROM STREAM(delta.`{tmp_path}/feed`)"
    project.run(sql)
    DeltaTable(tmp_path / "feed").delete("shop = 'a'")
    with pytest.raises(
        StateError, match=r"changed or deleted at version 1, which STREAM doesn't read; .*all"
    ):
        project.run(sql)
    assert project.rows("s") == [("a", 1), ("b", 2)]
    assert project.run(sql, full_refresh_all=True)["s"].how == FULL
    assert project.rows("s") == [("b", 2)]


def test_changes_that_are_lost(project, tmp_path):
    place = tmp_path / "sale"
    write_deltalake(place, rows(("a", 1), ("b", 2)))
    sql = f"CREATE MATERIALIZED VIEW m AS SELECT shop FROM delta.`{place}`"
    project.run(sql)
    DeltaTable(place).delete("shop = 'a'")
    DeltaTable(place).vacuum(0, dry_run=False, enforce_retention_duration=False)
    with pytest.raises(
        StateError, match=r"versions 1 to 3 \S+parquet is gone \(VACUUM\); --full-refresh-all"
    ):
        project.run(sql)
    assert project.rows("m") == [("a",), ("b",)]
    may = sql.replace("VIEW m", "VIEW m TBLPROPERTIES ('refresh_policy' = 'incremental')")
    assert project.run(may)["m"].how == INCREMENTAL
    assert project.rows("m") == [("b",)]
    shutil.rmtree(place)
    write_deltalake(place, rows(("c", 3)))
    with pytest.raises(StateError, match=r"it is another table than before; --full-refresh-all"):
        project.run(sql)
    assert project.run(sql, full_refresh_all=True)["m"].how == FULL
    assert project.rows("m") == [("c",)]


def test_a_table_that_becomes_a_delta_table(project, tmp_path):
    """Its rows so far are of files: it is compared, or refused."""
    project.sql(
        "CREATE TABLE t (shop STRING, amount BIGINT) USING parquet", "INSERT INTO t VALUES ('a', 1), ('b', 2)"
    )
    sql = "CREATE MATERIALIZED VIEW m AS SELECT shop FROM t"
    project.run(sql)
    project.sql("DROP TABLE t")
    known = project.spark._jsparkSession.sessionState().catalog()
    project.sql(f"CREATE TABLE t (shop STRING, amount BIGINT) USING parquet LOCATION '{tmp_path}/t'")
    write_deltalake(tmp_path / "t", rows(("b", 2), ("c", 3)))
    catalogue = project.spark._jvm.org.apache.spark.sql.catalyst
    entry = known.getTableMetadata(
        catalogue.TableIdentifier("t", project.spark._jvm.scala.Some(project.database))
    )
    values = [entry.productElement(i) for i in range(entry.productArity())]
    place = [entry.productElementName(i) for i in range(len(values))].index("provider")
    values[place] = project.spark._jvm.scala.Some("delta")
    known.externalCatalog().alterTable(catalogue.catalog.CatalogTable(*values))
    with pytest.raises(StateError, match=r"its rows so far are of no log; --full-refresh-all"):
        project.run(sql)
    assert project.run(sql, fallback=True)["m"].how == INCREMENTAL
    assert project.rows("m") == [("b",), ("c",)]
    values[place] = project.spark._jvm.scala.Some("parquet")
    known.externalCatalog().alterTable(catalogue.catalog.CatalogTable(*values))
    project.run(sql)
    assert project.rows("m") == [("b",), ("c",)]


def test_columns_that_come_upstream(project, tmp_path):
    place = tmp_path / "sale"
    write_deltalake(place, rows(("a", 1)))
    sql = f"CREATE MATERIALIZED VIEW m AS SELECT * FROM delta.`{place}`"
    project.run(sql)
    more = rows(("b", 2)).append_column("day", pa.array([3], pa.int64()))
    write_deltalake(place, more, mode="append", schema_mode="merge")
    project.run(sql)
    assert project.rows("m") == [("a", 1, None), ("b", 2, 3)]
    DeltaTable(place).delete("shop = 'a'")
    project.run(sql)
    assert project.rows("m") == [("b", 2, 3)]


def test_what_cant_be_read(project, tmp_path):
    with pytest.raises(Error, match=r"table delta\.\S+nowhere can't be read"):
        project.run(f"CREATE MATERIALIZED VIEW m AS SELECT * FROM delta.`{tmp_path}/nowhere`")
    write_deltalake(tmp_path / "sale", rows(("a", 1)))
    project.write(
        "from pyspark import pipelines as dp\n"
        "@dp.materialized_view\n"
        "def old():\n"
        f"    return spark.read.format('delta').option('versionAsOf', 0).load('{tmp_path}/sale')\n",
        "definitions.py",
    )
    with pytest.raises(ProgramError, match=r"a Delta table read with versionAsOf"):
        project.run("")
