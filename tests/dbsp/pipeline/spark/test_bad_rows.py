"""WITH (mode = 'keep'): each record of a source is a row of its table or of `bad_rows`, and none is lost."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import DataError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.bad_rows import Keeping
from dbsp.pipeline.spark.decoding import decoded
from dbsp.pipeline.spark.misread import text_of
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

TEXT = """
CREATE TABLE sale (id BIGINT NOT NULL, units INT, sold DATE)
USING {1} OPTIONS (path '{0}/sales') WITH (append_only = true, mode = 'keep'{2});
CREATE TABLE stock (id BIGINT, units INT NOT NULL, __op STRING, PRIMARY KEY (id))
USING json OPTIONS (path '{0}/stock') WITH (mode = 'keep');
CREATE VIEW sold AS SELECT id, units FROM sale;
CREATE VIEW in_stock AS SELECT * FROM stock;
CREATE VIEW refused AS SELECT relation, count(*) AS n FROM bad_rows GROUP BY relation;
CREATE TABLE bad (relation STRING, step BIGINT, origin STRING, text STRING, reason STRING)
USING json OPTIONS (path '{0}/bad');
INSERT INTO bad SELECT * FROM bad_rows;
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    for name in ("sales", "stock"):
        (tmp_path / name).mkdir()
    return tmp_path


def opened(spark: Any, shop: Path, form: str = "json", more: str = "") -> Pipeline:
    program = compile_program(TEXT.format(shop, form, more), session=spark)
    return Pipeline(program, state=shop / "state", spark=spark, runner="inline")


def bad(p: Pipeline) -> list[tuple[Any, ...]]:
    return sorted(
        (*list(row.values())[:2], Path(row["origin"]).name, row["text"]) for row in p["bad_rows"].rows()
    )


def test_none_is_lost_and_nothing_stops(spark: Any, shop: Path) -> None:
    lines = ['{"id": 1, "units": 5}', '{"id": "x", "units": 5}', '{"id": null}', '{"id": 2', '{"id": 3}']
    (shop / "sales" / "a.json").write_text("\n".join(lines) + "\n")
    records = [
        '{"id": 1, "units": 10, "__op": "I"}',
        '{"id": 2, "units": 10, "__op": "?"}',
        '{"id": 1, "units": 11, "__op": "U"}',
        '{"id": null, "units": 1, "__op": "I"}',
        '{"id": 3, "__op": "I"}',
        '{"id": 4, "units": 4, "__op": "I"}',
    ]
    (shop / "stock" / "a.json").write_text("\n".join(records) + "\n")
    with opened(spark, shop) as p:
        seen: list[Any] = []
        p.subscribe("bad_rows", lambda step, changes: seen.append((step, len(changes.rows()))))
        p.run(once=True)
        assert p["sold"].rows() == [{"id": 1, "units": 5}, {"id": 3, "units": None}]
        assert p["in_stock"].rows() == [{"id": 1, "units": 11}, {"id": 4, "units": 4}]
        assert [row[:3] for row in bad(p)[:3]] == [("sale", 1, "a.json")] * 3
        assert [row[3] for row in bad(p)[:3]] == ['{"id": "x", "units": 5}', '{"id": 2', "{}"]
        assert [json.loads(row[3])["id"] for row in bad(p)[3:]] == [2, 3, None]
        reasons = {row["text"]: row["reason"] for row in p["bad_rows"].rows()}
        assert reasons["{}"] == "no value; a row needs one in column 'id' (BIGINT NOT NULL)"
        assert reasons['{"id": 2'] == "the record is broken, or no JSON object"
        assert p["refused"].rows() == [{"relation": "sale", "n": 3}, {"relation": "stock", "n": 3}]
        assert seen == [(1, 6)]
        (shop / "sales" / "b.json").write_text('{"id": 4.5}\n')
        p.run(once=True)
        assert seen == [(1, 6), (2, 1)]
    written = spark.read.schema("relation STRING, text STRING").json(str(shop / "bad"))
    assert written.count() == 7


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_each_record_is_in_one_of_them(spark: Any, shop: Path, form: str) -> None:
    draw = random.Random(form)
    good, lines = [], []
    for number in range(3000):
        value: Any = draw.choice([number, number, number, None, "x"])
        if form == "parquet" and value == "x":
            value = None
        if isinstance(value, int):
            good.append(value)
        lines.append(value)
    if form == "csv":
        (shop / "sales" / "a.csv").write_text("".join(f"{'' if v is None else v},1,\n" for v in lines))
    elif form == "json":
        (shop / "sales" / "a.json").write_text("".join(json.dumps({"id": v}) + "\n" for v in lines))
    else:
        frame = spark.createDataFrame([(v, 1, None) for v in lines], "id BIGINT, units INT, sold DATE")
        frame.write.mode("overwrite").parquet(str(shop / "sales"))
    with opened(spark, shop, form) as p:
        p.run(once=True)
        assert [row["id"] for row in p["sold"].rows()] == good
        assert len(p["bad_rows"]) == len(lines) - len(good)


def test_there_may_be_so_many(spark: Any, shop: Path) -> None:
    (shop / "sales" / "a.json").write_text('{"id": 1}\n{"id": null}\n')
    with opened(spark, shop, more=", max_bad_rows = 2") as p:
        p.run(once=True)
        assert len(p["bad_rows"]) == 1
    (shop / "sales" / "b.json").write_text('{"id": null}\n{"id": 7}\n{"id": "x"}\n')
    with opened(spark, shop, more=", max_bad_rows = 2") as p:
        for _ in range(2):
            with pytest.raises(
                DataError, match=r"'sale': more than max_bad_rows = 2 rows are bad.*b\.json: no value"
            ):
                p.run(once=True)
        assert (p.last_step, len(p["bad_rows"])) == (1, 1)
    with opened(spark, shop, more=", max_bad_rows = 3") as p:
        p.run(once=True)
        assert len(p["sold"]) == 2


@pytest.mark.parametrize("keyed", [False, True])
def test_messages_that_can_t_be_decoded(spark: Any, keyed: bool) -> None:
    """As Kafka gives them; a key without a value is a deletion, and none of a bag."""
    key = ", PRIMARY KEY (id)" if keyed else ""
    text = f"""
    CREATE TABLE t (id INT NOT NULL, n INT{key}) USING kafka
    OPTIONS (`kafka.bootstrap.servers` 'x', subscribe 'y')
    WITH (format = 'json', mode = 'keep');
    CREATE VIEW v AS SELECT * FROM t;
    """
    table = compile_program(text, "p.sql", session=spark).tables["t"]
    values = ['{"id": 1, "n": 2}', '{"id": 1', '{"id": 2, "n": "x"}', None]
    rows = [(f'{{"id": {i}}}', value, "topic", 3, i) for i, value in enumerate(values)]
    given = spark.createDataFrame(
        rows, "key STRING, value STRING, topic STRING, partition INT, offset BIGINT"
    )
    kept = given.selectExpr(
        "CAST(key AS BINARY) key", "CAST(value AS BINARY) value", "topic", "partition", "offset"
    )
    batches = decoded(table, kept).toArrow().combine_chunks().to_batches()
    found = [row for batch in batches for row in batch.to_pylist()]
    refused = [
        one for batch in batches for one in Keeping(table, "x", text_of(table, None))._divided(batch)[1]
    ]
    assert [row["reason"] for batch in refused for row in batch.to_pylist()] == [
        "the record is broken, or no JSON object",
        "column 'n': \"x\" is no INT",
    ]
    assert [row["__bad_text"] for row in found] == [None, values[1], values[2], *([None] if keyed else [])]
    assert [row["__bad_origin"] for row in found[:3]] == [None, "offset 1 of topic-3", "offset 2 of topic-3"]
    assert (found[0]["id"], found[0]["n"]) == (1, 2)


def test_what_is_taken_back_and_isn_t_there(spark: Any, tmp_path: Path, caplog: Any) -> None:
    """Nor does a run stop for it, which is told once; nobody said that bad rows are kept."""
    (tmp_path / "in").mkdir()
    text = f"""
    CREATE TABLE sale (id BIGINT, __weight BIGINT) USING json OPTIONS (path '{tmp_path}/in');
    CREATE VIEW sold AS SELECT id FROM sale;
    """
    program = compile_program(text, session=spark)
    lines = [(1, 1), (2, -1), (1, -2), (3, 1), (3, -1)]
    (tmp_path / "in" / "a.json").write_text("".join(f'{{"id":{i},"__weight":{w}}}\n' for i, w in lines))
    with Pipeline(program, state=tmp_path / "state", spark=spark, runner="inline") as p:
        p.run(once=True)
        assert (p.last_step, p["sold"].rows()) == (1, [])
        assert [row["text"] for row in p["bad_rows"].rows()] == ['{"id": 1}', '{"id": 2}']
        (tmp_path / "in" / "b.json").write_text('{"id":2,"__weight":1}\n{"id":"x","__weight":1}\n')
        p.run(once=True)
        assert (p["sold"].rows(), len(p["bad_rows"])) == ([{"id": 2}], 3)
        p.delete("sale", [(9,)])
        with pytest.raises(DataError, match="it isn't there"):
            p.step()
    assert "table 'sale': 2 rows are bad, and in the view bad_rows: from " in caplog.text
