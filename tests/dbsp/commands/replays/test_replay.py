"""A replay file through a pipeline: lines as steps are made, errors with file and step."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import AbsentRow, DataError
from dbsp.commands.replays.applied import Applied
from dbsp.commands.replays.replay import played, read_deltas, replay
from dbsp.commands.shown.listing import listing
from dbsp.errors import DeliveryError
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import ColumnLateness, Triggers
from tests.dbsp.build import VOTES, pipeline, program, table, view, votes_program
from tests.dbsp.targets.test_function import Told, written


def lines(
    tmp_path: Path,
    text: str,
    state: Path | None = None,
    output: str = "json",
    applied: Applied | None = None,
    name: str = "d.sql",
) -> Any:
    deltas = tmp_path / name
    deltas.write_text(text)
    where = state and str(state)
    program = votes_program()
    return replay(program, str(deltas), {}, "inline", None, where, output, "retract", applied=applied)


def test_lines_come_as_steps_are_made(tmp_path: Path) -> None:
    """What the second step finds comes after the first one's lines."""
    found = lines(tmp_path, "INSERT INTO event VALUES (1, 2.5); STEP; DELETE FROM votes VALUES (1, 1);")
    assert next(found) == '{"step": 1, "view": "events", "row": {"id": 1, "amount": "2.50"}, "weight": 1}'
    with pytest.raises(AbsentRow, match=r"d\.sql:1:67: step 2: table 'votes'"):
        next(found)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "d.sql",
            "INSERT INTO votes VALUES (1, 1); STEP;\nINSERT INTO votes VALUES ('x', 1);",
            "2:26: .* 'x'",
        ),
        (
            "d.sql",
            "INSERT INTO votes VALUES (1, 1); STEP;\nINSERT INTO votes (usr) VALUES (1);",
            "2:20: .*usr",
        ),
        (
            "d.jsonl",
            '{"table": "votes", "row": {"user_id": 1}}\n{"step": true}\n{"table": "votes", "row": {"x": 1}}',
            "3: .* unknown column 'x'",
        ),
    ],
)
def test_a_file_that_can_t_be_read_to_its_end_says_what_of_it_was(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    with pytest.raises(DataError, match=rf"d\.\w+:{said}") as caught, Applied(str(tmp_path / "s")) as applied:
        list(lines(tmp_path, text, tmp_path / "s", applied=applied, name=name))
    (note,) = caught.value.__notes__
    assert "step 1 is committed" in note
    assert "go on with what follows that" in note
    with pipeline(tmp_path / "s") as p:
        assert p.last_step == 1


def test_a_failure_says_which_steps_of_the_file_are_committed(tmp_path: Path) -> None:
    good, bad = "INSERT INTO votes VALUES (1, 1); STEP;\n", "DELETE FROM votes VALUES (7, 7);"

    def note(text: str, state: str | None, name: str = "d.sql") -> list[str]:
        applied = Applied(state)
        with pytest.raises(AbsentRow) as caught, applied:
            list(lines(tmp_path, text, Path(state) if state else None, applied=applied, name=name))
        return getattr(caught.value, "__notes__", [])

    state, path = str(tmp_path / "s"), tmp_path / "d.sql"
    rest = "go on with what follows that, and don't give it again"
    assert note(bad, state) == [], "the file can be given again"
    assert note(good + bad, state) == [f"{state}: step 1 is committed: {path} up to {path}:1:34; {rest}"]
    assert note(good * 2 + bad, state) == [
        f"{state}: steps 2 to 3 are committed: {path} up to {path}:2:34; {rest}"
    ]
    json = '{"table": "votes", "row": {"user_id": 1}}\n{"step": true}\n'
    json += '{"table": "votes", "row": {"user_id": 7}, "weight": -1}\n'
    path = tmp_path / "d.jsonl"
    assert note(json, state, "d.jsonl") == [f"{state}: step 4 is committed: {path} up to {path}:2; {rest}"]
    assert note(good + bad, None) == [], "such a state ends with the command"


def test_so_does_what_fails_while_a_step_is_shown(tmp_path: Path) -> None:
    """As Ctrl-C, or a pipe that is closed: the step is made, whoever has seen its lines."""
    state, text = str(tmp_path / "s"), "INSERT INTO votes VALUES (1, 1);"
    with pytest.raises(KeyboardInterrupt) as caught, Applied(state) as applied:
        next(lines(tmp_path, text, tmp_path / "s", applied=applied))
        raise KeyboardInterrupt
    path = tmp_path / "d.sql"
    assert caught.value.__notes__ == [f"{state}: step 1 is committed: all of {path}; don't give it again"]


def test_a_step_that_a_sink_did_not_get_is_shown(tmp_path: Path) -> None:
    text = "INSERT INTO votes VALUES (1, 1); STEP; INSERT INTO votes VALUES (2, 1);"
    seen: list[str] = []
    with pipeline(tmp_path / "s", program=written(), sinks=[Told([True]).sink]) as p:
        show = listing(p, "text", "retract")
        with pytest.raises(DeliveryError) as caught, Applied("s") as applied:
            for line in played(p, text, "d.sql", show, True, applied):
                seen.append(line)
    assert seen == ["step 1", "  all_votes  +1  user_id=1 story_id=1"]
    (note,) = caught.value.__notes__
    assert note.startswith("s: step 1 is committed: d.sql up to d.sql:1:34; ")


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


def test_replays_into_a_state_are_as_one(tmp_path: Path) -> None:
    """None of them ends the input: what a TRIGGER holds back waits for the next."""
    given = ["INSERT INTO votes VALUES (1, 1); STEP;"] * 4
    counting = replace(view("counts", Scan("votes", VOTES)), emission=Triggers(3, None, False, "p.sql:1:1"))

    def made(texts: list[str], state: str) -> list[str]:
        found: list[str] = []
        for text in texts:
            (tmp_path / "d.sql").write_text(text)
            compiled = program([table("votes", VOTES)], [counting])
            where = str(tmp_path / state)
            found += replay(compiled, str(tmp_path / "d.sql"), {}, "inline", None, where, "json", "retract")
        return found

    found = made(given, "several")
    assert found == ['{"step": 3, "view": "counts", "row": {"user_id": 1, "story_id": 1}, "weight": 3}']
    assert found == made(["".join(given)], "one")


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
