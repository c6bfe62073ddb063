"""Tables of a project in a catalogue of Iceberg's, as pyiceberg reads them."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError, StateError
from dbsp.declared.asked import Asked
from dbsp.declared.refresh import FULL, INCREMENTAL, UNCHANGED
from dbsp.declared.spark.spec import read_spec
from tests.dbsp.declared.build import by_name
from tests.dbsp.declared.ice import catalogue
from tests.servers.iceberg import read

pytestmark = pytest.mark.spark

SOURCES = (
    "CREATE TABLE sale (id INT, shop STRING, amount DECIMAL(9,2), day DATE, at TIMESTAMP, tiny TINYINT) "
    "USING parquet",
    "INSERT INTO sale VALUES (1, 'a', 1.5, DATE'2024-01-31', TIMESTAMP'2024-01-31 10:00:00', 1Y)",
    "INSERT INTO sale VALUES (2, NULL, 2, NULL, NULL, NULL)",
)
PROJECT = """
CREATE STREAMING TABLE ice.shop.bronze AS SELECT * FROM STREAM(sale);
CREATE MATERIALIZED VIEW ice.shop.by_day USING iceberg PARTITIONED BY (day, shop) COMMENT 'it''s'
TBLPROPERTIES ('quality' = 'gold')
AS SELECT day, count(*) AS n, shop, sum(amount) AS total FROM ice.shop.bronze GROUP BY day, shop;
CREATE MATERIALIZED VIEW most AS SELECT max(n) AS n FROM ice.shop.by_day;
CREATE MATERIALIZED VIEW ice.shop.odd AS
SELECT id AS `a b`, array(named_struct('x', tiny, 'ü y', shop)) AS `ünicode/`, map('k', at) AS m
FROM ice.shop.bronze;
"""


@pytest.fixture
def ice(project):
    return catalogue(project, f"file://{project.folder}/ice")


def rows(ice, name, snapshot=None):
    found = ice.load_table(f"shop.{name}").scan(snapshot_id=snapshot).to_arrow()
    return sorted((tuple(row.values()) for row in found.to_pylist()), key=repr)


def asked_of_spark(project, query):
    found = project.spark.sql(query).toArrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


def test_a_step_is_a_snapshot(project, ice):
    project.sql(*SOURCES)
    with project.opened(PROJECT) as refresh:
        assert {one.how for one in refresh.run(Asked())} == {FULL}
        for number in range(3, 8):
            day = f"DATE'2024-01-{10 + number % 2}'"
            project.sql(f"INSERT INTO sale VALUES ({number}, '', {number}, {day}, NULL, -1Y)")
            done = by_name(refresh.run(Asked()))
            assert done["by_day"].how == INCREMENTAL
            query = "SELECT day, count(*) AS n, shop, sum(amount) AS total FROM sale GROUP BY day, shop"
            assert rows(ice, "by_day") == asked_of_spark(project, query)
            assert rows(ice, "bronze") == asked_of_spark(project, "SELECT * FROM sale")
        assert {one.how for one in refresh.run(Asked())} == {UNCHANGED}
        assert project.rows("most") == [(3,)]
        query = "SELECT id, array(named_struct('x', tiny, 'y', shop)), map('k', at) FROM sale"
        wanted = asked_of_spark(project, query)
        named = [(a, [{"x": b["x"], "ü y": b["y"]} for b in bs], m) for a, bs, m in wanted]
        assert rows(ice, "odd") == sorted(named, key=repr)
    table = ice.load_table("shop.by_day")
    assert [each.summary["dbsp.step"] for each in table.snapshots()] == [str(n) for n in range(1, 7)]
    assert len(rows(ice, "by_day", table.snapshots()[0].snapshot_id)) == 2
    assert (table.properties["comment"], table.properties["quality"]) == ("it's", "gold")
    assert [str(field.transform) for field in table.spec().fields] == ["identity", "identity"]


def test_apaches_own_library_reads_it(project, ice):
    """Decimals, dates, moments, NULL and '' in partitions, and files that were written anew."""
    project.sql(*SOURCES, "INSERT INTO sale VALUES (3, '', 4, DATE'1969-12-31', NULL, -1Y)")
    project.run(PROJECT)
    project.sql("INSERT INTO sale VALUES (4, '', -4.25, DATE'1969-12-31', NULL, -1Y)")
    project.run(PROJECT)
    for name, query in {
        "bronze": "SELECT id, shop, amount, day, string(at) || 'Z', tiny FROM sale",
        "by_day": "SELECT day, count(*), shop, sum(amount) FROM sale GROUP BY day, shop",
    }.items():
        wanted = [
            tuple(None if value is None else str(value) for value in row)
            for row in asked_of_spark(project, query)
        ]
        found = read(project.spark, ice.load_table(f"shop.{name}").metadata_location)
        if name == "bronze":
            wanted = [
                (*row[:4], row[4] and row[4].replace(" ", "T").replace(":00Z", "Z"), row[5]) for row in wanted
            ]
        assert found == sorted(wanted, key=repr)


def test_the_spec_may_name_the_catalogue(project, ice):
    project.sql(*SOURCES)
    spec = project.folder / "spark-pipeline.yml"
    sql = f"CREATE MATERIALIZED VIEW m AS SELECT id FROM spark_catalog.{project.database}.sale"
    write = project.write

    def elsewhere(sql, name="definitions.sql"):
        write(sql, name)
        said = spec.read_text().replace(f"schema: {project.database}", "catalog: ice\nschema: shop")
        spec.write_text(said)
        return read_spec(str(spec))

    project.write = elsewhere
    assert project.run(sql)["m"].how == FULL
    assert rows(ice, "m") == [(1,), (2,)]
    assert project.run(sql)["m"].how == UNCHANGED


def test_other_columns_are_another_snapshot(project, ice):
    project.sql(*SOURCES)
    sql = "CREATE MATERIALIZED VIEW ice.shop.m AS SELECT id FROM sale"
    project.run(sql)
    before = ice.load_table("shop.m").metadata.table_uuid
    project.run(sql.replace("id", "CAST(id AS STRING) AS id, at, CAST(at AS TIMESTAMP_NTZ) AS local"))
    table = ice.load_table("shop.m")
    assert ([str(each.field_type) for each in table.schema().fields], table.metadata.table_uuid) == (
        ["string", "timestamptz", "timestamp"],
        before,
    )
    assert [row[0] for row in rows(ice, "m")] == ["1", "2"]


def test_what_somebody_else_has_committed_is_written_over_or_refused(project, ice):
    project.sql(*SOURCES)
    project.run(PROJECT)
    for name in ("by_day", "bronze"):
        table = ice.load_table(f"shop.{name}")
        table.append(table.scan().to_arrow())
    with pytest.raises(StateError, match=r"streaming table .* has rows of somebody else's, in shop\.bronze"):
        project.run(PROJECT)
    done = project.run(PROJECT, full_refresh_all=True)
    assert done["by_day"].how == FULL
    assert len(rows(ice, "by_day")) == len(rows(ice, "bronze")) == 2


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("AS SELECT id, INTERVAL '1' DAY AS i FROM sale", r"no column 'i' of INTERVAL DAY; give it another"),
        ("USING parquet AS SELECT id FROM sale", r"in a catalogue of Iceberg's, and USING parquet; leave"),
        (
            "TBLPROPERTIES ('format-version' = '3') AS SELECT id FROM sale",
            r"not supported yet: .*format-version = 3",
        ),
        ("CLUSTER BY (id) AS SELECT id FROM sale", r"not supported yet: CLUSTER BY of ice\.shop\.m"),
        ("PARTITIONED BY (at) AS SELECT id, at FROM sale", r"PARTITIONED BY at, a TIMESTAMP; partition by"),
        ("AS SELECT id, rand() AS r FROM sale", r"not supported yet: to recompute ice\.shop\.m, an Iceberg"),
    ],
)
def test_what_isnt_written(project, ice, sql, message):
    project.sql(*SOURCES)
    with pytest.raises(ProgramError, match=message):
        project.run(
            f"CREATE MATERIALIZED VIEW ice.shop.m {sql}; CREATE MATERIALIZED VIEW n AS SELECT 1 AS a",
            fallback=True,
        )


def test_another_catalogue_is_refused(project):
    project.sql(*SOURCES)
    with pytest.raises(ProgramError, match=r"catalogue 'lake'.*spark\.sql\.catalog\.lake: org\.apache\.ice"):
        project.plan("CREATE MATERIALIZED VIEW lake.shop.m AS SELECT id FROM sale")
