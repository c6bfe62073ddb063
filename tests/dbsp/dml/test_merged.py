"""MERGE and UPSERT change what DuckDB changes by the same."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from dbsp.circuits.errors import DataError
from dbsp.dml.keys import KeyThere
from dbsp.pipeline.pipeline import Pipeline
from tests.dbsp.narrow import narrow_all

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = """
CREATE TABLE stock (item STRING NOT NULL, amount INT, since DATE, PRIMARY KEY (item));
CREATE TABLE delivery (item STRING, amount INT);
CREATE TABLE log (item STRING, n BIGINT) WITH (append_only = true);
CREATE VIEW total AS SELECT sum(amount) AS amount, count(*) AS n FROM stock;
CREATE VIEW delivered AS SELECT item, sum(amount) AS amount FROM delivery GROUP BY item;
CREATE VIEW logged AS SELECT * FROM log;
"""
TABLES = """
CREATE TABLE stock (item VARCHAR PRIMARY KEY, amount INT, since DATE);
CREATE TABLE delivery (item VARCHAR, amount INT);
CREATE VIEW delivered AS SELECT item, sum(amount) AS amount FROM delivery GROUP BY item;
"""
OF_SUMS = "MERGE INTO stock t USING delivered s ON t.item = s.item "
OF_ROWS = "MERGE INTO stock t USING delivery s ON t.item = s.item "
START = [
    "INSERT INTO stock VALUES ('a', 1, NULL), ('b', 2, DATE '2024-01-02'), ('c', 3, NULL), ('d', NULL, NULL)",
    "INSERT INTO delivery VALUES ('a', 5), ('a', 5), ('c', -3), ('e', 7), ('f', 0), (NULL, 9)",
]
KEYED = [
    OF_SUMS + "WHEN MATCHED THEN UPDATE SET amount = t.amount + s.amount",
    OF_SUMS + "WHEN MATCHED AND t.amount + s.amount <= 0 THEN DELETE "
    "WHEN MATCHED THEN UPDATE SET amount = t.amount + s.amount, since = DATE '2024-05-05' "
    "WHEN NOT MATCHED AND s.amount > 0 AND s.item IS NOT NULL "
    "THEN INSERT (item, amount) VALUES (s.item, s.amount)",
    OF_SUMS + "WHEN NOT MATCHED BY SOURCE AND t.since IS NULL THEN DELETE "
    "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET amount = -1",
    OF_ROWS + "WHEN MATCHED THEN DELETE",
]
# after MERGE, what else a statement may be made of
KEYED += [
    OF_SUMS + "WHEN MATCHED AND s.amount > 1 THEN DO NOTHING WHEN MATCHED THEN DELETE "
    "WHEN NOT MATCHED AND s.item = 'f' THEN DO NOTHING "
    "WHEN NOT MATCHED AND s.item IS NOT NULL THEN INSERT (item) VALUES (s.item)",
    "MERGE INTO stock t USING (VALUES ('a', 3), ('x', 4)) AS s(item, n) ON t.item = s.item "
    "WHEN MATCHED THEN UPDATE SET amount = s.n, since = DEFAULT "
    "WHEN NOT MATCHED THEN INSERT VALUES (s.item, s.n, DEFAULT)",
    "WITH c AS (SELECT item FROM delivery WHERE amount > 0) "
    "MERGE INTO stock t USING (SELECT DISTINCT item FROM c WHERE item IS NOT NULL) s ON t.item = s.item "
    "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (item) VALUES (s.item)",
    "WITH c AS (SELECT max(item) AS item FROM delivery) "
    "INSERT INTO stock (item) SELECT 'c of ' || item FROM c",
    "WITH c AS (SELECT 'a' AS item) UPDATE stock SET amount = 9 WHERE item IN (SELECT item FROM c)",
    "WITH c AS (SELECT 'a' AS item) DELETE FROM stock WHERE item IN (SELECT item FROM c)",
    "UPDATE stock t SET amount = t.amount + s.amount FROM delivered s WHERE t.item = s.item",
    "DELETE FROM stock t USING delivery s WHERE t.item = s.item AND s.amount > 0",
    "INSERT INTO stock VALUES ('x', DEFAULT, DEFAULT), ('y', 1 + 1, NULL)",
]
BAG = [
    "MERGE INTO delivery t USING stock s ON t.item = s.item AND s.amount > 1 "
    "WHEN MATCHED THEN UPDATE SET item = 'z'",
    "MERGE INTO delivery t USING stock s ON t.item = s.item WHEN MATCHED AND s.amount > 1 THEN DELETE "
    "WHEN NOT MATCHED THEN INSERT VALUES (s.item, coalesce(s.amount, 0))",
]


@pytest.fixture(scope="module")
def opened() -> Iterator[Pipeline]:
    with Pipeline(sql=PROGRAM, runner="inline") as p:
        yield p


@pytest.fixture(params=[False, True], ids=["", "narrowed"])
def p(opened: Pipeline, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    if request.param:
        narrow_all(monkeypatch)
    opened.discard()
    for table in ("stock", "delivery"):
        opened.sql(f"TRUNCATE {table}")
    for statement in START:
        opened.sql(statement)
    opened.step()
    return opened


def rows(p: Pipeline, name: str) -> list[tuple[object, ...]]:
    return sorted((tuple(row.values()) for row in p[name].rows()), key=repr)


@pytest.mark.parametrize(
    ("table", "statement"), [*(("stock", s) for s in KEYED), *(("delivery", s) for s in BAG)]
)
def test_a_merge_changes_what_duckdb_changes(p: Pipeline, table: str, statement: str) -> None:
    database = duckdb.connect()
    database.execute(TABLES + ";".join(START))
    (expected,) = database.execute(statement).fetchall()[0]
    (count,) = p.sql(statement).rows()[0].values()
    # DuckDB counts a row for each that deletes it
    assert count == expected or statement == OF_ROWS + "WHEN MATCHED THEN DELETE"
    p.step()
    assert rows(p, table) == sorted(database.execute(f"FROM {table}").fetchall(), key=repr)
    assert rows(p, "total") == database.execute("SELECT sum(amount), count(*) FROM stock").fetchall()


def test_an_upsert_replaces_whole_rows(p: Pipeline) -> None:
    p.sql("UPSERT INTO stock (item, amount) SELECT item, 10 * amount FROM stock WHERE item < 'c'")
    p.sql("UPSERT INTO stock VALUES ('c', 0, DATE '2024-01-01')")
    p.step()
    held = [(row["item"], row["amount"], str(row["since"])) for row in p["stock"].rows()]
    assert held == [("a", 10, "None"), ("b", 20, "None"), ("c", 0, "2024-01-01"), ("d", None, "None")]


def test_a_row_is_changed_once(p: Pipeline) -> None:
    before, never = rows(p, "stock"), "MERGE INTO stock t USING delivery s ON FALSE WHEN NOT MATCHED "
    with pytest.raises(
        DataError, match="several rows of the source match the row item=a, amount=1, since=NULL"
    ):
        p.sql(OF_ROWS + "WHEN MATCHED THEN UPDATE SET amount = s.amount")
    with pytest.raises(KeyThere, match="has a row with the key item=a already"):
        p.sql(never + "AND s.amount = 7 THEN INSERT (item) VALUES ('a')")
    with pytest.raises(KeyThere, match="two of the rows have the same key"):
        p.sql(never + "THEN INSERT (item) VALUES ('x')")
    p.step()
    assert rows(p, "stock") == before


def test_what_only_grows_takes_insertions(p: Pipeline) -> None:
    p.sql("MERGE INTO log USING stock s ON log.item = s.item WHEN NOT MATCHED THEN INSERT VALUES (s.item, 1)")
    p.step()
    assert [row["item"] for row in p["logged"].rows()] == ["a", "b", "c", "d"]
    with pytest.raises(DataError, match="append-only"):
        p.sql("MERGE INTO log USING stock s ON log.item = s.item WHEN MATCHED THEN DELETE")
