"""A sheet is its cells, of the table's types; and a reader that a user writes in Python is a source, too."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from pyspark.sql.datasource import DataSource, DataSourceReader

from dbsp.circuits.errors import Error, ProgramError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

TEXT = """
CREATE TABLE t (
  id BIGINT, name STRING, price DECIMAL(10, 2), ratio DOUBLE, day DATE, at TIMESTAMP, done BOOLEAN,
  PRIMARY KEY (id)
) USING excel OPTIONS (path '{0}'{1}) WITH (snapshot = 'every step');
CREATE VIEW v AS SELECT * FROM t;
"""
HEAD = ["note", "ID", "Name", "price", "ratio", "day", "at", "done"]
ROW = ["x", 1, 7, 1.1, 0.1, date(2024, 2, 29), datetime(2024, 2, 29, 12, 30), True]


def written(path: Path, *rows: list[Any]) -> None:
    book = openpyxl.Workbook()
    book.active.title = "First"
    second = book.create_sheet("Second")
    for row in ([], HEAD, *rows):
        second.append(row)
    book.save(path)


def test_cells_are_values_of_the_columns(spark: Any, tmp_path: Path) -> None:
    file = tmp_path / "t.xlsx"
    text = TEXT.format(file, ", sheet 'Second'")
    written(file, ROW, [None] * 8, [None, "2", "007", "2.50", 3, None, None, False])
    with Pipeline(compile_program(text, session=spark), spark=spark, runner="inline") as p:
        p.run(once=True)
        at = datetime(2024, 2, 29, 12, 30, tzinfo=UTC)
        assert [tuple(row.values()) for row in p["v"].rows()] == [
            (1, "7", Decimal("1.10"), 0.1, date(2024, 2, 29), at, True),
            (2, "007", Decimal("2.50"), 3.0, None, None, False),
        ]
        written(file, [None, 1, *[None] * 6])
        p.run(once=True)
        assert [row["id"] for row in p["v"].rows()] == [1]
        written(file, [None, "one", *[None] * 6])
        with pytest.raises(Error, match=r"'one' .*cannot be cast to .BIGINT"):
            p.run(once=True)
        file.write_bytes(file.read_bytes()[:100])
        with pytest.raises(Error, match=r"table 't' can't be read: .*t\.xlsx: can't be read"):
            p.run(once=True)
        assert p.last_step == 2


def test_what_isn_t_there_is_said(spark: Any, tmp_path: Path) -> None:
    written(tmp_path / "t.xlsx", ROW)
    for sheet, message in (("Third", "no sheet 'Third'; sheets: First, Second"), ("First", "no column 'id'")):
        text = TEXT.format(tmp_path / "t.xlsx", f", sheet '{sheet}'")
        with (
            Pipeline(compile_program(text, session=spark), spark=spark, runner="inline") as p,
            pytest.raises(Error, match=message),
        ):
            p.run(once=True)
    streamed = TEXT.format("t.xlsx", "").replace("WITH (snapshot = 'every step')", "")
    with pytest.raises(ProgramError, match=r"excel is no stream.*snapshot = 'every step'"):
        compile_program(streamed, session=spark)


class Squares(DataSource):
    """A reader of a user's own."""

    @classmethod
    def name(cls) -> str:
        return "squares"

    def schema(self) -> str:
        return "n BIGINT, square BIGINT"

    def reader(self, schema: object) -> DataSourceReader:
        return Reader(self.options["path"])


class Reader(DataSourceReader):
    def __init__(self, path: str) -> None:
        self.path = path

    def read(self, partition: object) -> Iterator[tuple[int, int]]:
        for line in Path(self.path).read_text().split():
            yield int(line), int(line) ** 2


def test_a_reader_in_python_is_compared(spark: Any, tmp_path: Path) -> None:
    spark.dataSource.register(Squares)
    (tmp_path / "n").write_text("1 2 2")
    text = f"""
    CREATE TABLE t (n BIGINT, square BIGINT) USING squares OPTIONS (path '{tmp_path / "n"}')
    WITH (snapshot = 'every step');
    CREATE VIEW v AS SELECT sum(square) AS total FROM t;
    """
    with Pipeline(compile_program(text, session=spark), spark=spark, runner="inline") as p:
        p.run(once=True)
        assert p["v"].rows() == [{"total": 9}]
        (tmp_path / "n").write_text("2 3")
        p.run(once=True)
        assert p["v"].rows() == [{"total": 13}]
