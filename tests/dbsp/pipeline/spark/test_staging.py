"""DataFrames as deltas: staged in the executors, refused where they don't fit."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest

from dbsp.circuits.errors import DataError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

TEXT = """
CREATE TABLE item (id BIGINT NOT NULL, name STRING, at TIMESTAMP, price DECIMAL(10, 2), PRIMARY KEY (id));
CREATE TABLE tag (id BIGINT, tags ARRAY<STRING>);
CREATE TABLE bid (id BIGINT, arrived TIMESTAMP DEFAULT now());
CREATE VIEW bids AS SELECT * FROM bid;
CREATE VIEW items AS SELECT * FROM item;
CREATE VIEW all_tags AS SELECT * FROM tag;
"""


@pytest.fixture(scope="module")
def program(spark):
    return compile_program(TEXT, session=spark)


@pytest.fixture
def p(program, spark):
    with Pipeline(program, spark=spark, runner="inline") as opened:
        yield opened


def test_columns_go_by_name_whatever_their_case_and_order(p, spark):
    p.insert(
        "item",
        spark.sql("SELECT 2.5BD PRICE, timestamp'2024-01-01 10:00:00' at, 'x' Name, 1 AS id"),
    )
    ((row, weight),) = p.step()["items"].rows()
    assert (row["id"], row["name"], str(row["price"]), weight) == (1, "x", "2.50", 1)
    assert row["at"].isoformat() == "2024-01-01T10:00:00+00:00"


def test_nested_columns_and_deletes_of_a_bag(p, spark):
    tags = spark.createDataFrame([(1, ["a", None]), (2, None)], "id long, tags array<string>")
    p.insert("tag", tags)
    assert [row for row, _ in p.step()["all_tags"].rows()] == [
        {"id": 1, "tags": ["a", None]},
        {"id": 2, "tags": None},
    ]
    p.delete("tag", tags)
    p.step()
    assert len(p["all_tags"]) == 0


def test_a_column_with_a_default_may_be_missing(p, spark):
    p.insert("bid", spark.range(2))
    changes = p.step(datetime(2024, 1, 1, 10, tzinfo=UTC))
    assert [(row["id"], row["arrived"]) for row, _ in changes["bids"].rows()] == [
        (0, changes.clock),
        (1, changes.clock),
    ]
    with pytest.raises(DataError, match="'arrived'"):
        p.delete("bid", spark.range(2))


def test_later_partitions_win_and_keys_are_enough_to_delete(p, spark):
    many = spark.range(0, 100, 1, 7).selectExpr(
        "id % 10 AS id", "cast(id AS string) AS name", "null at", "0BD price"
    )
    p.upsert("item", many)
    p.step()
    assert [row["name"] for row in p["items"].rows()] == [str(90 + i) for i in range(10)]
    p.delete("item", spark.range(1, 10))
    p.step()
    assert [row["name"] for row in p["items"].rows()] == ["90"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT 1 id", "table 'item': column 'name' is missing; columns given: id"),
        ("SELECT 1 id, 2 name, null at, 0BD price", "column 'name'"),
        ("SELECT 1 id, 'x' name, null at, 0BD price, 1 more", "unknown column 'more'"),
        (
            "SELECT if(id = 3, null, id) id, 'x' name, null at, 0BD price FROM range(9)",
            "table 'item': no value; a row needs one in column 'id'",
        ),
        ("SELECT id, 'x' name, null at, 1.234BD price FROM range(9)", "doesn't fit column 'price'"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_nothing(p, spark, query, message):
    with pytest.raises(DataError) as raised:
        p.insert("item", spark.sql(query))
    assert message in str(raised.value)
    assert "row 0" not in str(raised.value)
    assert p.queued == {}
    assert os.listdir(p.store.segments.root) == []


def test_what_was_staged_goes_with_its_step(p, spark):
    p.insert("tag", spark.createDataFrame([(1, ["a"])], "id long, tags array<string>"))
    assert p.queued == {"tag": 1}
    p.discard()
    assert os.listdir(p.store.segments.root) == []


def test_a_view_as_a_dataframe(p, spark):
    p.insert("tag", [(1, ["a"]), (1, ["a"])])
    p.step()
    frame = p["all_tags"].to_spark()
    assert frame.selectExpr("sum(id) AS total", "max(tags[0]) AS tag").collect() == [(2, "a")]
