"""A reader beside a writer."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import DamagedChunk
from dbsp.commands.query import _views
from dbsp.views.outputs import output_views
from tests.dbsp.build import pipeline, votes_program


def read(root: Path) -> dict[str, int]:
    names = output_views(votes_program())
    views = _views(votes_program(), str(root), None, "first read", names)
    return {name: len(contents) for name, contents in views}


@pytest.mark.slow
def test_what_a_writer_forgets_meanwhile_is_no_damage(tmp_path: Path, caplog: Any) -> None:
    """With keep_steps=1 the files of a step are deleted while it is looked at."""
    caplog.set_level(logging.WARNING)
    stop, failed = threading.Event(), []

    def write() -> None:
        try:
            with pipeline(tmp_path / "s", keep_steps=1) as p:
                for step in range(1, 10_000):
                    p.insert("votes", [(step, n) for n in range(10)])
                    p.insert("event", [(step, None)])
                    p.step()
                    if stop.is_set() and step > 100:
                        return
        except BaseException as error:
            failed.append(error)
            raise

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while not (tmp_path / "s" / "commits").is_dir() or not any((tmp_path / "s" / "commits").iterdir()):
            assert not failed
        for _ in range(60):
            views = read(tmp_path / "s")
            assert views["all_votes"] == 10 * views["events"]
    finally:
        stop.set()
        writer.join()
    assert not failed
    assert not caplog.records


def test_a_file_of_a_step_that_is_there_is_damage(tmp_path: Path) -> None:
    with pipeline(tmp_path / "s") as p:
        p.insert("votes", [(1, 1)])
        p.step()
    for path in (tmp_path / "s" / "segments").iterdir():
        path.unlink()
    with pytest.raises(DamagedChunk, match="is missing"):
        read(tmp_path / "s")
