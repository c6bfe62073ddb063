"""Columns of INTERVAL YEAR TO MONTH from end to end: rows, replay files, Spark's files, Python functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dbsp
from dbsp.circuits.errors import DataError, ProgramError
from dbsp.commands.query import query_state
from dbsp.commands.replays.files import queue, read_file
from dbsp.commands.shown.changelog import json_lines
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

TEXT = """
CREATE TABLE plan (id BIGINT NOT NULL, length INTERVAL YEAR TO MONTH, whole INTERVAL YEAR,
    parts ARRAY<INTERVAL MONTH>, more MAP<STRING, STRUCT<y: INTERVAL MONTH>>, PRIMARY KEY (id));
CREATE TABLE start (at DATE, due INTERVAL YEAR TO MONTH DEFAULT INTERVAL '1-1' YEAR TO MONTH);
CREATE VIEW plans AS SELECT id, length, whole, parts, more FROM plan;
CREATE VIEW spelled AS SELECT id, CAST(length AS STRING) AS l, CAST(whole AS STRING) AS w FROM plan;
CREATE VIEW ends AS SELECT at + due AS at, due FROM start;
CREATE VIEW total AS SELECT sum(length) AS s, max(whole) AS w FROM plan;
"""


def months(n: int) -> Any:
    return pa.MonthDayNano([n, 0, 0])


@pytest.fixture(scope="module")
def program(spark: Any) -> Any:
    return compile_program(TEXT, session=spark)


def test_rows_in_and_out(program: Any, spark: Any) -> None:
    with Pipeline(program, runner="inline", spark=spark) as p:
        more = {"k": {"y": months(5)}, "n": None}
        p.upsert("plan", [{"id": 1, "length": 14, "whole": months(24), "parts": [1, None], "more": more}])
        p.upsert("plan", [{"id": 2, "length": months(-25)}])
        p.insert("start", [{"at": None}])
        changes = p.step()
        first, second = p["plans"].rows()
        assert first["length"] == months(14)
        assert first["parts"] == [months(1), None]
        assert first["more"] == [("k", {"y": months(5)}), ("n", None)]
        assert second == {"id": 2, "length": months(-25), "whole": None, "parts": None, "more": None}
        assert changes["spelled"].rows() == [
            ({"id": 1, "l": "INTERVAL '1-2' YEAR TO MONTH", "w": "INTERVAL '2' YEAR"}, 1),
            ({"id": 2, "l": "INTERVAL '-2-1' YEAR TO MONTH", "w": None}, 1),
        ]
        assert changes["ends"].rows() == [({"at": None, "due": months(13)}, 1)]
        assert p["total"].rows() == [{"s": months(-11), "w": months(24)}]
        table = p["plans"].to_arrow()
        assert table.schema.field("length").type == pa.month_day_nano_interval()
        frame = p["plans"].to_spark()
        assert frame.schema["length"].dataType.simpleString() == "interval year to month"
        shown = frame.selectExpr("string(length)", "string(parts[0])", "string(more['k'].y)").collect()
        assert set(map(tuple, shown)) == {
            ("INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '0-1' YEAR TO MONTH", "INTERVAL '0-5' YEAR TO MONTH"),
            ("INTERVAL '-2-1' YEAR TO MONTH", None, None),
        }
        p.upsert("plan", table)
        assert all(not len(view) for view in p.step().views.values())
        p.upsert("plan", frame)
        assert all(not len(view) for view in p.step().views.values())
        with pytest.raises(DataError, match=r"column 'length' \(INTERVAL YEAR TO MONTH\).*give an int"):
            p.upsert("plan", [(3, "1-2", None, None, None)])


def test_replay(program: Any, spark: Any) -> None:
    lines = """
    {"table": "plan", "upsert": {"id": 1, "length": 14, "whole": "2-0", "parts": ["0-1", -25], "more": null}}
    {"table": "plan", "upsert": {"id": 2, "length": "-1-2", "whole": null, "parts": null, "more": null}}
    """
    statements = """
    UPSERT INTO plan VALUES
        (1, INTERVAL '1-2' YEAR TO MONTH, INTERVAL 2 YEARS, ARRAY(1, INTERVAL '-25' MONTH), NULL);
    UPSERT INTO plan VALUES (2, INTERVAL -'1-2' YEAR TO MONTH, NULL, NULL, NULL);
    """
    printed = []
    for name, text in (("d.jsonl", lines), ("d.sql", statements)):
        with Pipeline(program, runner="inline", spark=spark) as p:
            for step in read_file(text, name, p.program):
                queue(p, step)
            printed.append(list(json_lines(p.step())))
    assert printed[0] == printed[1]
    assert '"length": 14, "whole": 24, "parts": [1, -25]' in printed[0][0]
    assert '"length": -14,' in printed[0][1]


@pytest.mark.parametrize("form", ["json", "csv", "parquet"])
def test_files_to_files(spark: Any, tmp_path: Path, form: str) -> None:
    given = "id BIGINT, y INTERVAL YEAR TO MONTH"
    spark.sql("SELECT id, make_ym_interval(0, int(id) * 7 - 10) AS y FROM range(5)").write.format(form).save(
        f"{tmp_path}/in"
    )
    text = f"""
    CREATE TABLE source ({given}) USING {form} OPTIONS (path '{tmp_path}/in') WITH (append_only = true);
    CREATE VIEW doubled AS SELECT id, y * 2 AS y FROM source WHERE y > INTERVAL -1 YEAR;
    CREATE TABLE target ({given}) USING {form} OPTIONS (path '{tmp_path}/out');
    INSERT INTO target SELECT * FROM doubled;
    """
    with Pipeline(sql=text, state=tmp_path / "state", spark=spark) as p:
        p.run(once=True)
    read = spark.read.format(form).schema(given).load(f"{tmp_path}/out").selectExpr("id", "string(y)")
    wanted = spark.sql("SELECT id, string(make_ym_interval(0, int(id) * 7 - 10) * 2) FROM range(5)")
    assert sorted(read.collect()) == sorted(wanted.collect())
    (line,) = query_state(str(tmp_path / "state"), "SELECT max(y) AS y FROM doubled", None, "json")
    assert line == '{"y": 36}'


def test_python_functions(spark: Any) -> None:
    @dbsp.udf(returns="INTERVAL YEAR TO MONTH", arguments=["INTERVAL YEAR TO MONTH"])
    def same(values: pa.Array) -> pa.Array:
        assert values.type == pa.month_day_nano_interval()
        return pc.take(values, pa.array(range(len(values))))

    text = "CREATE TABLE t (y INTERVAL YEAR TO MONTH); CREATE VIEW v AS SELECT same(y) AS y FROM t"
    with Pipeline(sql=text, runner="inline", spark=spark, functions=[same]) as p:
        p.insert("t", [(14,), (None,)])
        p.step()
        assert p["v"].rows() == [{"y": None}, {"y": months(14)}]


def test_no_lateness(spark: Any) -> None:
    with pytest.raises(ProgramError, match="a column of type INTERVAL YEAR TO MONTH can't have LATENESS"):
        text = "CREATE TABLE t (y INTERVAL YEAR TO MONTH LATENESS 1); CREATE VIEW v AS TABLE t"
        compile_program(text, session=spark)
