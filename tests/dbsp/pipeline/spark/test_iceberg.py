"""After each look the table holds what the Iceberg table does, whoever has committed what to it."""

from __future__ import annotations

import random
import threading
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.types import StringType

from dbsp.circuits.errors import Error
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark import iceberg
from dbsp.pipeline.spark.runs.streaming import Run
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

ROWS = pa.schema([("id", pa.int64()), ("n", pa.int32()), ("s", pa.string())])


def settings(root: Path) -> dict[str, str]:
    return {"type": "sql", "uri": f"sqlite:///{root}/catalog.db", "warehouse": f"file://{root}/warehouse"}


def made(root: Path, schema: pa.Schema, name: str = "t") -> Any:
    catalog = load_catalog("others", **settings(root))
    catalog.create_namespace_if_not_exists("shop")
    return catalog.create_table(f"shop.{name}", schema)


def program(spark: Any, root: Path, columns: str, more: str = "") -> Any:
    options = ", ".join(f"`{n}` '{value}'" for n, value in {"catalog": "others", **settings(root)}.items())
    text = f"""
    CREATE TABLE t ({columns}) USING iceberg OPTIONS (table 'shop.t', {options})
    WITH (snapshot = 'every step'{more});
    CREATE VIEW v AS SELECT * FROM t;
    CREATE VIEW n AS SELECT count(*) AS n FROM t;
    """
    return compile_program(text, session=spark)


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id)"])
@pytest.mark.parametrize("mode", ["keep", "fail"])
def test_after_each_look_it_is_what_is_there(spark: Any, tmp_path: Path, key: str, mode: str) -> None:
    draw, there = random.Random(key), made(tmp_path, ROWS)
    columns = f"id BIGINT, S STRING, n INT{key}"
    state = tmp_path / "state"
    p = Pipeline(
        program(spark, tmp_path, columns, f", mode = '{mode}'"), state=state, spark=spark, runner="inline"
    )
    for _ in range(6):
        for _ in range(draw.randrange(3)):
            if draw.random() < 0.4:
                there.delete(f"n = {draw.randrange(3)}")
            ids = range(10) if not key else set(range(10)) - set(there.scan().to_arrow()["id"].to_pylist())
            chosen = draw.sample(sorted(ids), k=min(len(ids), draw.randrange(4)))
            rows = [{"id": i, "n": draw.randrange(3), "s": draw.choice(["a", None])} for i in chosen]
            there.append(pa.Table.from_pylist(rows, ROWS))
        if draw.random() < 0.3:
            p.close()
            p = Pipeline(p.program, state=state, spark=spark, runner="inline")
        p.run(once=True)
        found = Counter((row["id"], row["n"], row["S"]) for row in p["v"].rows())
        wanted = [(row["id"], row["n"], row["s"]) for row in there.scan().to_arrow().to_pylist()]
        assert found == Counter(wanted)
    p.close()


def test_a_snapshot_is_read_once_unless_others_change_the_table(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, read = made(tmp_path, ROWS), []
    frame, since = iceberg.Look.frame, iceberg.Look.since
    monkeypatch.setattr(
        iceberg.Look, "frame", lambda look, spark: read.append(look.version) or frame(look, spark)
    )
    monkeypatch.setattr(
        iceberg.Look, "since", lambda look, *then: read.append(look.version) or since(look, *then)
    )
    with Pipeline(program(spark, tmp_path, "id BIGINT, n INT"), spark=spark, runner="inline") as p:
        run = Run(p, None, threading.Event())
        for _ in range(3):
            run.steps.compare()
        assert len(read) == 1
        there.append(pa.Table.from_pylist([{"id": 1, "n": 1}], ROWS))
        run.steps.compare()
        run.steps.compare()
        assert (len(read), p["n"].rows()) == (2, [{"n": 1}])
        p.insert("t", [(7, 7)])
        p.step()
        run.steps.compare()
        assert (len(read), p["v"].rows()) == (3, [{"id": 1, "n": 1}])
        there.append(pa.Table.from_pylist([{"id": 2, "n": None}], ROWS))
        monkeypatch.setattr(p, "step", lambda: (_ for _ in ()).throw(Error("not made")))
        with pytest.raises(Error, match="not made"):
            run.steps.compare()
        monkeypatch.undo()
        run.steps.compare()
        assert len(p["v"].rows()) == 2


@pytest.mark.parametrize("mode", ["keep", "fail"])
def test_of_two_snapshots_only_other_files_are_read(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Rows come, go and are written anew, some of them bad; columns change. Each look is what is there."""
    draw, there, read = random.Random(mode), made(tmp_path, ROWS), []
    rows_of = iceberg.Look._rows
    monkeypatch.setattr(
        iceberg.Look, "_rows", lambda look, s, files: read.append(len(files)) or rows_of(look, s, files)
    )
    columns = "id BIGINT NOT NULL, s STRING, n INT"
    options = {"spark": spark, "runner": "inline"}
    with Pipeline(program(spark, tmp_path, columns, f", mode = '{mode}'"), **options) as p:
        run = Run(p, None, threading.Event())
        partly, whole = 0, 0
        for look in range(14):
            for _ in range(draw.randrange(1, 4)):
                rows = [{"id": draw.randrange(5), "n": draw.randrange(3), "s": "a"} for _ in range(2)]
                change = draw.random()
                if change < 0.3:
                    there.delete(f"n = {draw.randrange(3)}")
                elif change < 0.4:
                    there.overwrite(there.scan().to_arrow())  # as a compaction does
                elif mode == "keep" and change < 0.5:
                    there.append(pa.Table.from_pylist([{"id": None, "n": 7}], ROWS))
                else:
                    there.append(pa.Table.from_pylist(rows, ROWS))
            if look == 9:
                with there.update_schema() as changing:
                    changing.delete_column("s")
                with there.update_schema() as changing:
                    changing.add_column("s", StringType())
            read.clear()
            run.steps.compare()
            partly, whole = (partly + 1, whole) if len(read) == 2 else (partly, whole + 1)
            wanted = [(row["id"], row["n"], row["s"]) for row in there.scan().to_arrow().to_pylist()]
            found = Counter((row["id"], row["n"], row["s"]) for row in p["v"].rows())
            assert found == Counter(row for row in wanted if row[0] is not None), look
            bad = [row for row in wanted if row[0] is None]
            assert len(p["bad_rows"].rows()) >= len(bad) if mode == "keep" else not bad
        assert partly > 3 and whole
        run.steps.compare()
        ahead = len(there.scan().to_arrow())
        there.append(pa.Table.from_pylist([{"id": 9, "n": 9}], ROWS))
        read.clear()
        run.steps.compare()
        assert read == [1, 0] and p["n"].rows()[0]["n"] <= ahead + 1


def test_values_of_every_type_are_as_they_are_there(spark: Any, tmp_path: Path) -> None:
    moment = datetime(2024, 2, 29, 12, 0, 0, 123456)
    values: dict[str, tuple[pa.DataType, str, Any]] = {
        "b": (pa.bool_(), "BOOLEAN", True),
        "i": (pa.int32(), "TINYINT", -128),
        "l": (pa.int64(), "BIGINT", 2**63 - 1),
        "f": (pa.float32(), "FLOAT", 1.5),
        "d": (pa.float64(), "DOUBLE", float("-inf")),
        "n": (pa.decimal128(38, 9), "DECIMAL(38, 9)", Decimal("1.000000001")),
        "s": (pa.string(), "STRING", "é\x00😀"),
        "x": (pa.binary(), "BINARY", b"\x00\xff"),
        "day": (pa.date32(), "DATE", date(1582, 10, 10)),
        "at": (pa.timestamp("us", tz="UTC"), "TIMESTAMP", moment.replace(tzinfo=UTC)),
        "local": (pa.timestamp("us"), "TIMESTAMP_NTZ", moment),
        "a": (pa.list_(pa.string()), "ARRAY<STRING>", ["a", None]),
        "r": (pa.struct([("x", pa.int32())]), "STRUCT<x: INT>", {"x": None}),
    }
    schema = pa.schema([(name, type_) for name, (type_, _, _) in values.items()])
    rows = [{name: value for name, (_, _, value) in values.items()}, dict.fromkeys(values)]
    made(tmp_path, schema).append(pa.Table.from_pylist(rows, schema))
    columns = ", ".join(f"{name} {type_}" for name, (_, type_, _) in values.items())
    with Pipeline(program(spark, tmp_path, columns), spark=spark, runner="inline") as p:
        p.run(once=True)
        assert sorted(p["v"].rows(), key=repr) == sorted(rows, key=repr)


def test_what_is_no_row_is_a_bad_row_once(spark: Any, tmp_path: Path) -> None:
    there = made(tmp_path, ROWS)
    there.append(pa.Table.from_pylist([{"id": 1, "n": 1}, {"id": None, "n": 2}, {"id": 3}, {"id": 3}], ROWS))
    with Pipeline(
        program(spark, tmp_path, "id BIGINT PRIMARY KEY, n INT"), spark=spark, runner="inline"
    ) as p:
        for _ in range(2):
            p.run(once=True)
            assert p["v"].rows() == [{"id": 1, "n": 1}]
            assert sorted(row["reason"][:12] for row in p["bad_rows"].rows()) == [
                "no value; a ",
                "several rows",
                "several rows",
            ]


def test_what_is_not_there_is_said(spark: Any, tmp_path: Path) -> None:
    cases = {"id INT": r"table 't' can't be read: .*shop\.t", "x INT": "no column 'x' there; columns: id"}
    for columns, error in cases.items():
        with (
            Pipeline(program(spark, tmp_path, columns), spark=spark, runner="inline") as p,
            pytest.raises(Error, match=error),
        ):
            p.run(once=True)
        if columns == "id INT":
            made(tmp_path, ROWS)
