"""Error values in a sheet of Excel, as #DIV/0!: calamine reads such a cell as an empty one.

    <c r="B3" t="e"><v>#DIV/0!</v></c>

in the sheet's part of the file: ECMA-376 part 1, §18.3.1.4 and §18.18.11. A part without such a cell is only
searched for one. Files that are no .xlsx or .xlsm have none here.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import IO
from xml.etree import ElementTree
from zipfile import ZipFile, is_zipfile

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATIONS = "{http://schemas.openxmlformats.org/package/2006/relationships}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BOOK = "xl/workbook.xml"
_IS_ERROR = re.compile(rb"""\bt\s*=\s*["']e["']""")
# bytes that are searched at a time, and how much of them again with the next
_PIECE, _AGAIN = 1 << 20, 64


def error_values(content: IO[bytes], sheet: str) -> dict[tuple[int, int], str]:
    """By row and column, from 1. content: of the file. Raises BadZipFile or ParseError for what is broken."""
    if not is_zipfile(content):
        return {}
    with ZipFile(content) as book:
        part = _part(book, sheet)
        if part is None:
            return {}
        with book.open(part) as file:
            if not _has_errors(file):
                return {}
        with book.open(part) as file:
            return dict(_cells(file))


def _part(book: ZipFile, sheet: str) -> str | None:
    """Where the sheet is; None: the file has no parts of Excel's."""
    names = set(book.namelist())
    relations = posixpath.join(posixpath.dirname(_BOOK), "_rels", posixpath.basename(_BOOK) + ".rels")
    if not {_BOOK, relations} <= names:
        return None
    targets = {
        each.get("Id"): each.get("Target", "")
        for each in ElementTree.fromstring(book.read(relations)).iter(f"{_RELATIONS}Relationship")
    }
    for each in ElementTree.fromstring(book.read(_BOOK)).iter(f"{_MAIN}sheet"):
        if each.get("name") == sheet and each.get(_ID) in targets:
            part = posixpath.join("/", posixpath.dirname(_BOOK), targets[each.get(_ID)])
            return part.lstrip("/") if part.lstrip("/") in names else None
    return None


def _has_errors(file: IO[bytes]) -> bool:
    before = b""
    while piece := file.read(_PIECE):
        if _IS_ERROR.search(before + piece):
            return True
        before = piece[-_AGAIN:]
    return False


def _cells(file: IO[bytes]) -> Iterator[tuple[tuple[int, int], str]]:
    """A cell or a row without its place comes after the one before it."""
    row = column = 0
    for event, element in ElementTree.iterparse(file, ("start", "end")):
        if event == "start" and element.tag == f"{_MAIN}row":
            row, column = int(element.get("r", row + 1)), 0
        elif event == "start" and element.tag == f"{_MAIN}c":
            place = element.get("r")
            column = _column(place) if place else column + 1
        elif event == "end" and element.tag == f"{_MAIN}c":
            if element.get("t") == "e":
                yield (row, column), element.findtext(f"{_MAIN}v", "")
        elif event == "end" and element.tag == f"{_MAIN}row":
            element.clear()


def _column(place: str) -> int:
    """'AB12' is in the 28th."""
    number = 0
    for letter in place.rstrip("0123456789").upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
