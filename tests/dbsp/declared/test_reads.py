"""Whether files are read is what the step's record says, wherever a process ends."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.errors import StateError
from dbsp.declared.project.datasets import STREAMING_TABLE
from dbsp.declared.reads import Reads
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import program, table, view
from tests.dbsp.declared.made import dataset, flow, project

FIELDS = (Field("a", pa.int64()),)
PROGRAM = program([table("t", FIELDS), table("u", FIELDS)], [view("v", Scan("t", FIELDS))])
OTHER = program([table("u", FIELDS)], [view("w", Scan("u", FIELDS))], fingerprint="f2")


class Killed(BaseException):
    pass


@pytest.fixture
def pipeline(tmp_path):
    with Pipeline(PROGRAM, state=tmp_path / "state", runner="inline") as opened:
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


def test_rows_that_the_state_has_let_go_of_are_read_again(pipeline, tmp_path):
    reads = opened(pipeline, tmp_path)
    pipeline.insert("t", [(1,)])
    reads.step(pipeline, {"t": {"a": [1, 2]}})
    with Pipeline(OTHER, state=tmp_path / "other", runner="inline") as without:
        without.step()
        opened(without, tmp_path)
    assert opened(pipeline, tmp_path).known == {}


def test_a_new_state_has_read_nothing(pipeline, tmp_path):
    reads = opened(pipeline, tmp_path)
    pipeline.insert("t", [(1,)])
    reads.step(pipeline, {"t": {"a": [1, 2]}})
    with Pipeline(PROGRAM, state=tmp_path / "anew", runner="inline") as empty:
        again = opened(empty, tmp_path)
    assert again.known == {}
    assert again.writer != reads.writer


def test_a_streaming_table_may_get_another_flow(pipeline, tmp_path):
    def streaming(*queries):
        return project(dataset("`c`.`d`.`s`", STREAMING_TABLE, flows=[flow(each, each) for each in queries]))

    opened(pipeline, tmp_path).note_streams(streaming("SELECT 1 AS a"))
    reads = Reads(tmp_path / "reads.json")
    reads.check_streams(streaming("SELECT 1 AS a", "SELECT 2 AS a"))
    for other in (streaming("SELECT 2 AS a"), streaming("SELECT 2 AS a", "SELECT 3 AS a")):
        with pytest.raises(StateError, match=r"streaming table c\.d\.s has another query than before"):
            reads.check_streams(other)
