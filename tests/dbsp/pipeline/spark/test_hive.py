"""A table of Hive's metastore, in a Derby of the test's own: after each look it is what is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

# a session has one catalogue for as long as its process lives
SCRIPT = """
import shutil, sys, threading
from collections import Counter
from pathlib import Path
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.runs.streaming import Run
from dbsp.running.spark.session import session
from dbsp.running.spark.settings import Settings

root = Path(sys.argv[1])
spark = session(settings=Settings(conf={
    "spark.sql.catalogImplementation": "hive",
    "spark.sql.warehouse.dir": str(root / "warehouse"),
    "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={root}/metastore;create=true",
}))
spark.sql("CREATE DATABASE shop")
spark.sql("CREATE TABLE shop.price (product STRING, cents INT) PARTITIONED BY (day DATE) STORED AS ORC")
spark.sql("CREATE TABLE shop.keyed (id BIGINT, name STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY ','")
text = '''
CREATE TABLE price (product STRING, cents INT, day DATE)
USING hive OPTIONS (table 'shop.price') WITH (snapshot = 'every step');
CREATE TABLE keyed (id BIGINT PRIMARY KEY, name STRING)
USING hive OPTIONS (table 'shop.keyed') WITH (snapshot = 'every step');
CREATE VIEW prices AS SELECT * FROM price;
CREATE VIEW names AS SELECT * FROM keyed;
'''

def same(p):
    for view, there in (("prices", "shop.price"), ("names", "shop.keyed")):
        rows = [tuple(row.asDict().items()) for row in spark.sql(f"SELECT * FROM {there}").collect()]
        assert Counter(tuple(row.items()) for row in p[view].rows()) == Counter(rows), (view, rows)
        assert rows or p.last_step == 0

with Pipeline(sql=text, state=root / "state", spark=spark) as p:
    run = Run(p, None, threading.Event())
    def change(*statements):
        for statement in statements:
            spark.sql(statement)
        run.steps.compare()
        same(p)
    change()
    change("INSERT INTO shop.price VALUES ('tea', 300, DATE '2024-01-01'), ('tea', 300, DATE '2024-01-01')",
           "INSERT INTO shop.price VALUES ('milk', NULL, DATE '2024-01-02')",
           "INSERT INTO shop.keyed VALUES (1, 'a'), (2, NULL)")
    change("INSERT OVERWRITE shop.price PARTITION (day = DATE '2024-01-02') VALUES ('oil', 5)",
           "INSERT OVERWRITE shop.keyed VALUES (2, 'b'), (3, 'c')")
    (file, *_) = (root / "warehouse").glob("shop.db/price/day=2024-01-02/[!_.]*")
    shutil.copy(file, file.with_name("another"))  # by nobody that this Spark knows
    run.steps.compare()
    assert sum(row["product"] == "oil" for row in p["prices"].rows()) == 2
    same(p)
    change("ALTER TABLE shop.price DROP PARTITION (day = DATE '2024-01-01')")
    assert p.last_step == 4
print("equal")
"""


def test_after_each_look_it_is_what_is_there(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    made = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, text=True)
    assert made.stdout.endswith("equal\n"), made.stderr[-3000:]
