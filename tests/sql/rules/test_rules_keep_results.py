"""The rules change no result: every golden program, with rules and without, against Spark SQL."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.rules import driver
from dbsp.sql.text.source import read
from dbsp.sql.text.statements.create_view import CreateView
from dbsp.sql.text.statements.statements import statements
from dbsp.testing.bags import arrow_values, same_rows
from tests.circuits.engine import Engine

GOLDEN = Path(__file__).parents[1] / "golden"

VALUES: dict[str, list[Any]] = {
    "int64": [1, 2, 3, 11, None],
    "int32": [1, 2, 3, 4, None],
    "double": [0.0, -0.0, 1.5, 12.0, float("nan"), None],
    "string": ["a", "b", "se", "xy", "", None],
    "timestamp[us, tz=UTC]": [datetime(1969, 12, 31, 23, 58) + timedelta(minutes=7 * i) for i in range(6)],
    "decimal128(10, 2)": [Decimal("1.50"), Decimal("-2.25"), None],
    "list<item: int32>": [[1], [], None],
}


def random_rows(table: Table, count: int, choose: random.Random) -> pa.RecordBatch:
    columns = []
    for field in table.schema:
        values = [v for v in VALUES[str(field.type)] if field.nullable or v is not None]
        columns.append(pa.array(choose.choices(values, k=count), field.type))
    schema = pa.schema([pa.field(field.name, field.type) for field in table.schema])
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@pytest.mark.spark
@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.sql")), ids=lambda path: path.stem)
def test_views_equal_spark_with_rules_and_without(
    path: Path, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # bags, from which rows can be taken back
    text = path.read_text().replace("PRIMARY KEY", "NOT NULL").replace("WITH (append_only = true)", "")
    text = text.replace("LOCAL VIEW", "VIEW")
    with_rules = compile_program(text, session=spark)
    monkeypatch.setattr(driver, "RULES", ())
    without = compile_program(text, session=spark)
    assert without.views != with_rules.views
    engines = []
    for name, program in (("with", with_rules), ("without", without)):
        (tmp_path / name).mkdir()
        engines.append(Engine(program.circuit, tmp_path / name))
    contents = _feed(with_rules, engines)
    expected = _spark_views(text, contents, spark)
    for view, rows in expected.items():
        for engine in engines:
            found = engine.view(view)
            assert (found.weights > 0).all(), view
            kept = found.rows.take(pa.array(np.repeat(np.arange(len(found)), found.weights)))
            difference = same_rows(arrow_values(kept), rows)
            assert difference is None, f"{view}: {difference}"


def _feed(program: Program, engines: list[Engine]) -> dict[str, pa.Table]:
    """Insert 30 rows, retract 10 of them, insert 20; each table's contents then."""
    choose = random.Random(4)
    first = {t.name: random_rows(t, 30, choose) for t in program.tables.values()}
    second = {t.name: random_rows(t, 20, choose) for t in program.tables.values()}
    for rows, start, stop, weight in ((first, 0, 30, 1), (first, 0, 10, -1), (second, 0, 20, 1)):
        deltas = {
            name: ZSet(batch.slice(start, stop - start), np.full(stop - start, weight))
            for name, batch in rows.items()
        }
        for engine in engines:
            engine.step(deltas)
    return {name: pa.Table.from_batches([first[name].slice(10), second[name]]) for name in first}


def _spark_views(text: str, contents: dict[str, pa.Table], spark: Any) -> dict[str, list[Any]]:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    for name, rows in contents.items():
        session.createDataFrame(rows).createOrReplaceTempView(name)
    found = {}
    for statement in statements(read(text, "p.sql")):
        if isinstance(statement, CreateView):
            frame = session.sql(statement.query.text)
            frame = frame.toDF(*statement.columns) if statement.columns else frame
            frame.createOrReplaceTempView(statement.name)
            found[statement.name] = arrow_values(frame.toArrow())
    return found
