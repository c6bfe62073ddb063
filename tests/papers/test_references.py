"""What a note names is there: files, tests, and names `in` files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTES = sorted((ROOT / "papers").glob("*.md"))
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
IN = re.compile(r"`([\w.]+)`(?:\s+\([^)]*\))?\s+in\s+`([\w./]+)`")
TESTS = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))


def prose(note: Path) -> str:
    return FENCED.sub("", note.read_text(encoding="utf-8"))


@pytest.mark.parametrize("note", NOTES, ids=lambda path: path.stem)
def test_what_a_note_names_is_there(note: Path) -> None:
    text = prose(note)
    named = CODE.findall(text)
    paths = [name for name in named if re.fullmatch(r"[\w.]+(/[\w.]*)+", name)]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
    tests = [name for name in named if re.fullmatch(r"test_\w+", name)]
    assert [name for name in tests if f"def {name}(" not in TESTS] == []


@pytest.mark.parametrize("note", NOTES, ids=lambda path: path.stem)
def test_names_are_in_the_files_that_a_note_says(note: Path) -> None:
    wrong = []
    for name, path in IN.findall(prose(note)):
        file = ROOT / path
        last = name.rpartition(".")[2]
        if not file.is_file() or not re.search(rf"\b{last}\b", file.read_text(encoding="utf-8")):
            wrong.append(f"{name} in {path}")
    assert wrong == []
