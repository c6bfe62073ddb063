"""The law: after every run each table is what `spark-pipelines run` makes of the same project and sources.

Of AUTO CDC Spark writes tables that take MERGE, here they are Parquet. So each has a spec of its own, over
the same definitions and the same files. Projects and changes are random, and of AUTO CDC one is made for it.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbsp.circuits.errors import Error
from dbsp.declared.opening import opened
from dbsp.declared.refresh import Done
from dbsp.declared.spark.spec import read_spec
from tests.dbsp.declared.drawn import LISTED, STREAMS, Definitions, change, changing, plain
from tests.dbsp.declared.drawn import TABLES as READ
from tests.dbsp.declared.heads import EXTRA, TYPES
from tests.effort import is_long
from tests.servers.merging import CATALOG, DATABASE, Server, server

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SQL = """
CREATE STREAMING TABLE last_of;
CREATE FLOW f AS AUTO CDC INTO last_of FROM STREAM(spark_catalog.{0}.events)
KEYS (k) APPLY AS DELETE WHEN op = 'd' SEQUENCE BY s COLUMNS * EXCEPT (op);
CREATE STREAMING TABLE history FLOW AUTO CDC FROM STREAM spark_catalog.{0}.unequal
KEYS (k, k2) APPLY AS DELETE WHEN op = 'd' SEQUENCE BY s STORED AS SCD TYPE 2;
CREATE TEMPORARY VIEW each_of AS SELECT concat(u.k, x) AS k, u.k2, s, v, op = 'd' OR e.k IS NOT NULL AS gone
FROM STREAM(spark_catalog.{0}.unequal) AS u
LEFT JOIN (SELECT DISTINCT k, k2 FROM spark_catalog.{0}.events WHERE v = 1) AS e ON e.k = u.k AND e.k2 = u.k2
LATERAL VIEW explode(array('x', 'y')) AS x;
CREATE STREAMING TABLE exploded FLOW AUTO CDC FROM STREAM each_of
KEYS (k, k2) APPLY AS DELETE WHEN gone SEQUENCE BY s COLUMNS * EXCEPT (gone) STORED AS SCD TYPE 2;
"""
PYTHON = """
from pyspark import pipelines as dp

dp.create_streaming_table("some")
dp.create_auto_cdc_flow(
    "some", "spark_catalog.{0}.unequal", ["k"], "struct(s, k2)", "op = 'd'", ["k", "v", "w"],
    stored_as_scd_type="2", track_history_column_list=["v"],
)
"""
TABLES = ("last_of", "history", "some", "exploded")
COLUMNS = ("k", "k2", "s", "v", "w", "op")
ROUNDS = 2  # each is seconds of Spark's
SEVERAL = 6  # random projects of the long profile


@pytest.fixture(scope="module")
def theirs(spark, tmp_path_factory):
    with server(spark, tmp_path_factory.mktemp("server")) as started:
        yield started


def rounds(random_: random.Random, equal: bool) -> list[list[tuple]]:
    """Events, with their round; none are of equal key and sequence value in a round, or at all."""
    made, seen = [], set()
    for _ in range(ROUNDS):
        events = []
        for _ in range(14):
            key = random_.choice("abc"), random_.randrange(2), random_.randrange(20)
            at = key[::2] if equal else key
            if at not in seen:
                seen.add(at)
                values = random_.choice([None, 1, 2]), random_.choice([None, 1])
                events.append((*key, *values, random_.choice(["u", "u", "d", None])))
        if equal:
            seen.clear()
        made.append(events)
    return made


def write(folder: Path, name: str, number: int, events: list[tuple]) -> None:
    columns = {column: [event[i] for event in events] for i, column in enumerate(COLUMNS)}
    schema = pa.schema([(c, pa.string() if c in ("k", "op") else pa.int64()) for c in COLUMNS])
    (folder / name).mkdir(exist_ok=True)
    pq.write_table(pa.table(columns, schema=schema), folder / name / f"part-{number}.parquet")


def ours(project, table: str) -> tuple[list[str], list[str]]:
    rows = project.spark.table(f"{project.database}.{table}")
    return rows.columns, sorted(repr(tuple(row)) for row in rows.collect())


def test_auto_cdc(project, theirs, tmp_path):
    random_ = random.Random(43)
    folder = tmp_path / "sources"
    folder.mkdir()
    given = {"events": rounds(random_, equal=True), "unequal": rounds(random_, equal=False)}
    listed = "k STRING, k2 BIGINT, s BIGINT, v BIGINT, w BIGINT, op STRING"
    create = [
        f"CREATE TABLE spark_catalog.{project.database}.{name} ({listed}) USING parquet "
        f"LOCATION '{folder}/{name}'"
        for name in given
    ]
    theirs.ask(f"CREATE DATABASE spark_catalog.{project.database}")
    for statement in create:
        theirs.ask(statement)
    project.sql(*create)
    project.write(PYTHON.format(project.database), "definitions.py")
    sql = SQL.format(project.database)
    project.write(sql)
    spec = project.folder / "theirs.yml"
    spec.write_text(
        f"name: theirs\nstorage: file://{tmp_path}/theirs\ncatalog: {CATALOG}\ndatabase: {DATABASE}\n"
        "libraries:\n  - glob:\n      include: definitions/**\n"
    )
    for number in range(ROUNDS):
        for name, made in given.items():
            write(folder, name, number, made[number])
        status, said = theirs.run(spec)
        assert status == 0, said
        project.run(sql)
        for table in TABLES:
            assert ours(project, table) == theirs.ask(f"SELECT * FROM {CATALOG}.{DATABASE}.{table}"), table
    write(folder, "events", ROUNDS, [("a", 1, None, 1, 1, "u")])
    assert "AUTOCDC_MICROBATCH_VALIDATION.NULL_SEQUENCE" in theirs.run(spec)[1]
    with pytest.raises(Error, match=r"AUTOCDC_MICROBATCH_VALIDATION\.NULL_SEQUENCE"):
        project.run(sql)


def test_random_projects(spark, theirs, tmp_path):
    for seed in range(SEVERAL if is_long() else 1):
        made = [f"spark_catalog.{name}_{seed}" for name in ("sources", "theirs", "ours")]
        for database in made:
            theirs.ask(f"CREATE DATABASE {database}")
            spark.sql(f"CREATE DATABASE {database}")
        try:
            assert_equal(spark, theirs, seed, tmp_path / f"{seed}")
        finally:
            for database in made:
                spark.sql(f"DROP DATABASE {database} CASCADE")


def assert_equal(spark: Any, theirs: Server, seed: int, folder: Path) -> None:
    random_ = random.Random(seed)
    once = list(range(1000))
    random_.shuffle(once)
    sources = f"sources_{seed}"
    for name in READ + STREAMS:
        location = f"USING parquet LOCATION '{folder}/sources/{name}'"
        statement = f"CREATE TABLE spark_catalog.{sources}.{name} ({LISTED}) {location}"
        theirs.ask(statement)
        spark.sql(statement)
    drawn = {
        "plain": (plain(random_, sources), f"spark_catalog.theirs_{seed}"),
        "changing": (changing(random_, sources), f"{CATALOG}.theirs_{seed}"),
    }
    for name, (_, database) in drawn.items():
        write_spec(folder / name, "theirs", database)
        write_spec(folder / name, "ours", f"spark_catalog.ours_{seed}")
    for number in range(ROUNDS):
        change(random_, folder / "sources", number, once)
        for name, (definitions, database) in drawn.items():
            at = f"{folder / name}, run {number}"
            definitions.redraw()
            definitions.write(folder / name / "definitions")
            asked, options = definitions.asked(number)
            status, said = theirs.run(folder / name / "theirs.yml", *options)
            assert status == 0, f"{at}: {said}"
            with opened(spark, read_spec(str(folder / name / "ours.yml")), asked) as refresh:
                done = refresh.run(asked)
            for table in definitions.tables:
                mine, yours = f"spark_catalog.ours_{seed}.{table}", f"{database}.{table}"
                theirs.ask(f"REFRESH TABLE {yours}")  # its session remembers files
                for query in ("SELECT * FROM {}", "DESCRIBE TABLE EXTENDED {}"):
                    rows = spark.sql(query.format(mine))
                    found = rows.columns, sorted(repr(tuple(row)) for row in rows.collect())
                    made = theirs.ask(query.format(yours))
                    if query.startswith("DESCRIBE"):
                        found, made = _said(found[1]), _said(made[1])
                    assert found == made, f"{at}: {table}: {found}, not {made}"
            assert_counted(theirs, definitions, database, done, at)


def _said(described: list[str]) -> list[str]:
    """Of a table its columns, with their comments, and its own comment."""
    names = ("Comment", *TYPES, *map(str.upper, TYPES), EXTRA)
    return sorted({row for row in described if row.startswith(tuple(f"('{name}'," for name in names))})


def assert_counted(theirs: Server, made: Definitions, database: str, done: list[Done], at: str) -> None:
    """What stays though it isn't expected is what Spark's table has."""
    for one in done:
        name = one.dataset.name.split("`")[-2]
        counted = made.heads[name].counted if name in made.heads else {}
        unmet = {each.expectation: each.rows for each in one.unmet if each.dataset == one.dataset.name}
        for expectation, condition in counted.items():
            where = f"{database}.{name} WHERE NOT coalesce(({condition}), false)"
            _, (rows,) = theirs.ask(f"SELECT count(*) FROM {where}")
            assert rows == f"({unmet[expectation]},)", f"{at}: {where}: {unmet[expectation]}, not {rows}"


def write_spec(folder: Path, owner: str, database: str) -> None:
    catalog, schema = database.split(".")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{owner}.yml").write_text(
        f"name: {owner}\nstorage: file://{folder}/{owner}\ncatalog: {catalog}\nschema: {schema}\n"
        f"libraries:\n  - glob:\n      include: definitions/{owner}/**\n"
    )
