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
BAD = "CREATE VIEW refused AS SELECT relation, count(*) AS n FROM bad_rows GROUP BY relation;"
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
        file.write_bytes(file.read_bytes()[:100])
        with pytest.raises(Error, match=r"table 't' can't be read: .*t\.xlsx: can't be read"):
            p.run(once=True)
        assert p.last_step == 2


def bad(p: Pipeline) -> list[tuple[int, str, str]]:
    """Steps, the last parts of origins, and reasons."""
    rows = sorted(p["bad_rows"].rows(), key=lambda row: (row["step"], row["origin"]))
    return [(row["step"], row["origin"].partition(", ")[2], row["reason"]) for row in rows]


def test_rows_with_one_key_are_bad_until_one_is_left(spark: Any, tmp_path: Path) -> None:
    file = tmp_path / "t.xlsx"
    text = TEXT.format(file, ", sheet 'Second'") + BAD
    others: list[Any] = [None] * 4
    written(
        file, ROW, [None, 2, "b", "1.00", *others], [None, 2, "c", "x", *others], [None, 1, "a", 2, *others]
    )
    program = compile_program(text, session=spark)
    reason = "several rows have this key (id); a key has one row"
    with Pipeline(program, state=tmp_path / "state", spark=spark, runner="inline") as p:
        p.run(once=True)
        assert [row["id"] for row in p["v"].rows()] == [2]
        places = [(1, f"sheet 'Second', row {row}", reason) for row in (3, 6)]
        assert [each for each in bad(p) if each[2] == reason] == places
        assert p.run(once=True) == 0
        written(file, ROW, [None, 2, "b", "1.00", *others])
        p.run(once=True)
        assert [row["id"] for row in p["v"].rows()] == [1, 2]
        assert len(bad(p)) == 3


def test_a_cell_that_is_no_value_is_a_bad_row_once(spark: Any, tmp_path: Path, caplog: Any) -> None:
    """However often it is read again, and wherever its row is moved; until then the table is without it."""
    file = tmp_path / "t.xlsx"
    text = TEXT.format(file, ", sheet 'Second'") + BAD
    few, none = [None, 3, "c", "many", None, None, None, None], [None, None, "nobody", *[None] * 5]
    written(file, ROW, few, [None] * 8, none, [None, "one", *[None] * 6])
    program = compile_program(text, session=spark)
    told = [
        (1, "sheet 'Second', row 4", "'many' in column 'price' is no DECIMAL(10,2)"),
        (1, "sheet 'Second', row 6", "no value; a row needs one in column 'id' (BIGINT NOT NULL)"),
        (1, "sheet 'Second', row 7", "'one' in column 'id' is no BIGINT"),
    ]
    with Pipeline(program, state=tmp_path / "state", spark=spark, runner="inline") as p:
        p.run(once=True)
        assert [row["id"] for row in p["v"].rows()] == [1]
        assert bad(p) == told
        assert p["bad_rows"].rows()[0]["text"] in ('{"id":"3","name":"c","price":"many"}', '{"id":"one"}')
        assert "step 1: table 't': 3 rows are bad, and in the view bad_rows: from " in caplog.text
        assert (p.run(once=True), p.last_step) == (0, 1)
    written(file, [None, "one", *[None] * 6], ROW, few, few, [None, 3, "c", 5, None, None, None, None])
    with Pipeline(program, state=tmp_path / "state", spark=spark, runner="inline") as p:
        p.run(once=True)
        assert [(row["id"], row["price"]) for row in p["v"].rows()] == [(1, Decimal("1.10")), (3, Decimal(5))]
        assert bad(p) == [*told, (2, "sheet 'Second', row 6", told[0][-1])]
        assert p["refused"].rows() == [{"relation": "t", "n": 4}]
        file.write_bytes(file.read_bytes()[:100])
        with pytest.raises(Error, match="can't be read"):
            p.run(once=True)
        written(file, ROW, few, few)
        p.run(once=True)
        assert (p.last_step, len(bad(p))) == (3, 4)


def test_an_error_value_is_no_value(spark: Any, tmp_path: Path) -> None:
    """Not even of a STRING, nor in a row of nothing else. Beside the declared columns it says nothing."""
    file = tmp_path / "t.xlsx"
    rows = [
        ["#N/A", *ROW[1:]],
        [None, 2, "#DIV/0!", "#REF!"],
        [],
        [None, None, None, None, None, None, "#NUM!"],
    ]
    written(file, *rows)
    text = TEXT.format(file, ", sheet 'Second'")
    with Pipeline(compile_program(text, session=spark), spark=spark, runner="inline") as p:
        p.run(once=True)
        assert [row["id"] for row in p["v"].rows()] == [1]
        assert bad(p) == [
            (1, "sheet 'Second', row 4", "'#DIV/0!' in column 'name' is an error value"),
            (1, "sheet 'Second', row 6", "'#NUM!' in column 'at' is an error value"),
        ]
    failing = compile_program(text.replace("'every step'", "'every step', mode = 'fail'"), session=spark)
    with (
        Pipeline(failing, spark=spark, runner="inline") as p,
        pytest.raises(Error, match=r"t\.xlsx, sheet 'Second', row 4: '#DIV/0!' in column 'name' is an error"),
    ):
        p.run(once=True)


def test_there_may_be_no_bad_cell_or_only_so_many(spark: Any, tmp_path: Path) -> None:
    written(tmp_path / "t.xlsx", ROW, [None, "one", *[None] * 6], [None, "two", *[None] * 6])
    for more, message in (
        (", mode = 'fail'", r"'one' .*cannot be cast to .BIGINT"),
        (
            ", max_bad_rows = 1",
            r"more than max_bad_rows = 1 rows are bad.*sheet 'Second', row [45]: 'one|two'",
        ),
    ):
        text = TEXT.format(tmp_path / "t.xlsx", ", sheet 'Second'").replace(
            "'every step'", "'every step'" + more
        )
        with Pipeline(compile_program(text, session=spark), spark=spark, runner="inline") as p:
            with pytest.raises(Error, match=message):
                p.run(once=True)
            assert (p.last_step, p.queued) == (0, {})


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
