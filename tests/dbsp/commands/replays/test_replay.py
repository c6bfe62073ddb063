"""A replay file through a pipeline: lines as steps are made, errors with file and step."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import AbsentRow, DataError
from dbsp.commands.replays.replay import read_deltas, replay
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import ColumnLateness
from tests.dbsp.build import VOTES, program, table, view, votes_program


def lines(tmp_path: Path, text: str, state: Path | None = None, output: str = "json") -> Any:
    deltas = tmp_path / "d.sql"
    deltas.write_text(text)
    return replay(votes_program(), str(deltas), {}, "inline", None, state and str(state), output, "retract")


def test_lines_come_as_steps_are_made(tmp_path: Path) -> None:
    """The second step's mistake comes after the first one's lines."""
    found = lines(tmp_path, "INSERT INTO event VALUES (1, 2.5); STEP; INSERT INTO votes VALUES ('x', 1);")
    assert next(found) == '{"step": 1, "view": "events", "row": {"id": 1, "amount": "2.50"}, "weight": 1}'
    with pytest.raises(DataError, match=r"d\.sql:1:67: table 'votes': 'x'"):
        next(found)


def test_a_row_that_is_not_there_is_placed_where_it_is_deleted(tmp_path: Path) -> None:
    text = "INSERT INTO votes VALUES (1, 1); STEP;\nDELETE FROM votes VALUES (1, 1), (2, 2);"
    with pytest.raises(AbsentRow, match=r"d\.sql:2:34: .*votes"):
        list(lines(tmp_path, text))


def test_a_state_is_gone_on_with(tmp_path: Path) -> None:
    first = list(lines(tmp_path, "INSERT INTO votes VALUES (1, 1);", tmp_path / "s", "text"))
    second = list(lines(tmp_path, "INSERT INTO votes VALUES (2, 1);", tmp_path / "s", "text"))
    assert first[0].startswith("step 1")
    assert second[0].startswith("step 2")
    assert "  counts  +1  story_id=1 n=2" in second


def test_what_a_watermark_holds_back_waits_on_in_a_state(tmp_path: Path) -> None:
    deltas = tmp_path / "d.sql"
    votes = replace(table("votes", VOTES), watermarks=(ColumnLateness(1, 5, None),))
    waiting = program([votes], [view("all", Scan("votes", VOTES))])

    def made(text: str, state: Path | None) -> list[str]:
        deltas.write_text(text)
        where = state and str(state)
        return [*replay(waiting, str(deltas), {}, "inline", None, where, "text", "retract")]

    assert made("INSERT INTO votes VALUES (1, 7);", tmp_path / "s") == ["step 1"]
    found = made("INSERT INTO votes VALUES (2, 12);", tmp_path / "s")
    assert found == ["step 2", "  all  +1  user_id=1 story_id=7"]
    ended = made("INSERT INTO votes VALUES (1, 7);", None)
    assert ended == ["step 1", "step 2", "  all  +1  user_id=1 story_id=7"], "the file is all there is"


def test_deltas_are_utf_8_with_or_without_a_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes("\ufeffä".encode())
    assert read_deltas(str(path)) == "ä"
    monkeypatch.setattr("sys.stdin", io.StringIO("\ufeffä"))
    assert read_deltas("-") == "ä"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match=r"d\.jsonl: can't read the deltas: they are no UTF-8 text"):
        read_deltas(str(path))
    with pytest.raises(DataError, match="can't read the deltas: Is a directory"):
        read_deltas(str(tmp_path))
