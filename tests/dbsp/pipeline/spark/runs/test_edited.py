"""A file that was read and is then edited, or deleted, changes nothing: a warning names it, once."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.runs import edited
from dbsp.pipeline.spark.runs.streaming import run
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

TEXT = """
CREATE TABLE t (a INT) USING json OPTIONS (path '{0}/in'{1}) WITH (append_only = true);
CREATE VIEW v AS SELECT sum(a) AS a FROM t;
"""


def written(root: Path, **files: int) -> None:
    (root / "in").mkdir(exist_ok=True)
    for name, value in files.items():
        (root / "in" / f"{name}.json").write_text(f'{{"a": {value}}}\n')


def later(path: Path) -> None:
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime + 5))


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records if "after it was read" in record.getMessage()]
    caplog.clear()
    return [message.split(", which")[0] for message in found]


@pytest.mark.parametrize("option", ["", ", cleanSource 'DELETE'"])
def test_what_was_read_and_has_changed_is_said_at_the_next_run(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, option: str
) -> None:
    caplog.set_level(logging.WARNING)
    program = compile_program(TEXT.format(tmp_path, option), session=spark)
    with Pipeline(program, state=tmp_path / "state", spark=spark, runner="inline") as p:
        for batch in range(3):
            written(tmp_path, **{f"{name}{batch}": batch + 1 for name in "xyz"})
            p.run(once=True)
        assert said(caplog) == []
        if not option:
            for name in ("x0", "y1"):
                (tmp_path / "in" / f"{name}.json").unlink()
            written(tmp_path, z2=70)
        for path in (tmp_path / "in").glob("z*.json"):
            later(path)
        edits = len(list((tmp_path / "in").glob("z*.json")))
        p.run(once=True)
        found = said(caplog)
        if option:  # Spark deletes what it has read, sooner or later
            assert not any("deleted" in message for message in found)
        else:
            assert edits == 3
            assert len(found) == 2
            assert all(f"'{tmp_path}/in/{name}.json'" in found[0] for name in ("z0", "z1", "z2"))
            assert found[0].endswith(": edited after it was read")
            assert found[1].endswith(": deleted after it was read")
        assert p["v"].rows() == [{"a": 18}]


def test_a_run_that_goes_on_looks_again(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(edited, "_EVERY", 0.1)
    monkeypatch.setattr(edited, "_NAMED", 1)
    written(tmp_path, a=1, b=2)
    stop, found = threading.Event(), list[str]()

    class Seen(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "after it was read" in record.getMessage():
                found.append(record.getMessage())
                threading.Timer(1, stop.set).start()

    def edit(_: object) -> None:
        for name in "ab":
            later(tmp_path / "in" / f"{name}.json")

    program = compile_program(TEXT.format(tmp_path, ""), session=spark)
    handler = Seen()
    logging.getLogger("dbsp").addHandler(handler)
    try:
        with Pipeline(program, state=tmp_path / "state", spark=spark, runner="inline") as p:
            run(p, on_step=edit, stop=stop)
    finally:
        logging.getLogger("dbsp").removeHandler(handler)
    assert len(found) == 1
    assert " and 1 more: edited after it was read" in found[0]
