"""A project to begin with: its files, and nobody's overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbsp.circuits.errors import Error
from dbsp.commands.starter import FILES, write_project


def test_it_is_written_and_says_how_to_go_on(tmp_path: Path) -> None:
    project = tmp_path / "a" / "new"
    said = write_project(project)
    assert {path.name: path.read_text(encoding="utf-8") for path in project.iterdir()} == FILES
    assert said[0] == f"wrote program.sql, deltas.sql, expected.jsonl to {project}"
    assert said[2].endswith(
        f"dbsp step {project}/program.sql {project}/deltas.sql --expect {project}/expected.jsonl"
    )


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_that_is_there_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(Error, match=rf"{name}: exists already; use an empty directory"):
        write_project(tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "mine")]


def test_a_place_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Error, match="file/below: can't be written: Not a directory"):
        write_project(tmp_path / "file" / "below")
