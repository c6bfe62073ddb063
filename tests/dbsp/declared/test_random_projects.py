"""The law: after every run each table is what `spark-pipelines run` makes of the same project and sources.

Projects and changes are random. Those of AUTO CDC are of a catalogue whose tables take MERGE, where Spark
writes them; here all are Parquet.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from dbsp.declared.asked import Asked
from dbsp.declared.opening import opened
from dbsp.declared.spark.spec import read_spec
from tests.dbsp.declared.drawn import LISTED, STREAMS, TABLES, change, changing, plain
from tests.effort import is_long
from tests.servers.merging import CATALOG, Server, server

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROUNDS, SEVERAL = 2, 6  # runs of a project, each of which is seconds of Spark's; projects of the long profile


def test_tables_are_those_of_spark_pipelines(spark, tmp_path):
    (tmp_path / "server").mkdir()
    with server(spark, tmp_path / "server") as theirs:
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
    random = Random(seed)
    once = list(range(1000))
    random.shuffle(once)
    sources = f"sources_{seed}"
    for name in TABLES + STREAMS:
        location = f"USING parquet LOCATION '{folder}/sources/{name}'"
        statement = f"CREATE TABLE spark_catalog.{sources}.{name} ({LISTED}) {location}"
        theirs.ask(statement)
        spark.sql(statement)
    drawn = {
        "plain": (plain(random, sources), f"spark_catalog.theirs_{seed}"),
        "changing": (changing(random, sources), f"{CATALOG}.theirs_{seed}"),
    }
    for name, (definitions, database) in drawn.items():
        definitions.write(folder / name / "definitions")
        spec(folder / name, "theirs", database)
        spec(folder / name, "ours", f"spark_catalog.ours_{seed}")
    for number in range(ROUNDS):
        change(random, folder / "sources", number, once)
        for name, (definitions, database) in drawn.items():
            said = f"{folder / name}, run {number}"
            ran = theirs.run(folder / name / "theirs.yml")
            assert ran.returncode == 0, f"{said}: {ran.stderr}"
            with opened(spark, read_spec(str(folder / name / "ours.yml")), Asked()) as refresh:
                refresh.run(Asked())
            for table in definitions.stored:
                rows = spark.table(f"spark_catalog.ours_{seed}.{table}")
                ours = rows.columns, sorted(repr(tuple(row)) for row in rows.collect())
                theirs.ask(f"REFRESH TABLE {database}.{table}")  # its session remembers files
                assert ours == theirs.ask(f"SELECT * FROM {database}.{table}"), f"{said}: {table}"


def spec(folder: Path, owner: str, database: str) -> None:
    catalog, schema = database.split(".")
    (folder / f"{owner}.yml").write_text(
        f"name: {owner}\nstorage: file://{folder}/{owner}\ncatalog: {catalog}\nschema: {schema}\n"
        "libraries:\n  - glob:\n      include: definitions/**\n"
    )
