"""Golden files are compared, told, and written when that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbsp.circuits.errors import DataError
from dbsp.testing.golden import assert_replay
from dbsp.testing.setting import SETTING

pytestmark = pytest.mark.spark

VOTES = Path(__file__).parents[3] / "examples" / "votes"


@pytest.fixture(autouse=True)
def setting(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(SETTING, "folder", tmp_path)
    monkeypatch.setattr(SETTING, "accept", False)
    monkeypatch.setattr(SETTING, "accepted", [])
    return SETTING


def replayed(expected: Path | str = "expected.jsonl", **options: str) -> None:
    assert_replay(VOTES / "program.sql", VOTES / "deltas.sql", expected, **options)  # type: ignore[arg-type]


def test_what_is_expected_passes():
    replayed(VOTES / "expected.jsonl")


def test_a_difference_is_told(tmp_path):
    right = (VOTES / "expected.jsonl").read_text()
    (tmp_path / "expected.jsonl").write_text(right.replace('"vcount": 2', '"vcount": 3', 1))
    with pytest.raises(AssertionError) as raised:
        replayed()
    message = str(raised.value)
    assert '-{"step": 1, "view": "stories_vc", "row": {"story_id": 1, "vcount": 3}, "weight": 1}' in message
    assert '+{"step": 1, "view": "stories_vc", "row": {"story_id": 1, "vcount": 2}, "weight": 1}' in message
    assert message.endswith("if this is right, `pytest --dbsp-accept` writes it")


def test_a_file_that_is_not_there_is_told():
    with pytest.raises(AssertionError, match="isn't there; write it with `pytest --dbsp-accept`"):
        replayed()


def test_what_is_accepted_passes(setting, tmp_path):
    setting.accept = True
    replayed()
    assert (tmp_path / "expected.jsonl").read_text() == (VOTES / "expected.jsonl").read_text()
    replayed("expected.csv", output="csv", changelog="upsert")
    assert setting.accepted == [tmp_path / "expected.jsonl", tmp_path / "expected.csv"]
    setting.accepted = []
    replayed()
    assert setting.accepted == []  # it was right already
    setting.accept = False
    replayed()
    replayed("expected.csv", output="csv", changelog="upsert")


def test_a_long_difference_is_shortened(tmp_path):
    (tmp_path / "expected.jsonl").write_text("no\n" * 500)
    with pytest.raises(AssertionError, match=r"\.\.\. and \d+ lines more\n"):
        replayed()


def test_wrong_deltas_say_where(tmp_path):
    (tmp_path / "deltas.sql").write_text("INSERT INTO votes VALUES (1);")
    with pytest.raises(DataError, match=r"^deltas\.sql:1:"):
        assert_replay(VOTES / "program.sql", "deltas.sql", "expected.jsonl")
