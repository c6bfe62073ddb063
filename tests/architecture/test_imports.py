"""The house: imports point one way, no files and no folders form a circle, and no folder is a heap."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.architecture.imports import (
    ROOT,
    TOPS,
    Graph,
    circles,
    imported_at_run_time,
    imports_of_files,
    imports_of_folders,
    sources,
)

LARGEST_FOLDER = 14


@pytest.fixture(scope="module")
def files() -> Graph:
    return imports_of_files()


def test_imports_point_one_way(files: Graph) -> None:
    upward = [
        (str(file), str(other))
        for file, imported in files.items()
        for other in imported
        if TOPS.index(other.parts[0]) > TOPS.index(file.parts[0])
    ]
    assert upward == []


def test_no_files_form_a_circle(files: Graph) -> None:
    assert circles(files) == []


def test_no_folders_form_a_circle(files: Graph) -> None:
    assert circles(imports_of_folders(files)) == []


def test_a_circle_is_found() -> None:
    one, two, other = Path("sql/x/one.py"), Path("sql/x/two.py"), Path("sql/y/other.py")
    assert circles({one: {two, other}, two: {other}, other: set()}) == []
    assert circles({one: {two}, two: {other}, other: {two}}) == [[two, other]]
    # no file of these is in a circle, and yet their folders are
    files = {one: {other}, other: {two}, two: set[Path]()}
    assert circles(files) == []
    assert circles(imports_of_folders(files)) == [[Path("sql/x"), Path("sql/y")]]


def test_no_folder_is_a_heap() -> None:
    modules = Counter(file.parent for file in sources() if file.name != "__init__.py")
    assert {str(folder): n for folder, n in modules.items() if n > LARGEST_FOLDER} == {}


def test_only_the_folders_that_are_said_to_import_spark_do(files: Graph) -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"JVM, and only (.*?) import pyspark", text, re.DOTALL)
    importing = {
        str(file.parent)
        for file in files
        for name in imported_at_run_time(file)
        if name.split(".")[0] in ("pyspark", "py4j") and name != "pyspark.cloudpickle"
    }
    assert importing == {folder.rstrip("/") for folder in re.findall(r"`([^`]+)`", said)}
