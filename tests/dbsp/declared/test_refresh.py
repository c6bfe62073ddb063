"""A refresh leaves every table as Spark computes it from scratch, and rewrites what has changed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from dbsp.circuits.errors import Error, ProgramError, StateError
from dbsp.declared.asked import Asked
from dbsp.declared.project import program
from dbsp.declared.refresh import FULL, INCREMENTAL, RECOMPUTED, UNCHANGED, Refresh
from tests.dbsp.declared.build import by_name

pytestmark = pytest.mark.spark

SOURCES = (
    "CREATE TABLE sale (id INT, shop STRING, amount DECIMAL(9,2), day DATE) USING parquet",
    "CREATE TABLE shops (shop STRING, country STRING) USING parquet",
)
PROJECT = """
CREATE STREAMING TABLE bronze AS SELECT id, shop, amount, day FROM STREAM(sale);
CREATE TEMPORARY VIEW good AS SELECT * FROM bronze WHERE amount IS NOT NULL;
CREATE MATERIALIZED VIEW named AS SELECT g.*, s.country FROM good g LEFT JOIN shops s ON g.shop = s.shop;
CREATE MATERIALIZED VIEW by_day PARTITIONED BY (day) AS
SELECT country, count(*) AS n, sum(amount) AS total, day FROM named GROUP BY country, day;
CREATE MATERIALIZED VIEW best AS SELECT * FROM by_day WHERE total = (SELECT max(total) FROM by_day);
"""


def changes(project, random_, number):
    """Some rows more, and sometimes other shops: appended, or written over."""
    days = ["NULL", "DATE'2024-02-29'", "DATE'2025-01-01'"]
    drawn = (["NULL", "'a'", "'b'", "'ü/='"], ["NULL", "0", "1.5", "-2.25"], days)
    rows = [", ".join(map(random_.choice, drawn)) for _ in range(random_.randint(0, 4))]
    if rows:
        project.sql("INSERT INTO sale VALUES " + ", ".join(f"({number}, {row})" for row in rows))
    kind = random_.choice(["none", "INTO", "OVERWRITE"])
    if kind != "none":
        shops = random_.sample(["a", "b", "ü/="], 2)
        listed = ", ".join(f"('{shop}', '{random_.choice(['UK', 'FR'])}')" for shop in shops)
        project.sql(f"INSERT {kind} shops VALUES {listed}")


def assert_as_spark(project, refresh):
    """Each table is its query's rows over the tables that the query reads."""
    for dataset in refresh.project.datasets:
        (flow,) = dataset.flows
        query = flow.query.replace("STREAM(sale)", "sale")
        if not dataset.is_stored:
            project.sql(f"CREATE OR REPLACE TEMPORARY VIEW good AS {query}")
            continue
        wanted = project.spark.sql(query)
        table = project.spark.table(dataset.name).select(*wanted.columns)
        assert sorted(map(repr, table.collect())) == sorted(map(repr, wanted.collect())), dataset.name
    project.sql("DROP VIEW good")


def test_tables_are_what_spark_computes_of_the_sources(project):
    random_ = random.Random(16)
    project.sql(*SOURCES)
    with project.opened(PROJECT) as refresh:
        for number in range(4):
            changes(project, random_, number)
            refresh.run(Asked())
            assert_as_spark(project, refresh)
        project.sql("INSERT INTO sale VALUES (9, 'a', 99, DATE'2024-02-29')")
        assert by_name(refresh.run(Asked()))["bronze"].written.inserted == 1
        assert {one.how for one in refresh.run(Asked())} == {UNCHANGED}
        assert_as_spark(project, refresh)


def test_a_state_is_gone_on_from_and_a_changed_project_evolves(project):
    project.sql(*SOURCES, "INSERT INTO shops VALUES ('a', 'UK'), ('b', 'FR'), ('c', 'UK')")
    first = "CREATE MATERIALIZED VIEW m AS SELECT country, count(*) AS n FROM shops GROUP BY country;"
    assert {one.how for one in project.run(first).values()} == {FULL}
    changed = (
        "CREATE MATERIALIZED VIEW m AS "
        "SELECT country, count(*) AS n, max(shop) AS last FROM shops GROUP BY country;"
        "CREATE MATERIALIZED VIEW few AS SELECT * FROM m WHERE n < 2;"
    )
    project.sql("INSERT INTO shops VALUES ('d', 'FR')")
    done = project.run(changed)
    assert done["few"].how == FULL
    assert project.rows("m") == [("FR", 2, "d"), ("UK", 2, "c")]
    assert project.rows("few") == []
    project.sql("INSERT INTO shops VALUES ('e', 'DE')")
    assert {one.how for one in project.run(changed).values()} == {INCREMENTAL}
    assert project.rows("few") == [("DE", 1, "e")]


def test_a_streaming_table_keeps_its_query(project):
    project.sql(*SOURCES, "INSERT INTO sale VALUES (1, 'a', 1, NULL)")
    sql = "CREATE STREAMING TABLE s AS SELECT id FROM STREAM sale;"
    project.run(sql)
    with pytest.raises(
        StateError, match=r"streaming table spark_catalog\.\w+\.s has another query than before"
    ):
        project.run(sql.replace("id", "id + 1 AS id"))
    assert project.rows("s") == [(1,)]
    project.run(sql.replace("id", "id + 1 AS id"), full_refresh_all=True)
    assert project.rows("s") == [(2,)]


def test_a_table_that_somebody_else_has_written_is_written_anew(project):
    project.sql(*SOURCES, "INSERT INTO shops VALUES ('a', 'UK')", "INSERT INTO sale VALUES (1, 'a', 1, NULL)")
    sql = (
        "CREATE MATERIALIZED VIEW m AS SELECT country FROM shops; "
        "CREATE STREAMING TABLE s AS SELECT id FROM STREAM sale;"
    )
    project.run(sql)
    project.sql("INSERT INTO m VALUES ('nowhere')")
    done = project.run(sql)
    assert (done["m"].how, done["s"].how) == (FULL, UNCHANGED)
    assert project.rows("m") == [("UK",)]
    project.sql("INSERT INTO s VALUES (7)")
    with pytest.raises(StateError, match=r"definitions.sql:1:58: streaming table .* --full-refresh-all"):
        project.run(sql)
    assert {one.how for one in project.run(sql, full_refresh_all=True).values()} == {FULL}
    assert project.rows("s") == [(1,)]


def test_what_cant_be_maintained_is_recomputed_where_it_may_be(project):
    project.sql(*SOURCES, "INSERT INTO shops VALUES ('a', 'UK'), ('b', 'UK')")
    sql = (
        "CREATE MATERIALIZED VIEW r AS SELECT shop, rand() < 2 AS yes FROM shops;"
        "CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM r WHERE yes;"
    )
    done = project.run(sql, fallback=True)
    assert (done["r"].how, done["n"].how) == (RECOMPUTED, FULL)
    assert project.rows("n") == [(2,)]
    project.sql("INSERT INTO shops VALUES ('c', 'FR')")
    done = project.run(sql, fallback=True)
    assert (done["r"].how, done["r"].written.inserted, done["n"].how) == (RECOMPUTED, 3, INCREMENTAL)
    assert project.rows("n") == [(3,)]
    auto = sql.replace("VIEW r", "VIEW r TBLPROPERTIES ('refresh_policy' = 'auto')")
    assert project.run(auto)["r"].how == RECOMPUTED
    with pytest.raises(ProgramError, match=r"rand\(\).*, or its property refresh_policy = auto"):
        project.run(sql.replace("VIEW r", "VIEW r TBLPROPERTIES ('refresh_policy' = 'incremental')"))


def test_a_policy_of_full_recomputes_what_could_be_maintained(project):
    project.sql(*SOURCES, "INSERT INTO shops VALUES ('a', 'UK')")
    sql = (
        "CREATE MATERIALIZED VIEW r TBLPROPERTIES ('refresh_policy' = 'full') AS SELECT shop FROM shops;"
        "CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM r;"
    )
    done = project.run(sql)
    assert (done["r"].how, done["n"].how) == (RECOMPUTED, FULL)
    project.sql("INSERT INTO shops VALUES ('b', 'UK')")
    done = project.run(sql)
    assert (done["r"].how, done["n"].how) == (RECOMPUTED, INCREMENTAL)
    assert (project.rows("r"), project.rows("n")) == ([("a",), ("b",)], [(2,)])
    kept = project.run(sql.replace("'full'", "'incremental_strict'"))
    assert kept["r"].how == FULL
    assert (project.rows("r"), project.rows("n")) == ([("a",), ("b",)], [(2,)])
    with pytest.raises(ProgramError, match=r"definitions\.sql:1:\d+: .*no refresh_policy 'ful'.*'full'\?"):
        project.plan(sql.replace("'full'", "'ful'"))


def test_rows_of_a_stream_meet_tables_as_they_are_then(project):
    project.sql(*SOURCES, "INSERT INTO shops VALUES ('a', 'UK')", "INSERT INTO sale VALUES (1, 'a', 1, NULL)")
    sql = (
        "CREATE STREAMING TABLE met AS SELECT id, country FROM STREAM sale LEFT JOIN shops USING (shop);"
        "CREATE MATERIALIZED VIEW of_now AS SELECT id, country FROM sale LEFT JOIN shops USING (shop);"
        "CREATE STREAMING TABLE grown AS SELECT id FROM STREAM sale;"
        "CREATE STREAMING TABLE earlier AS SELECT s.id, g.id AS had FROM STREAM sale AS s "
        "JOIN grown AS g ON s.id >= g.id;"
    )
    project.run(sql)
    project.sql(
        "INSERT OVERWRITE shops VALUES ('a', 'FR'), ('b', 'DE')", "INSERT INTO sale VALUES (2, 'b', 1, NULL)"
    )
    project.run(sql)
    assert project.rows("met") == [(1, "UK"), (2, "DE")]
    assert project.rows("of_now") == [(1, "FR"), (2, "DE")]
    project.sql("INSERT INTO sale VALUES (0, 'b', 1, NULL)")
    project.run(sql)
    assert project.rows("earlier") == [(0, 0), (1, 1), (2, 1), (2, 2)]  # 1 and 2 came before 0
    with pytest.raises(Error, match=r"--full-refresh \S+\.met, whose rows have met tables as they were then"):
        project.run(sql, full_refresh=["met"])
    project.run(sql, full_refresh_all=True)
    assert project.rows("met") == [(0, "DE"), (1, "FR"), (2, "DE")]
    assert len(project.rows("earlier")) == 6


def test_another_flow_and_expectations(project):
    project.sql(*SOURCES, "INSERT INTO shops VALUES ('a', 'UK')", "INSERT INTO sale VALUES (1, 'a', 1, NULL)")
    sql = (
        "CREATE OR REFRESH STREAMING TABLE s (shop STRING, CONSTRAINT c EXPECT (shop <> 'x') "
        "ON VIOLATION DROP ROW); CREATE FLOW one AS INSERT INTO s BY NAME SELECT shop FROM STREAM sale;"
        "CREATE MATERIALIZED VIEW r (CONSTRAINT c EXPECT (shop <> 'x') ON VIOLATION DROP ROW) "
        "TBLPROPERTIES ('refresh_policy' = 'full') AS SELECT shop FROM shops;"
        "CREATE MATERIALIZED VIEW m (CONSTRAINT c EXPECT (n < 3) ON VIOLATION FAIL UPDATE) AS "
        "SELECT count(*) AS n FROM r;"
    )
    project.run(sql)
    more = sql + "CREATE FLOW two AS INSERT INTO s BY NAME SELECT upper(shop) AS shop FROM STREAM shops;"
    project.sql(
        "INSERT INTO shops VALUES ('x', 'UK'), ('b', 'UK')", "INSERT INTO sale VALUES (2, 'x', 1, NULL)"
    )
    done = project.run(more)
    assert (done["m"].how, [each.rows for each in done["s"].unmet]) == (INCREMENTAL, [1])
    assert project.rows("s") == [("A",), ("B",), ("X",), ("a",)]
    assert (project.rows("r"), project.rows("m")) == ([("a",), ("b",)], [(2,)])
    project.sql("INSERT INTO shops VALUES ('c', 'UK')")
    with pytest.raises(Error, match=r"a row does not meet the expectation c"):
        project.run(more)
    assert (len(project.rows("s")), project.rows("m")) == (4, [(2,)])
    with pytest.raises(StateError, match=r"streaming table spark_catalog\.\w+\.s has another query"):
        project.run(sql)


def test_columns_are_the_declared_ones(project):
    """Orders and letters are those that `spark-pipelines` gives its tables."""
    project.sql(*SOURCES, "INSERT INTO shops VALUES ('a', 'UK')", "INSERT INTO sale VALUES (1, 'a', 1, NULL)")
    sql = (
        "CREATE MATERIALIZED VIEW m (n BIGINT COMMENT 'how many', SHOP STRING) COMMENT 'one' "
        "TBLPROPERTIES ('a' = '1', 'b' = '1') AS SELECT shop, count(*) AS n FROM sale GROUP BY shop;"
        "CREATE MATERIALIZED VIEW by_place AS SELECT * FROM m UNION ALL SELECT 7, 'x';"
        "CREATE MATERIALIZED VIEW r (country STRING, shop STRING) TBLPROPERTIES ('refresh_policy' = 'full') "
        "AS SELECT shop, country FROM shops;"
        "CREATE STREAMING TABLE s (shop STRING, more DATE, id INT); "
        "CREATE FLOW f AS INSERT INTO s BY NAME SELECT id, shop FROM STREAM sale;"
        "CREATE MATERIALIZED VIEW free AS SELECT id, shop FROM sale;"
        "CREATE MATERIALIZED VIEW parts (id INT, SHOP STRING) PARTITIONED BY (shop) AS SELECT shop, id FROM "
        "sale;"
    )

    def columns(name):
        return project.spark.table(name).columns

    project.run(sql)
    assert [columns(name) for name in ("m", "by_place", "r", "s", "parts")] == [
        *(["n", "SHOP"], ["n", "SHOP"], ["country", "shop"], ["shop", "more", "id"], ["id", "SHOP"]),
    ]
    assert (project.rows("m"), project.rows("by_place")) == ([(1, "a")], [(1, "a"), (7, "x")])
    assert (project.rows("r"), project.rows("s")) == ([("UK", "a")], [("a", None, 1)])
    project.sql("INSERT INTO sale VALUES (2, 'b', 1, NULL)")
    changed = sql.replace("'one'", "'it''s two'").replace("'a' = '1'", "'a' = '2', 'c' = '3'")
    changed = changed.replace("how many", "of sales").replace(
        "SELECT id, shop FROM sale", "SELECT day, shop, id FROM sale"
    )
    for _ in range(2):
        project.run(changed)
        assert project.rows("by_place") == [(1, "a"), (1, "b"), (7, "x")]
        assert columns("free") == ["id", "shop", "day"]
        assert project.rows("free") == [(1, "a", None), (2, "b", None)]
    made = project.spark.sql("SHOW CREATE TABLE m").collect()[0][0]
    for said in ("COMMENT 'of sales'", "it\\'s two", "'a' = '2'", "'b' = '1'", "'c' = '3'"):
        assert said in made


def test_rows_that_stay_though_they_dont_meet_an_expectation_are_counted(project):
    project.sql(*SOURCES, "INSERT INTO sale VALUES (1, 'a', 1, NULL), (2, 'b', NULL, NULL)")
    sql = (
        "CREATE STREAMING TABLE s (CONSTRAINT named EXPECT (shop <> 'b'), CONSTRAINT paid EXPECT (amount > "
        "0)) AS SELECT * FROM STREAM sale;"
        "CREATE TEMPORARY VIEW t (CONSTRAINT few EXPECT (id < 2 /* ) */)) AS SELECT * FROM s;"
        "CREATE MATERIALIZED VIEW m (CONSTRAINT c EXPECT (n > 1), CONSTRAINT d EXPECT (n > 0) ON VIOLATION "
        "FAIL UPDATE) AS SELECT shop, count(*) AS n FROM t GROUP BY shop;"
    )

    def unmet(name):
        return {each.expectation: (each.rows, each.more) for each in done[name].unmet}

    done = project.run(sql)
    assert (unmet("s"), unmet("m")) == ({"named": (1, 1), "paid": (1, 1)}, {"few": (1, 1), "c": (2, 2)})
    project.sql("INSERT INTO sale VALUES (1, 'a', 1, NULL), (3, 'c', NULL, NULL), (4, 'b', NULL, NULL)")
    done = project.run(sql)
    assert (unmet("s"), unmet("m")) == ({"named": (2, 1), "paid": (3, 2)}, {"few": (3, 2), "c": (1, -1)})
    done = project.run(sql)
    assert (unmet("s"), unmet("m")) == ({"named": (2, 0), "paid": (3, 0)}, {"few": (3, 0), "c": (1, 0)})
    done = project.run(sql, full_refresh_all=True)
    assert unmet("s") == {"named": (2, 2), "paid": (3, 3)}
    assert len(project.rows("s")) == 5
    with pytest.raises(ProgramError, match=r"definitions\.sql:1:\d+: .*'amuont'"):
        project.plan("CREATE MATERIALIZED VIEW x (CONSTRAINT c EXPECT (amuont > 0)) AS SELECT * FROM sale;")


def test_rows_that_are_left_out_are_counted(project):
    project.sql(*SOURCES, "INSERT INTO sale VALUES (1, 'a', 1, NULL), (2, 'b', NULL, NULL)")
    left_out = "ON VIOLATION DROP ROW"
    sql = (
        f"CREATE STREAMING TABLE s (id INT, shop STRING, amount DECIMAL(9,2), CONSTRAINT named EXPECT "
        f"(shop <> 'b') {left_out}, CONSTRAINT paid EXPECT (amount > 0) {left_out}, CONSTRAINT low EXPECT "
        "(id < 1)) AS SELECT id, shop, amount FROM STREAM sale;"
        f"CREATE TEMPORARY VIEW t (CONSTRAINT few EXPECT (id < 5) {left_out}) AS SELECT * FROM s;"
        f"CREATE MATERIALIZED VIEW m (CONSTRAINT c EXPECT (n > 1) {left_out}, CONSTRAINT d EXPECT (n > 0) "
        "ON VIOLATION FAIL UPDATE) AS SELECT shop, count(*) AS n FROM t GROUP BY shop;"
    )

    def unmet(name):
        return {each.expectation: (each.rows, each.more, each.dropped) for each in done[name].unmet}

    done = project.run(sql)
    assert unmet("s") == {"named": (1, 1, True), "paid": (1, 1, True), "low": (1, 1, False)}
    assert unmet("m") == {"few": (0, 0, True), "c": (1, 1, True)}
    assert (project.rows("s"), project.rows("m")) == ([(1, "a", 1)], [])
    project.sql("INSERT INTO sale VALUES (1, 'a', 1, NULL), (5, 'c', 2, NULL), (4, 'b', 0, NULL)")
    done = project.run(sql)
    assert unmet("s") == {"named": (2, 1, True), "paid": (2, 1, True), "low": (3, 2, False)}
    assert unmet("m") == {"few": (1, 1, True), "c": (0, -1, True)}
    assert (len(project.rows("s")), project.rows("m")) == (3, [("a", 2)])


def test_expectations_that_only_count_come_and_go(project):
    """As no row follows from them: also for a state that was written without any."""
    project.sql(*SOURCES, "INSERT INTO sale VALUES (1, 'a', 1, NULL), (2, 'b', NULL, NULL)")
    sql = "CREATE STREAMING TABLE s {} AS SELECT id, amount FROM STREAM sale WHERE shop IS NOT NULL;"
    counts, more = "(CONSTRAINT paid EXPECT (amount > 0))", "CONSTRAINT few EXPECT (id < 2)"
    project.run(sql.format(""))
    done = project.run(sql.format(counts))["s"]
    assert (done.how, [(each.rows, each.more) for each in done.unmet]) == (UNCHANGED, [(1, 1)])
    project.sql("INSERT INTO sale VALUES (3, 'c', NULL, NULL)")
    done = project.run(sql.format(f"{counts[:-1]}, {more})"))["s"]
    counted = {each.expectation: (each.rows, each.more) for each in done.unmet}
    # when the table was written before, nobody counted
    assert (done.how, counted) == (INCREMENTAL, {"paid": (2, 2), "few": (2, 2)})
    assert project.run(sql.format(""))["s"].how == UNCHANGED
    assert project.rows("s") == [(1, 1), (2, None), (3, None)]
    with pytest.raises(StateError, match=r"streaming table spark_catalog\.\w+\.s has another query"):
        project.run(sql.format(f"{counts[:-2]}) ON VIOLATION DROP ROW)"))


def test_rows_that_went_by_uncounted_stay_uncounted(project, monkeypatch):
    """As in a state of before they were counted: what nobody holds nobody counts."""
    project.sql(*SOURCES, "INSERT INTO sale VALUES (1, 'a', 1, NULL), (2, 'b', NULL, NULL)")
    sql = (
        "CREATE STREAMING TABLE s (CONSTRAINT c EXPECT (amount > 0) ON VIOLATION DROP ROW, CONSTRAINT d "
        "EXPECT (id > 1)) AS SELECT id, amount FROM STREAM sale;"
    )
    with monkeypatch.context() as patched:
        patched.setattr(program, "_counts", lambda dataset, refused: iter(()))
        patched.setattr(Refresh, "_unmet", lambda *_: ())
        project.run(sql)
    project.sql("INSERT INTO sale VALUES (3, 'a', 0, NULL), (4, 'b', 4, NULL)")
    for inserted in (1, 0):
        done = project.run(sql)["s"]
        assert (done.written.inserted, [(each.expectation, each.rows) for each in done.unmet]) == (
            inserted,
            [("d", 1)],
        )
    assert project.rows("s") == [(1, 1), (4, 4)]
    done = project.run(sql, full_refresh_all=True)["s"]
    assert {each.expectation: each.rows for each in done.unmet} == {"c": 2, "d": 1}


def test_only_files_with_rows_that_change_are_written_anew(project):
    project.sql(*SOURCES, "INSERT INTO shops VALUES ('a', 'UK')")
    sql = "CREATE MATERIALIZED VIEW m AS SELECT * FROM shops;"
    with project.opened(sql) as refresh:
        refresh.run(Asked())
        project.sql("INSERT INTO shops VALUES ('b', 'FR'), ('c', 'FR')")
        refresh.run(Asked())
        project.sql("INSERT OVERWRITE shops VALUES ('a', 'UK'), ('b', 'FR')")
        (done,) = refresh.run(Asked())
    assert (done.written.retracted, done.written.removed, done.written.added) == (1, 1, 1)
    assert project.rows("m") == [("a", "UK"), ("b", "FR")]
    files = [
        name for name in Path(project.folder, "warehouse", "m").iterdir() if not name.name.startswith(".")
    ]
    assert len(files) == 2


def test_a_catalogue_that_has_forgotten_a_table_has_it_written_anew(project):
    project.sql("CREATE TABLE src (a INT) USING parquet", "INSERT INTO src VALUES (1)")
    sql = "CREATE MATERIALIZED VIEW m AS SELECT a FROM src"
    project.run(sql)
    files, aside = project.folder / "warehouse" / "m", project.folder / "aside"
    files.rename(aside)
    project.sql("DROP TABLE m")
    aside.rename(files)
    project.run(sql, full_refresh_all=True)
    assert project.rows("m") == [(1,)]


def test_a_streaming_table_is_written_anew_while_its_files_are_there(project):
    project.sql(
        *SOURCES, "INSERT INTO sale VALUES (1, 'a', 1, NULL)", "INSERT INTO sale VALUES (2, 'b', 1, NULL)"
    )
    sql = (
        "CREATE STREAMING TABLE s AS SELECT id FROM STREAM sale;"
        "CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM s;"
    )
    project.run(sql)
    project.sql("INSERT INTO s VALUES (7)", "INSERT INTO sale VALUES (3, 'b', 1, NULL)")
    done = project.run(sql, full_refresh=["s"])
    assert (done["s"].how, list(done)) == (FULL, ["s"])
    assert project.rows("s") == [(1,), (2,), (3,)]
    assert project.run(sql)["m"].how == INCREMENTAL
    assert project.rows("m") == [(3,)]
    next(Path(project.folder, "warehouse", "sale").glob("*.parquet")).unlink()
    with pytest.raises(Error, match=r"files of spark_catalog\.\w+\.sale that it has read are gone"):
        project.run(sql, full_refresh=["s"])
    assert {one.how for one in project.run(sql).values()} == {UNCHANGED}
    assert project.run(sql, full_refresh_all=True)["s"].how == FULL
    assert len(project.rows("s")) == 2


def test_a_dataset_is_refreshed_without_those_that_it_reads(project):
    project.sql(*SOURCES, "INSERT INTO shops VALUES ('a', 'UK')", "INSERT INTO sale VALUES (1, 'a', 1, NULL)")
    sql = (
        "CREATE MATERIALIZED VIEW places AS SELECT DISTINCT country FROM shops;"
        "CREATE MATERIALIZED VIEW m AS SELECT country, id FROM places CROSS JOIN sale;"
    )
    with pytest.raises(Error, match=r"--refresh of what reads \S+\.places without it, as its table lacks"):
        project.run(sql, refresh=["m"])
    project.run(sql)
    project.sql("INSERT INTO shops VALUES ('b', 'FR')", "INSERT INTO sale VALUES (2, 'a', 1, NULL)")
    done = project.run(sql, refresh=["m"])
    assert (list(done), done["m"].how) == (["m"], INCREMENTAL)
    assert project.rows("places") == [("UK",)]
    assert project.rows("m") == [("UK", 1), ("UK", 2)]
    project.run(sql)
    assert project.rows("m") == [("FR", 1), ("FR", 2), ("UK", 1), ("UK", 2)]
    project.sql("INSERT INTO shops VALUES ('c', 'DE')")
    project.run(sql, refresh=["m", "places"])
    project.sql("INSERT INTO places VALUES ('nowhere')")
    with pytest.raises(Error, match=r"name that, too"):
        project.run(sql, refresh=["m"])


def test_a_catalogue_is_told_of_directories_by_the_next_run(project, monkeypatch):
    """A run that ends between its step and that leaves it to the next, though nothing has come."""
    project.sql(*SOURCES, "INSERT INTO sale VALUES (1, 'a', 1, DATE'2024-02-29')")
    sql = (
        "CREATE MATERIALIZED VIEW m PARTITIONED BY (day) AS SELECT count(*) AS n, day FROM sale GROUP BY day"
    )
    project.run(sql)
    project.sql("INSERT INTO sale VALUES (2, 'a', 1, DATE'2025-01-01')")
    with project.opened(sql) as refresh, monkeypatch.context() as patched:
        patched.setattr(type(refresh.around), "written", _killed)
        with pytest.raises(KeyboardInterrupt):
            refresh.run(Asked())
    assert {one.how for one in project.run(sql).values()} == {UNCHANGED}
    partitions = [row[0] for row in project.spark.sql("SHOW PARTITIONS m").collect()]
    assert partitions == ["day=2024-02-29", "day=2025-01-01"]
    assert len(project.rows("m")) == 2


def _killed(*_):
    raise KeyboardInterrupt
