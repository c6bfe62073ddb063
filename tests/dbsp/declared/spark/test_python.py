"""Functions that return DataFrames are kept as queries in SQL are."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.declared.asked import Asked
from dbsp.declared.opening import opened, plan_project
from dbsp.declared.spark.spec import read_spec, write_project
from tests.dbsp.declared.build import by_name

pytestmark = pytest.mark.spark

PYTHON = """
from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table(comment="as it came", table_properties={"quality": "bronze"})
def bronze():
    return spark.readStream.table("sale").withColumn("twice", F.col("amount") * 2)


@dp.temporary_view
def good():
    return spark.read.table("bronze").where(F.col("amount").isNotNull())


@dp.materialized_view(name="by_shop", partition_cols=["shop"])
def grouped():
    sales, shops = spark.table("good"), spark.table("shops")
    joined = sales.join(shops, sales.shop == shops.shop, "left").select(sales["*"], shops.country)
    return joined.groupBy("shop", "country").agg(F.sum("twice").alias("twice"), F.count("*").alias("n"))


dp.create_streaming_table("all_ids")


@dp.append_flow(target="all_ids")
def first():
    return spark.readStream.table("sale").select("id")


@dp.append_flow(target="all_ids", name="again")
def second():
    return spark.readStream.table("bronze").select((F.col("id") + 100).cast("int").alias("id"))
"""
SQL = "CREATE MATERIALIZED VIEW best AS SELECT shop, n FROM by_shop WHERE n = (SELECT max(n) FROM by_shop);"


@pytest.fixture
def tables(project):
    project.sql(
        "CREATE TABLE sale (id INT, shop STRING, amount DECIMAL(9,2)) USING parquet",
        "CREATE TABLE shops (shop STRING, country STRING) USING parquet",
        "INSERT INTO sale VALUES (1, 'a', 1.5), (2, 'b', NULL), (3, 'a', 2)",
        "INSERT INTO shops VALUES ('a', 'UK')",
    )
    return project


def test_functions_are_kept_as_queries_are(tables):
    tables.write(PYTHON, "definitions.py")
    done = tables.run(SQL)
    assert {one.how for one in done.values()} == {"full fill"}
    tables.sql("INSERT INTO sale VALUES (4, 'b', 1), (5, 'b', 1), (6, 'b', 1)")
    done = tables.run(SQL)
    assert {one.how for one in done.values()} == {"incremental"}
    assert done["bronze"].written.inserted == 3
    wanted = tables.spark.sql(
        "SELECT sum(amount * 2), count(*), g.shop, country FROM sale g LEFT JOIN shops s ON g.shop = s.shop "
        "WHERE amount IS NOT NULL GROUP BY g.shop, country"
    ).collect()
    found = tables.spark.table("by_shop").select("twice", "n", "shop", "country").collect()
    assert sorted(map(repr, map(tuple, found))) == sorted(map(repr, map(tuple, wanted)))
    assert tables.rows("best") == [("b", 3)]
    assert sorted(row[0] for row in tables.rows("all_ids")) == [*range(1, 7), *range(101, 107)]
    made = tables.spark.sql("SHOW CREATE TABLE bronze").collect()[0][0]
    assert "COMMENT 'as it came'" in made
    assert "'quality' = 'bronze'" in made


SAID = """
from pyspark import pipelines as dp
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.active()
least, shops = spark.conf.get("shop.least"), spark.sql("SELECT shop FROM shops")


@dp.table
def came():
    return SparkSession.builder.getOrCreate().sql("SELECT id, shop, amount FROM STREAM sale")


@dp.materialized_view
def by_shop():
    rows = spark.sql("WITH came AS (SELECT * FROM sale) SELECT shop, id FROM came WHERE id > :n", {{"n": 1}})
    return rows.groupBy("shop").agg(F.count("*").alias("n")).withColumn("least", F.lit(int(least)))


@dp.materialized_view
def known():
    query = "SELECT shop, max(id) AS i FROM {{c}} WHERE shop IN (SELECT shop FROM {{s}}) GROUP BY shop"
    return spark.sql(query, c=spark.table("sale"), s=shops)


@dp.table
def arrived():
    stream = spark.readStream.schema("a INT, b STRING").option("maxFilesPerTrigger", 1)
    return stream.json("{0}/arrived").withColumnRenamed("a", "x")


@dp.materialized_view
def lines():
    there = spark.read.option("header", "true").csv("{0}/lines")
    return there.join(spark.read.format("parquet").load("{0}/files"), "b", "left")
"""


def test_queries_in_sql_and_files_by_their_paths(tables, tmp_path):
    spark = tables.spark
    tables.write(SAID.format(tmp_path), "definitions.py")
    spec = tables.write("").path
    spec.write_text(spec.read_text() + "configuration:\n  shop.least: '3'\n")

    def more(number):
        rows = spark.sql(f"SELECT {number} AS a, 'b{number % 2}' AS b").coalesce(1)
        rows.write.mode("append").json(f"{tmp_path}/arrived")
        rows.write.mode("append").option("header", "true").csv(f"{tmp_path}/lines")
        rows.selectExpr("b", "a AS c").write.mode("append").parquet(f"{tmp_path}/files")

    queries = {
        "came": "SELECT id, shop, amount FROM sale",
        "by_shop": "SELECT shop, count(*) AS n, 3 AS least FROM sale WHERE id > 1 GROUP BY shop",
        "known": "SELECT shop, max(id) AS i FROM sale WHERE shop IN (SELECT shop FROM shops) GROUP BY shop",
        "arrived": f"SELECT CAST(a AS INT) AS x, b FROM json.`{tmp_path}/arrived`",
        "lines": f"SELECT l.b, CAST(l.a AS STRING) AS a, f.c FROM json.`{tmp_path}/arrived` AS l "
        f"LEFT JOIN parquet.`{tmp_path}/files` AS f ON l.b = f.b",
    }
    for number in (1, 2, 3):
        more(number)
        with opened(spark, read_spec(str(spec)), Asked()) as refresh:
            done = by_name(refresh.run(Asked()))
        assert {one.how for one in done.values()} == {"full fill" if number == 1 else "incremental"}
        for name, query in queries.items():
            assert tables.rows(name) == sorted(map(tuple, spark.sql(query).collect()), key=repr), name
        tables.sql(f"INSERT INTO sale VALUES ({number + 6}, 'a', {number})")
    text, file = SAID.format(tmp_path), tables.folder / "definitions" / "definitions.py"
    for said, other, message in (
        ("shop.least", "shop.most", ":6:1: .*no setting 'shop.most' .*there are: shop.least"),
        ("FROM STREAM sale", "FROM nowhere.s", ":9:1: .*TABLE_OR_VIEW_NOT_FOUND"),
        ("SELECT shop FROM shops", "DROP TABLE shops", r":6:1: \[UNSUPPORTED_PIPELINE_SPARK_SQL_.*'DROP'"),
        (
            "SELECT shop, id FROM came",
            "INSERT INTO shops SELECT * FROM came",
            ":14:1: .*'InsertIntoStatement'",
        ),
        ("maxFilesPerTrigger", "cleanSource", ":26:1: .*with the option cleanSource; each file is read once"),
        (".json(", ".format('rate').load(", ":26:1: .*readStream of the format 'rate'; .*parquet, json"),
        (
            "WITH came AS (SELECT * FROM sale) SELECT",
            "SELECT",
            ":14:1: .*needs the columns of 'came', a dataset",
        ),
    ):
        assert said in text
        file.write_text(
            text.replace(said, other).replace('"n": 1})', '"n": 1}).withColumnRenamed("id", "i")')
        )
        with pytest.raises(ProgramError, match=f"definitions.py{message}"):
            plan_project(spark, read_spec(str(spec)))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "return spark.table('sale').select(F.rand())",
            r"definitions.py:5:1: .*rand\(\) is not deterministic",
        ),
        ("return spark.table('nowhere')", r"definitions.py:5:1: .*TABLE_OR_VIEW_NOT_FOUND"),
        ("spark.table('sale').count()", "a definition that asks Spark while it is read"),
        ("spark.conf.set('a', 'b')", "SESSION_MUTATION_IN_DECLARATIVE_PIPELINE"),
        ("return 1 / 0", "definitions.py:7:1: ZeroDivisionError: division by zero"),
        ("return spark.table('sale').select(F.udf(lambda x: x)('id'))", "not supported yet"),
    ],
)
def test_what_a_plan_cant_say_is_refused(tables, body, message):
    text = f"""from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.materialized_view
def m():
    {body}
"""
    tables.write(text, "definitions.py")
    with pytest.raises(ProgramError, match=f"(?s){message}"):
        tables.plan("")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "@dp.materialized_view(partition_cols=['idd'])",
            "5:1: .* BY idd, which it hasn't; .*did you mean 'id'",
        ),
        (
            "@dp.materialized_view(cluster_by=['nowhere'])",
            "5:1: .* CLUSTERED BY nowhere, which it hasn't; col",
        ),
        ("@dp.materialized_view(table_properties={'a': 1})", "5:1: TypeError: .*values of table_properties"),
        (
            "@dp.materialized_view(spark_conf={'spark.sql.ansi.enabled': 'false'})",
            "or spark_conf of a flow: SET",
        ),
    ],
)
def test_arguments_that_dont_fit(tables, text, message):
    head = "from pyspark import pipelines as dp\n\ndp.create_sink('k', 'json', {'path': '/nowhere'})\n\n"
    tables.write(f"{head}{text}\ndef m():\n    return spark.table('sale')\n", "definitions.py")
    with pytest.raises(ProgramError, match=message):
        tables.plan("CREATE MATERIALIZED VIEW other AS SELECT 1 AS a;")


def test_a_schema_of_fields(tables):
    fields = (
        "StructField('s', StructType([StructField('x', StringType())])), StructField('id', IntegerType())"
    )
    tables.write(
        "from pyspark import pipelines as dp\nfrom pyspark.sql import functions as F\n"
        f"from pyspark.sql.types import *\n@dp.materialized_view(schema=StructType([{fields}]))\n"
        "def m():\n    rows = spark.table('sale')\n"
        "    return rows.select('id', F.struct(F.col('shop').alias('x')).alias('s'))\n",
        "definitions.py",
    )
    tables.run("")
    assert [(row[0][0], row[1]) for row in tables.rows("m")] == [("a", 1), ("a", 3), ("b", 2)]


def test_functions_arent_recomputed(tables):
    tables.write(
        "from pyspark import pipelines as dp\nfrom pyspark.sql import functions as F\n"
        "@dp.materialized_view\ndef m():\n    return spark.table('sale').select(F.rand())\n",
        "definitions.py",
    )
    with pytest.raises(ProgramError, match=r"to recompute spark_catalog\.\w+\.m, which is in Python"):
        tables.run("CREATE MATERIALIZED VIEW other AS SELECT 1 AS a;", fallback=True)


def test_the_project_of_init_runs(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    write_project("shop")
    with opened(project.spark, read_spec("shop/spark-pipeline.yml"), Asked()) as refresh:
        refresh.run(Asked())
    assert project.rows("example_sql_materialized_view") == [(0,), (2,), (4,), (6,), (8,)]


DERIVED = """
from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def bronze():
    return spark.readStream.table("sale").withColumn("twice", F.col("amount") * 2)


@dp.table
def silver():
    return spark.readStream.table("bronze").withColumn("id", F.col("id") + 100)


@dp.materialized_view
def gold():
    renamed = spark.read.table({gold}).withColumnRenamed("id", "number").withColumn("n", F.lit(1))
    return renamed.groupBy("shop").agg(F.sum("n").alias("n"), F.max("{last}").alias("last"))
"""


@pytest.mark.parametrize("named", ["silver", "{0}.silver", "spark_catalog.{0}.silver"])
def test_a_dataset_is_read_whose_table_an_earlier_run_has_made(tables, named):
    """Spark analyses what some methods are called of: it would find the table, and lose whose it is."""
    sql = "CREATE MATERIALIZED VIEW m AS SELECT n FROM gold;"
    gold = repr(named.format(tables.database))
    for shop in ("a", "c"):
        tables.write(DERIVED.format(gold=gold, last="number"), "python.py")
        tables.run(sql)
        tables.sql(f"INSERT INTO sale VALUES (7, '{shop}', 1)")
    tables.run(sql)
    assert tables.rows("gold") == [("a", 3, 107), ("b", 1, 102), ("c", 1, 107)]
    # of columns that the table hasn't got yet
    tables.write(DERIVED.format(gold=gold, last="twice"), "python.py")
    tables.run(sql)
    assert [row[:2] for row in tables.rows("gold")] == [("a", 3), ("b", 1), ("c", 1)]


def test_a_method_that_needs_the_columns_of_a_dataset_is_refused_by_its_name(tables):
    """As by Spark at its first run; later it takes the table for the dataset, and loses whose it is."""
    sql, text = "CREATE MATERIALIZED VIEW m AS SELECT 1 AS a;", DERIVED.format(gold="'silver'", last="number")
    tables.write(text, "python.py")
    tables.run(sql)
    tables.write(text.replace(".withColumnRenamed", ".na.fill(0).withColumnRenamed"), "python.py")
    with pytest.raises(ProgramError, match="`silver` cannot be found"):
        tables.plan(sql)
