"""Tables of a project in Delta, as delta-rs reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable, write_deltalake

from dbsp.circuits.errors import ProgramError, StateError
from dbsp.declared.asked import Asked
from dbsp.declared.refresh import FULL, INCREMENTAL, UNCHANGED
from tests.dbsp.declared.build import by_name

pytestmark = pytest.mark.spark

SOURCES = (
    "CREATE TABLE sale (id INT, shop STRING, amount DECIMAL(9,2), day DATE, at TIMESTAMP) USING parquet",
    "INSERT INTO sale VALUES (1, 'a', 1.5, DATE'2024-01-31', TIMESTAMP'2024-01-31 10:00:00')",
    "INSERT INTO sale VALUES (2, NULL, 2, NULL, NULL)",
)
PROJECT = """
CREATE STREAMING TABLE bronze USING delta AS SELECT * FROM STREAM(sale);
CREATE MATERIALIZED VIEW by_day USING delta PARTITIONED BY (day, shop) COMMENT 'it''s'
TBLPROPERTIES ('quality' = 'gold')
AS SELECT day, count(*) AS n, shop, sum(amount) AS total FROM bronze GROUP BY day, shop;
CREATE MATERIALIZED VIEW most AS SELECT max(n) AS n FROM by_day;
"""


def table(project, name):
    return DeltaTable(project.folder / "warehouse" / name)


def rows(project, name):
    found = table(project, name).to_pyarrow_table()
    return sorted((tuple(row.values()) for row in found.to_pylist()), key=repr)


def asked_of_spark(project, query):
    found = project.spark.sql(query).toArrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


def test_a_step_is_a_version_of_the_log(project):
    project.sql(*SOURCES)
    with project.opened(PROJECT) as refresh:
        assert {one.how for one in refresh.run(Asked())} == {FULL}
        for number in range(3, 9):
            day = f"DATE'2024-01-{10 + number % 2}'"
            project.sql(f"INSERT INTO sale VALUES ({number}, 'ü/=', {number}, {day}, NULL)")
            done = by_name(refresh.run(Asked()))
            assert done["by_day"].how == INCREMENTAL
            query = "SELECT day, count(*) AS n, shop, sum(amount) AS total FROM sale GROUP BY day, shop"
            assert rows(project, "by_day") == asked_of_spark(project, query)
            assert rows(project, "bronze") == asked_of_spark(project, "SELECT * FROM sale")
        assert {one.how for one in refresh.run(Asked())} == {UNCHANGED}
    assert (table(project, "bronze").version(), table(project, "by_day").version()) == (6, 6)
    history = table(project, "by_day").metadata()
    assert (history.description, history.configuration) == ("it's", {"quality": "gold"})
    assert history.partition_columns == ["day", "shop"]
    old = DeltaTable(project.folder / "warehouse" / "by_day", version=0).to_pyarrow_table()
    assert old.num_rows == 2  # what goes stays for those who read an older version


def test_the_catalogue_says_that_it_is_delta(project):
    project.sql(*SOURCES)
    project.run(PROJECT)
    said = project.spark._jsparkSession.sessionState().catalog()
    found = said.getTableMetadata(
        project.spark._jvm.org.apache.spark.sql.catalyst.TableIdentifier(
            "by_day", project.spark._jvm.scala.Some(project.database)
        )
    )
    assert (found.provider().get(), found.comment().get()) == ("delta", "it's")
    assert found.properties().apply("quality") == "gold"
    assert Path(str(found.location().getPath())) == project.folder / "warehouse" / "by_day"


def test_other_columns_are_another_version(project):
    project.sql(*SOURCES)
    sql = "CREATE MATERIALIZED VIEW m USING delta AS SELECT id FROM sale"
    project.run(sql)
    before = table(project, "m").metadata().id
    project.run(sql.replace("id", "id, at, CAST(at AS TIMESTAMP_NTZ) AS local"))
    assert [field.name for field in table(project, "m").schema().fields] == ["id", "at", "local"]
    assert table(project, "m").metadata().id == before
    assert len(rows(project, "m")) == 2


def test_what_somebody_else_has_committed_is_written_over_or_refused(project):
    project.sql(*SOURCES)
    project.run(PROJECT)
    for name in ("by_day", "bronze"):
        write_deltalake(table(project, name), table(project, name).to_pyarrow_table(), mode="append")
    with pytest.raises(StateError, match=r"streaming table .* has rows of somebody else's"):
        project.run(PROJECT)
    done = project.run(PROJECT, full_refresh_all=True)
    assert done["by_day"].how == FULL
    assert len(rows(project, "by_day")) == len(rows(project, "bronze")) == 2


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT id AS `a b` FROM sale", r"a Delta table has no column 'a b' of INT"),
        ("SELECT id, INTERVAL '1' DAY AS i FROM sale", r"no column 'i' of INTERVAL DAY"),
    ],
)
def test_what_delta_doesnt_have(project, sql, message):
    project.sql(*SOURCES)
    with pytest.raises(ProgramError, match=message):
        project.run(f"CREATE MATERIALIZED VIEW m USING delta AS {sql}")


@pytest.mark.parametrize(
    "clause", ["TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", "CLUSTER BY (id)"]
)
def test_what_would_ask_more_of_writers(project, clause):
    project.sql(*SOURCES)
    with pytest.raises(ProgramError, match="not supported yet"):
        project.run(f"CREATE MATERIALIZED VIEW m USING delta {clause} AS SELECT id FROM sale")
