"""Sheets of Excel and OpenDocument files, read whole: a snapshot of a table that people edit.

    CREATE TABLE price (product STRING, cents INT, PRIMARY KEY (product))
    USING excel OPTIONS (path 'prices.xlsx', sheet 'Current') WITH (snapshot = 'every step');

The first row that isn't empty names the columns; those that aren't declared are passed. A cell is its value
as text, which Spark casts to the column's type: so '12' and 12 are one INT. A row with a cell that is none,
or with an error value as #DIV/0!, is bad, and none of the table until it is corrected. Empty cells are NULL,
and empty rows none. A task reads the file, by calamine (`dbsp[excel]`), as a source in Python of Spark's own
kind.
"""

from __future__ import annotations

import datetime
import importlib.util
import io
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError
from zipfile import BadZipFile

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader
from pyspark.sql.functions import coalesce, col, concat, lit, struct, to_json, when

from dbsp.circuits.errors import Error, ProgramError
from dbsp.pipeline.spark.bad_rows import PLACE, marks
from dbsp.rows.binary import CORRUPT, WHY
from dbsp.rows.excel_errors import error_values
from dbsp.running.spark.intervals import quoted
from dbsp.sql.plans.program import EXCEL, Table
from dbsp.sql.plans.types import ddl
from dbsp.targets.directories import path_of

if TYPE_CHECKING:
    from pyspark.sql.types import StructType
    from python_calamine import CalamineSheet

_FORM = "dbsp_excel"
# beside the cells: what is said of an error value among them
_ERROR = "__origin_error"
_PATH, _SHEET, _KEEPS = "path", "sheet", "keeps"
# seconds after which a file is opened again that isn't whole, as while it is saved
_WAITS = (0.1, 0.3, 1.0)


def read_sheet(spark: SparkSession, table: Table, one_a_key: bool = False) -> DataFrame:
    """The sheet's rows as the table's, with MARKS where bad ones are kept. one_a_key: see `marks`.

    Raises ProgramError; and Error of what is read, when it is.
    """
    if importlib.util.find_spec("python_calamine") is None:
        what = f"table '{table.name}' USING {EXCEL} needs python-calamine: pip install 'dbsp[excel]'"
        raise ProgramError(f"{table.location}: {what}")
    spark.dataSource.register(Sheet)
    reader = spark.read.format(_FORM).option(_PATH, path_of(table)).option(_SHEET, table.option(_SHEET))
    if table.keeps_bad_rows:
        reader = reader.option(_KEEPS, "true")
    columns = [*(field.name for field in table.schema), PLACE, _ERROR]
    texts = reader.schema(", ".join(f"{quoted(name)} STRING" for name in columns)).load()
    if table.keeps_bad_rows:
        return _apart(table, texts, one_a_key)
    return texts.select(*(col(quoted(f.name)).cast(ddl(f.type)).alias(f.name) for f in table.schema))


def _apart(table: Table, texts: DataFrame, one_a_key: bool) -> DataFrame:
    """What is none of its column's type is NULL, and said in MARKS."""
    cells = [col(quoted(field.name)) for field in table.schema]
    types = [ddl(field.type) for field in table.schema]
    values = [cell.try_cast(type_) for cell, type_ in zip(cells, types, strict=True)]
    reasons = [
        when(
            cell.isNotNull() & value.isNull(),
            concat(lit("'"), cell, lit(f"' in column '{field.name}' is no {field.type_name}")),
        )
        for cell, value, type_, field in zip(cells, values, types, table.schema, strict=True)
    ]
    why = coalesce(col(_ERROR), *reasons)
    typed = [value.alias(field.name) for value, field in zip(values, table.schema, strict=True)]
    text = when(why.isNotNull(), to_json(struct(*cells)))
    frame = texts.select(*typed, text.alias(CORRUPT), why.alias(WHY), PLACE)
    own = [quoted(field.name) for field in table.schema]
    return frame.select(*own, *marks(table, frame, col(PLACE), one_a_key))


class Sheet(DataSource):  # type: ignore[misc]
    """Of texts."""

    @classmethod
    def name(cls) -> str:
        return _FORM

    def reader(self, schema: StructType) -> Cells:
        path, sheet = self.options[_PATH], self.options.get(_SHEET, "")
        return Cells(path, sheet, schema.fieldNames()[:-2], _KEEPS in self.options)


class Cells(DataSourceReader):  # type: ignore[misc]
    """path: of the file. sheet: its name; '': the first. names: of columns; PLACE and _ERROR follow.

    keeps: whether error values are said in _ERROR; else one is an error.
    """

    def __init__(self, path: str, sheet: str, names: Sequence[str], keeps: bool) -> None:
        self.path, self.sheet, self.names, self.keeps = path, sheet, names, keeps

    def read(self, partition: object) -> Iterator[pa.RecordBatch]:
        content, sheet = self._opened()
        above, left = sheet.start if sheet.start is not None else (0, 0)
        rows = enumerate(sheet.to_python(), above + 1)
        first, head = next((each for each in rows if _is_there(each[1])), (0, []))
        found = {str(cell).strip().lower(): i for i, cell in enumerate(head)}
        missing = [name for name in self.names if name.lower() not in found]
        if missing:
            listed = ", ".join(str(cell) for cell in head if cell != "") or "none"
            raise Error(f"{self.path}: no column '{missing[0]}' in the first row; columns: {listed}")
        places = [found[name.lower()] for name in self.names]
        declared = {place + left + 1: name for place, name in zip(places, self.names, strict=True)}
        errors = self._errors(content, sheet.name, first, declared)
        kept = {number: row for number, row in rows if number in errors or _is_there(row)}
        kept |= {number: [""] * len(head) for number in errors if number not in kept}  # below all others
        columns = [pa.array([_text(row[place]) for row in kept.values()], pa.string()) for place in places]
        where = [f"{self.path}, sheet '{sheet.name}', row {number}" for number in kept]
        beside = [pa.array(where, pa.string()), pa.array([*map(errors.get, kept)], pa.string())]
        yield pa.RecordBatch.from_arrays([*columns, *beside], [*self.names, PLACE, _ERROR])

    def _errors(self, content: IO[bytes], sheet: str, first: int, columns: dict[int, str]) -> dict[int, str]:
        """What is said of the first error value of each row below the first. columns: by their places from 1.

        Raises Error where one isn't kept.
        """
        try:
            found = sorted(error_values(content, sheet).items())
        except (BadZipFile, ParseError) as error:
            raise Error(f"{self.path}: can't be read: {error}") from error
        said: dict[int, str] = {}
        for (row, column), value in found:
            if row > first and column in columns:
                said.setdefault(row, f"'{value}' in column '{columns[column]}' is an error value")
        if said and not self.keeps:
            row, why = next(iter(said.items()))
            raise Error(f"{self.path}, sheet '{sheet}', row {row}: {why}")
        return said

    def _opened(self) -> tuple[IO[bytes], CalamineSheet]:
        """The file as it is now, and the sheet in it."""
        from python_calamine import CalamineError, load_workbook  # noqa: PLC0415  only who reads one has it

        for wait in (*_WAITS, None):
            try:
                content = io.BytesIO(Path(self.path).read_bytes())
                book = load_workbook(content)
                break
            except (CalamineError, OSError) as error:
                if wait is None:
                    raise Error(f"{self.path}: can't be read: {error}") from error
                time.sleep(wait)
        sheet = self.sheet or book.sheet_names[0]
        if sheet not in book.sheet_names:
            raise Error(f"{self.path}: no sheet '{sheet}'; sheets: {', '.join(book.sheet_names)}")
        return content, book.get_sheet_by_name(sheet)


def _is_there(row: Sequence[Any]) -> bool:
    return any(cell != "" for cell in row)


def _text(cell: object) -> str | None:
    """As Spark reads it back. Excel has one kind of number, a DOUBLE, of which calamine makes floats."""
    if cell == "":
        return None
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime.timedelta):
        return str(cell / datetime.timedelta(days=1))  # as in the file: of days
    return str(cell)
