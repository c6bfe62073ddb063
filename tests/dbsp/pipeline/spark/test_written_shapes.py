"""What a sink holds of each kind of relation, and which sinks fit none."""

from __future__ import annotations

import json
import os

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program
from tests.dbsp.pipeline.spark.shop import opened

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("(n BIGINT)", "declare a column __weight BIGINT in 'out'"),
        ("(n BIGINT, __weight INT)", "column '__weight' of 'out' is written as BIGINT"),
        ("(n BIGINT, m BIGINT, __weight BIGINT)", "the query has 1 columns, table 'out' has 2: n, m"),
        ("(n STRING, __weight BIGINT)", "CAST it"),
    ],
)
def test_a_sink_that_does_not_fit_is_refused_by_the_compiler(spark, target, message):
    text = f"""
    CREATE TABLE t (a BIGINT); CREATE VIEW v AS SELECT count(*) AS n FROM t GROUP BY a;
    CREATE TABLE out {target} USING parquet OPTIONS (path 'x'); INSERT INTO out SELECT * FROM v;
    """
    with pytest.raises(ProgramError) as raised:
        compile_program(text, session=spark)
    assert message in str(raised.value)


SHAPES = """
CREATE TABLE sale (product BIGINT NOT NULL, units BIGINT, at TIMESTAMP)
USING csv OPTIONS (path '{0}/sales', maxFilesPerTrigger '1');
CREATE VIEW sold AS SELECT product, count(*) AS n FROM sale WHERE units < 100 GROUP BY product;
CREATE TABLE latest (n BIGINT, note STRING, product BIGINT PRIMARY KEY, __op STRING, __step BIGINT)
USING parquet OPTIONS (path '{0}/latest');
INSERT INTO latest (product, n) SELECT * FROM sold;
CREATE TABLE operations (n BIGINT, __op STRING) USING parquet OPTIONS (path '{0}/operations');
INSERT INTO operations SELECT n FROM sold;
CREATE TABLE rows (product BIGINT) USING parquet OPTIONS (path '{0}/rows') WITH (changelog = 'append');
CREATE STREAM visit (product BIGINT) USING csv OPTIONS (path '{0}/visits', maxFilesPerTrigger '1');
INSERT INTO rows SELECT STREAM product FROM visit;
"""


def test_every_shape_of_a_changelog(spark, shop):
    (shop / "visits").mkdir()
    (shop / "visits" / "1.csv").write_text("7\n7\n8\n")
    with opened(spark, shop, SHAPES) as p:
        p.run(once=True)
        p.delete("sale", [{"product": 2, "units": 7, "at": None}])
        p.insert("sale", [{"product": product, "units": 1, "at": None} for product in (1, 4, 5)])
        p.step()
    names = ("__step", "product", "n", "note", "__op")
    latest = spark.read.parquet(str(shop / "latest")).collect()
    assert sorted(tuple(row[name] for name in names) for row in latest) == [
        (1, 1, 1, None, "I"),
        (1, 2, 1, None, "I"),
        (3, 1, 2, None, "U"),
        (3, 2, None, None, "D"),
        (3, 4, 1, None, "I"),
        (3, 5, 1, None, "I"),
    ]
    operations = spark.read.parquet(str(shop / "operations")).collect()
    assert sorted((row["__step"], row["n"], row["__op"]) for row in operations) == [
        (1, 1, "I"),
        (1, 1, "I"),
        (3, 2, "I"),
    ]
    rows = spark.read.parquet(str(shop / "rows")).collect()
    assert sorted((row["__step"], row["product"]) for row in rows) == [(1, 7), (1, 7), (1, 8)]


LATE = """
CREATE TABLE sale (product BIGINT, units BIGINT, at TIMESTAMP LATENESS INTERVAL 1 HOUR)
USING csv OPTIONS (path '{0}/timed', maxFilesPerTrigger '1');
CREATE TABLE rejected (at_step BIGINT, sale STRING) USING json OPTIONS (path '{0}/rejected');
INSERT INTO rejected SELECT step, row FROM late_rows WHERE relation = 'sale';
CREATE TABLE all_rejected (relation STRING, `row` STRING, reason STRING) USING csv OPTIONS (path '{0}/all');
INSERT INTO all_rejected (reason, `row`, relation) SELECT reason, row, relation FROM late_rows;
"""


def test_late_rows_go_to_a_sink(spark, shop):
    (shop / "timed").mkdir()
    for name, rows in (("1", ["1,5,2024-03-01 10:00:00"]), ("2", ["2,6,2024-03-01 08:30:00"] * 2)):
        (shop / "timed" / f"{name}.csv").write_text("\n".join(rows) + "\n")
        os.utime(shop / "timed" / f"{name}.csv", (1_700_000_000 + int(name),) * 2)
    with opened(spark, shop, LATE) as p:
        p.run(once=True)
    late = {"product": 2, "units": 6, "at": "2024-03-01T08:30:00Z"}
    rejected = [
        (row["at_step"], json.loads(row["sale"])) for row in spark.read.json(f"{shop}/rejected").collect()
    ]
    assert rejected == [(2, late), (2, late)]
    rows = spark.read.csv(f"{shop}/all").collect()
    assert [(row[0], row[2]) for row in rows] == [("sale", "late")] * 2


FINAL = """
CREATE STREAM sale (id BIGINT, at TIMESTAMP LATENESS INTERVAL 1 MINUTE) USING csv OPTIONS (path '{0}/timed');
CREATE TABLE out (until TIMESTAMP, n BIGINT) USING parquet OPTIONS (path '{0}/final');
INSERT INTO out SELECT STREAM window.end, count(*) FROM sale GROUP BY window(at, '10 minutes');
"""


def test_a_run_over_what_is_there_now_does_not_end_a_stream(spark, shop):
    (shop / "timed").mkdir()
    for name, minutes in (("a", ("06", "12", "13")), ("b", ("14", "19", "22"))):
        (shop / "timed" / f"{name}.csv").write_text("".join(f"1,2024-03-01 10:{m}:00\n" for m in minutes))
        with opened(spark, shop, FINAL) as p:
            p.run(once=True)
    written = spark.read.parquet(str(shop / "final")).collect()
    found = sorted((r["__step"], r["until"].strftime("%H:%M"), r["n"]) for r in written)
    assert found == [(1, "10:10", 1), (2, "10:20", 4)]


EMITTED = """
CREATE TABLE sale (id BIGINT, product BIGINT, at TIMESTAMP) USING csv OPTIONS (path '{0}/timed');
CREATE TABLE out (until TIMESTAMP, n BIGINT, __weight BIGINT, __state STRING)
  USING parquet OPTIONS (path '{0}/emitted');
CREATE VIEW counted AS SELECT window.end AS until, count(*) AS n FROM sale GROUP BY window(at, '10 minutes')
  EMIT (FIRST RESULT OFFSET -INTERVAL 5 MINUTES, UPDATE RATE 1 ROW, RESULT STATE FLAG);
INSERT INTO out SELECT * FROM counted;
"""


def test_the_end_of_the_sources_emits_what_was_held_back(spark, shop):
    (shop / "timed").mkdir()
    rows = ["1,1,2024-03-01 10:06:00", "2,1,2024-03-01 10:12:00", "3,1,2024-03-01 10:13:00"]
    (shop / "timed" / "a.csv").write_text("\n".join(rows) + "\n")
    with opened(spark, shop, EMITTED) as p:
        assert p.run(once=True) == 2
        assert p.run(once=True) == 0
    written = spark.read.parquet(str(shop / "emitted")).collect()
    found = sorted(
        (r["__step"], r["until"].strftime("%H:%M"), r["n"], r["__state"], r["__weight"]) for r in written
    )
    assert found == [(1, "10:10", 1, "final", 1), (2, "10:20", 2, "final", 1)]
