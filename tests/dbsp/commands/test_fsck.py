"""`dbsp fsck`: what it finds, and going back to a step that is whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbsp.circuits.errors import NotKept, StateError
from dbsp.commands.cli import main
from dbsp.commands.fsck import examine, go_back
from dbsp.state.keeping.tags import Tags
from dbsp.state.objects.path import ObjectPath
from dbsp.state.records.commits import record_path
from dbsp.state.records.delivered import Delivery, read_delivered, write_delivered
from dbsp.state.records.manifest import Manifest
from tests.dbsp.build import STEPS, feed, pipeline
from tests.dbsp.state.objects.places import in_memory


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """The directory after STEPS steps."""
    with pipeline(tmp_path / "s") as p:
        feed(p)
    return tmp_path / "s"


def fsck(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["fsck", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def record(state: Path, step: int) -> Path:
    return state / "commits" / f"{step:012d}.json"


def segment(state: Path, step: int, kind: str = "trace") -> Path:
    return next(path for path in (state / "segments").iterdir() if path.name.startswith(f"{step:012d}"))


def flip(path: Path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def test_a_whole_directory(state):
    assert examine(state) == ([], [1, 2, 3, 4])
    assert fsck(state) == (0, f"{state}: steps 1 to 4 are whole\n")


def test_a_rule_of_what_is_kept_may_be_damaged_and_so_may_the_log(state):
    (state / "keep.json").write_text("{}")
    damaged, whole = examine(state)
    assert "keep.json: damaged" in damaged[0] and whole == [1, 2, 3, 4]
    (state / "keep.json").unlink()
    for path in (state / "commits").iterdir():
        path.unlink()
    damaged, whole = examine(state)
    assert "step 3 was committed, and the last record is that of step 0" in damaged[0] and whole == []


def test_a_flipped_segment_damages_the_steps_that_need_it(state):
    flip(segment(state, 4), 40)
    code, output = fsck(state)
    assert code == 1
    assert f"{segment(state, 4)}: damaged: the chunk of " in output
    assert f"`dbsp fsck {state} --restore-to 3` goes back to the last whole one" in output
    assert examine(state)[1] == [1, 2, 3]


@pytest.mark.parametrize("damage", ["record", "segment", "lost segment"])
def test_going_back_makes_it_the_directory_that_it_was(state, tmp_path, damage):
    if damage == "record":
        record(state, 3).write_bytes(b"")
    elif damage == "segment":
        flip(segment(state, 3), 40)
    else:
        segment(state, 3).unlink()
    damaged, whole = examine(state)
    assert damaged and whole[:2] == [1, 2]
    assert fsck(state, "--restore-to", 2) == (0, f"{state}: step 2 is the last one now\n")
    assert examine(state) == ([], [1, 2])
    with pipeline(state) as restored, pipeline() as whole:
        feed(whole)
        assert restored.last_step == 2
        for view in ("all_votes", "counts", "customers", "events"):
            assert restored[view].rows() == whole.view(view, as_of=2).rows()
        feed(restored)
        assert restored.last_step == STEPS
        for view in ("all_votes", "counts", "customers", "events"):
            assert restored[view].rows() == whole[view].rows()


@pytest.mark.parametrize("on_store", [False, True])
def test_what_a_tag_is_of_stays_though_its_record_is_not_in_the_log(tmp_path, monkeypatch, on_store):
    """The writer died when it had taken it away, and before it saw that a tag had come."""
    monkeypatch.setenv("DBSP_CACHE", str(tmp_path / "cache"))
    root = ObjectPath(in_memory()) if on_store else tmp_path / "s"
    with pipeline(root, keep_steps=2) as p:
        feed(p)
        seen = p.view("all_votes", as_of=3).rows()
    Tags(root).add("it", 3)
    with pipeline(root, keep_steps=1) as p:
        p.insert("votes", [(9, 9)])
        p.step()
    record_path(root, 3).unlink()
    assert examine(root)[0] == []
    with pipeline(root) as p:
        assert p.view("all_votes", as_of="it").rows() == seen


def test_what_is_forgotten_as_fewer_are_kept_is_not_missing(state):
    """At an opening, before its first step; a tag is of one before."""
    Tags(state).add("it", 1)
    with pipeline(state, keep_steps=1) as p:
        assert p.store.steps == [1, 4]
        with pytest.raises(NotKept, match="step 3 is not kept; steps 4 to 4 are, and tagged are 1"):
            p.view("all_votes", as_of=3)
    assert examine(state) == ([], [1, 4])


def test_what_was_let_go_before_going_back_is_not_missing(tmp_path):
    """Though the step that is the last one again was made when it was kept."""
    root = tmp_path / "s"
    with pipeline(root, keep_steps=3) as p:
        feed(p)
        Tags(root).add("early", 2)
        Tags(root).add("late", 4)
        for _ in range(3):
            p.step()
        assert p.store.steps == [2, 4, 5, 6, 7]
    assert fsck(root, "--restore-to", 4)[0] == 0
    assert examine(root) == ([], [2, 4])
    with pipeline(root) as p:
        with pytest.raises(NotKept, match="step 3 is not kept; steps 4 to 4 are, and tagged are 2"):
            p.view("all_votes", as_of=3)
        assert p.view("all_votes", as_of=2).rows() and p.step().step == 5


def test_what_a_sink_lacks_is_missing_however_few_are_kept(state, monkeypatch):
    monkeypatch.setattr(Manifest, "targets", {"out"})
    write_delivered(state, {"out": Delivery(1)}, durable=True)
    with pipeline(state, keep_steps=1) as p:
        assert p.store.steps == [2, 3, 4]
    assert examine(state) == ([], [2, 3, 4])
    record(state, 3).unlink()
    assert examine(state) == ([f"{record(state, 3)}: damaged: the file is missing"], [2, 4])


def test_what_can_not_be_gone_back_to_stays(state):
    flip(record(state, 2), 200)
    before = sorted(path.name for path in state.rglob("*"))
    for step in (2, 9):
        with pytest.raises(
            StateError, match=rf"step {step} is not there, or not whole; whole: steps 1 and 3 to 4"
        ):
            go_back(state, step)
    assert sorted(path.name for path in state.rglob("*")) == before


def test_sinks_are_told_what_they_have_too_much(state):
    write_delivered(state, {"large": Delivery(4, "/out/large"), "topic": Delivery(3)}, durable=True)
    assert go_back(state, 2) == [
        "'large': delete __step=3 to __step=4 in /out/large, before a reader takes them for new ones",
        "'topic': has got step 3 already, and will get what is made of them now, too",
    ]
    back = {"large": Delivery(2, "/out/large", bound=2), "topic": Delivery(2, bound=2)}
    assert read_delivered(state) == back
    assert examine(state) == ([], [1, 2])


def test_deliveries_beyond_the_last_step_are_damage(state):
    write_delivered(state, {"large": Delivery(5, "/out/large")}, durable=True)
    ((line,), whole) = examine(state)
    assert "delivered.json: step 5 was delivered to 'large'" in line and whole == [1, 2, 3, 4]
    go_back(state, 4)
    assert examine(state) == ([], [1, 2, 3, 4])


@pytest.mark.parametrize("name", ["program.json", "delivered.json", "commits/000000000002.json"])
def test_every_record_is_looked_at(state, name):
    write_delivered(state, {"large": Delivery(4, "/out/large")}, durable=True)
    flip(state / name, 100)
    ((line,), _) = examine(state)
    assert line.startswith(f"{state / name}: damaged: ")
    (state / name).unlink()
    damaged, _ = examine(state)
    assert len(damaged) == (0 if name == "delivered.json" else 1)


def test_not_beside_a_writer_and_not_elsewhere(state, tmp_path):
    with pipeline(state):
        assert fsck(state)[0] == 1 and "in use by process" in fsck(state)[1]
    code, output = fsck(tmp_path)
    assert (code, output) == (1, f"{tmp_path}: no state directory (it has no commits/)\n")
