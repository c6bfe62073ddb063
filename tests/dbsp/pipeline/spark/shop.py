"""A program of two sources and two sinks, its files, and what they come to."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program

TEXT = """
CREATE TABLE sale (product BIGINT NOT NULL, units BIGINT, at TIMESTAMP)
USING csv OPTIONS (path '{0}/sales', maxFilesPerTrigger '1') WITH (append_only = true, mode = 'fail');
CREATE TABLE product (id BIGINT, name STRING) USING json OPTIONS (path '{0}/products');
CREATE VIEW sold AS
SELECT p.name, count(*) AS sales, sum(s.units) AS units
FROM sale s JOIN product p ON s.product = p.id GROUP BY p.name;
CREATE VIEW large AS SELECT product, units FROM sale WHERE units > 100;
CREATE TABLE changelog (name STRING, sales BIGINT, units BIGINT, __weight BIGINT)
USING parquet OPTIONS (path '{0}/changelog');
INSERT INTO changelog SELECT * FROM sold;
CREATE TABLE alarms (product BIGINT, units BIGINT) USING csv OPTIONS (path '{0}/alarms', header 'true');
INSERT INTO alarms SELECT * FROM large;
"""
FILES = ["1,5,2024-01-01 10:00:00\n2,7,\n", "1,200,2024-01-01 11:00:00\n", "2,1,\n3,300,\n"]
SOLD = [{"name": "a", "sales": 2, "units": 205}, {"name": "b", "sales": 2, "units": 8}]


def sell(shop: Path, name: str) -> None:
    """Spark takes files in the order of their times."""
    file = shop / "sales" / f"{name}.csv"
    file.write_text(FILES[int(name) - 1])
    os.utime(file, (1_700_000_000 + int(name),) * 2)


@contextmanager
def opened(spark, shop, text=TEXT):
    program = compile_program(text.format(shop), session=spark)
    with Pipeline(program, state=shop / "state", spark=spark, runner="inline") as pipeline:
        yield pipeline


def changelog(spark, shop):
    """The sink, as (step, name, sales, weight)."""
    rows = spark.read.parquet(str(shop / "changelog")).collect()
    return sorted((row["__step"], row["name"], row["sales"], row["__weight"]) for row in rows)


EXPECTED = [
    (1, "a", 1, 1),
    (1, "b", 1, 1),
    (2, "a", 1, -1),
    (2, "a", 2, 1),
    (3, "b", 1, -1),
    (3, "b", 2, 1),
]
