"""Error values are where openpyxl finds them, in whatever sheet, however far out; other files have none."""

from __future__ import annotations

import io
from zipfile import ZipFile

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.rows.excel_errors import error_values

ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")
PLACES = st.tuples(st.integers(1, 9), st.sampled_from([1, 2, 26, 27, 28, 702, 703]))
CELLS = st.dictionaries(PLACES, st.sampled_from([*ERRORS, 1, 't="e"', "x & <y>", True]), max_size=5)


@pytest.mark.slow
@given(CELLS, CELLS)
def test_they_are_found(cells: dict[tuple[int, int], object], others: dict[tuple[int, int], object]) -> None:
    book = openpyxl.Workbook()
    sheets = {"One & two": cells, "Three": others}
    for name, given_ in sheets.items():
        sheet = book.create_sheet(name)
        for (row, column), value in given_.items():
            sheet.cell(row, column, value)
    content = io.BytesIO()
    book.save(content)
    for name in sheets:
        found = {
            (cell.row, cell.column): cell.value
            for row in openpyxl.load_workbook(content)[name].iter_rows()
            for cell in row
            if cell.data_type == "e"
        }
        assert error_values(content, name) == found
    assert error_values(content, "Four") == {}


def with_rows(rows: str, at: int = 0) -> io.BytesIO:
    """A file whose sheet s has these rows, of which the attribute `t ` begins at a byte of the part."""
    content, made = io.BytesIO(), io.BytesIO()
    book = openpyxl.Workbook()
    book.active.title = "s"
    book.save(content)
    head = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    padding = " " * (at - len(head) - rows.index("t ") if at else 0)
    with ZipFile(content) as old, ZipFile(made, "w") as new:
        for name in old.namelist():
            text = f"{head}{padding}{rows}</sheetData></worksheet>"
            new.writestr(name, text if name == "xl/worksheets/sheet1.xml" else old.read(name))
    return made


def test_cells_without_a_place_follow_each_other() -> None:
    """As some write them."""
    rows = "<row><c><v>1</v></c><c t ='e'><v>#N/A</v></c></row>"
    rows += "<row r='7'><c r='C7' /><c t='e'><v>#REF!</v></c></row>"
    assert error_values(with_rows(rows), "s") == {(1, 2): "#N/A", (7, 4): "#REF!"}


@pytest.mark.parametrize("before", range(7))
def test_an_attribute_may_lie_in_two_pieces_of_what_is_searched(before: int) -> None:
    made = with_rows('<row><c t = "e"><v>#N/A</v></c></row>', (1 << 20) - before)
    assert error_values(made, "s") == {(1, 1): "#N/A"}


@pytest.mark.parametrize("parts", [None, {}, {"content.xml": "<a/>"}])
def test_other_files_have_none(parts: dict[str, str] | None) -> None:
    content = io.BytesIO(b"\xd0\xcf\x11\xe0")
    if parts is not None:
        content = io.BytesIO()
        with ZipFile(content, "w") as book:
            for name, text in parts.items():
                book.writestr(name, text)
    assert error_values(content, "s") == {}
