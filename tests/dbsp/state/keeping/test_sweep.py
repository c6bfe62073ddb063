"""What is given to a sweep is deleted, and nothing else; what can't be, is tried again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dbsp.circuits.segments.segments import Segments
from dbsp.state.keeping.sweep import Sweep
from dbsp.state.records.places import delete


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("1-a.seg", "1-b.seg", "2-a.seg"):
        (tmp_path / name).write_bytes(b"x")
    return tmp_path


def test_only_what_was_named_goes(root: Path) -> None:
    sweep = Sweep(Segments(root))
    sweep.now(["1-a.seg", "never.seg"])
    assert sorted(os.listdir(root)) == ["1-b.seg", "2-a.seg"]
    sweep.add(["1-b.seg"])
    sweep.now(["never.seg"])
    assert sorted(os.listdir(root)) == ["1-b.seg", "2-a.seg"]  # until a step is made, and then beside it
    sweep.beside()
    sweep.close()
    assert os.listdir(root) == ["2-a.seg"]


def test_an_attempt_goes_by_the_beginning_of_its_names(root: Path) -> None:
    sweep = Sweep(Segments(root))
    sweep.attempt("1-")
    assert os.listdir(root) == ["2-a.seg"]
    sweep.close()


def test_what_can_t_be_deleted_is_tried_again(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    sweep = Sweep(Segments(root))
    (root / "1-a.seg").unlink()
    (root / "1-a.seg").mkdir()  # unlink refuses it
    sweep.now(["1-a.seg", "1-b.seg"])
    assert sorted(os.listdir(root)) == ["1-a.seg", "2-a.seg"]
    assert "1-a.seg: can't be deleted" in caplog.text
    (root / "1-a.seg").rmdir()
    (root / "1-a.seg").write_bytes(b"x")
    sweep.beside()
    sweep.close()
    assert os.listdir(root) == ["2-a.seg"]


def test_what_is_gone_counts_as_deleted(root: Path) -> None:
    assert delete(root / "never.seg")
    assert delete(root / "2-a.seg")
    assert not (root / "2-a.seg").exists()
