"""Programs under test: a file or a text, without its sinks."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import DataError, ProgramError
from dbsp.testing.programs import in_process, load, read_text
from dbsp.testing.setting import SETTING

PROGRAM = """
CREATE TABLE t (k BIGINT);
CREATE VIEW v AS SELECT k FROM t WHERE k > ${LEAST};
CREATE TABLE out (k BIGINT, __weight BIGINT) USING parquet OPTIONS (path 'out');
INSERT INTO out SELECT k FROM v;
"""


@pytest.mark.spark
def test_sinks_get_nothing(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with in_process(load(PROGRAM, {"LEAST": "1"})) as pipeline:
        pipeline.insert("t", [(1,), (2,)])
        pipeline.step()
        assert pipeline["v"].rows() == [{"k": 2}]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
def test_a_file_is_relative_to_the_test(spark, tmp_path, monkeypatch):
    (tmp_path / "program.sql").write_text(PROGRAM)
    monkeypatch.setattr(SETTING, "folder", tmp_path)
    loaded = load("program.sql", {"LEAST": "1"})
    assert loaded.name == str(tmp_path / "program.sql")
    assert load(loaded) is loaded


def test_a_file_that_is_not_there_is_an_error():
    with pytest.raises(ProgramError, match=r"none\.sql: can't read the program"):
        load("none.sql")
    with pytest.raises(DataError, match=r"none\.sql: can't read the deltas"):
        read_text("none.sql")


def test_text_that_is_none_is_an_error(tmp_path):
    (tmp_path / "broken.sql").write_bytes(b"\xff")
    with pytest.raises(ProgramError, match="no UTF-8 text"):
        load(tmp_path / "broken.sql")
    with pytest.raises(DataError, match="no UTF-8 text"):
        read_text(tmp_path / "broken.sql")
