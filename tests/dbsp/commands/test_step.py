"""`dbsp step`: what is printed, compared and written are the same lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbsp.circuits.errors import DataError
from dbsp.commands.step import compare, print_lines, write_lines


def test_what_is_accepted_is_what_is_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "e")
    write_lines(["ä", "b"], path)
    assert compare(["ä", "b"], path) == ""
    print_lines(["ä", "b"])
    assert capsys.readouterr().out == Path(path).read_text(encoding="utf-8") == "ä\nb\n"


def test_a_difference_is_a_diff_from_what_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.write_text("a\nb\n")
    assert compare(["a", "c"], str(path)).splitlines() == [
        f"--- {path}", "+++ output", "@@ -1,2 +1,2 @@", " a", "-b", "+c",
    ]  # fmt: skip
    path.write_text("a\nb")
    assert compare(["a", "b"], str(path)).splitlines()[-3:] == ["-b", "\\ No newline at end of file", "+b"]


def test_files_that_can_t_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none: can't read what is expected: No such file.*; make it with"):
        compare([], str(tmp_path / "none"))
    with pytest.raises(DataError, match="can't be written: Is a directory"):
        write_lines([], str(tmp_path))


def test_what_can_t_be_written_whole_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.write_text("before")

    def lines():  # type: ignore[no-untyped-def]
        yield "a"
        raise DataError("step 2")

    with pytest.raises(DataError, match="step 2"):
        write_lines(lines(), str(path))
    assert path.read_text() == "before"
