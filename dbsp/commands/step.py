"""`dbsp step`: the lines of a replay's changelog, printed, expected or written."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from pathlib import Path

from dbsp.circuits.errors import DataError


def print_lines(lines: Iterable[str]) -> None:
    """To stdout, as they come."""
    for line in lines:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()


def compare(lines: Iterable[str], path: str) -> str:
    """A unified diff from what a file expects to what there is; empty if they are the same."""
    try:
        expected = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"{path}: can't read what is expected: {error.strerror}; make it with --accept"
        ) from None
    actual = "".join(line + "\n" for line in lines)
    if actual == expected:
        return ""
    found = difflib.unified_diff(
        expected.splitlines(keepends=True), actual.splitlines(keepends=True), path, "output"
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found
    )


def write_lines(lines: Iterable[str], path: str) -> None:
    """All lines, or the file as it was."""
    text = "".join(line + "\n" for line in lines)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: can't be written: {error.strerror}") from None
