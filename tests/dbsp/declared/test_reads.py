"""Whether files are read is what the step's record says, wherever a process ends."""

from __future__ import annotations

import pytest

from dbsp.declared.reads import Reads
from dbsp.pipeline.pipeline import Pipeline

SQL = "CREATE TABLE t (a BIGINT); CREATE TABLE u (a BIGINT); CREATE VIEW v AS SELECT count(*) AS n FROM t;"


class Killed(BaseException):
    pass


@pytest.fixture
def pipeline(tmp_path):
    with Pipeline(sql=SQL, state=tmp_path / "state", runner="inline") as opened:
        yield opened


def opened(pipeline, tmp_path):
    reads = Reads(tmp_path / "reads.json")
    reads.open(pipeline)
    return reads


def test_what_a_step_has_read(pipeline, tmp_path):
    reads = opened(pipeline, tmp_path)
    pipeline.insert("t", [(1,)])
    reads.step(pipeline, {"t": {"a": [1, 2]}, "gone": None})
    again = opened(pipeline, tmp_path)
    assert again.known == {"t": {"a": [1, 2]}}
    assert again.writer == reads.writer
    again.note({"u": {}})
    assert opened(pipeline, tmp_path).known == {"t": {"a": [1, 2]}}
    again.note({"u": {"b": [0, 0]}})
    assert opened(pipeline, tmp_path).known == {"t": {"a": [1, 2]}, "u": {"b": [0, 0]}}


@pytest.mark.parametrize("made", [True, False])
def test_an_end_beside_the_step(pipeline, tmp_path, monkeypatch, made):
    reads = opened(pipeline, tmp_path)
    step = pipeline.step

    def ending(**options):
        if made:
            step(**options)
        raise Killed

    monkeypatch.setattr(pipeline, "step", ending)
    pipeline.insert("t", [(1,)])
    with pytest.raises(Killed):
        reads.step(pipeline, {"t": {"a": [1, 2]}})
    assert opened(pipeline, tmp_path).known == ({"t": {"a": [1, 2]}} if made else {})
