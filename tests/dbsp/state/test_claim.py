"""Whose a directory is: a program's, another one's, nobody's, or one whose program is changing."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from dbsp.circuits.errors import StateError
from dbsp.state import store as store_module
from dbsp.state.claim import claim, owner, settled_owner
from dbsp.state.records.commits import create_whole
from dbsp.state.records.identity import NAME, NEXT, Identity, OtherProgram
from dbsp.state.records.manifest import Held, Manifest
from dbsp.state.store import Store
from tests.dbsp.state.stores import IDENTITY, commit, filled, record


def test_a_lost_program_json_is_written_anew_by_its_program(tmp_path):
    filled(tmp_path, 2).close()
    (tmp_path / "program.json").unlink()
    with pytest.raises(StateError, match="no state directory"):
        Store.read(tmp_path)
    with pytest.raises(StateError, match="which differs from"):
        Store.open(tmp_path, Identity("other.sql", "f2", ""))
    Store.open(tmp_path, IDENTITY).close()
    assert Store.read(tmp_path)[1] == IDENTITY


def test_another_program_s_state_is_refused(tmp_path):
    filled(tmp_path, 1).close()
    with pytest.raises(StateError) as caught:
        Store.open(tmp_path, Identity("other.sql", "f2", ""))
    for words in (
        str(tmp_path),
        "'program.sql' (f1)",
        "'other.sql' (f2)",
        "another state directory",
        "delete",
    ):
        assert words in str(caught.value)
    Store.open(tmp_path, IDENTITY).close()


def test_a_crash_while_it_was_made_does_no_harm(tmp_path):
    for left in ("segments", "commits"):
        (tmp_path / left).mkdir()
    (tmp_path / "program.json.tmp").write_text("{")
    assert Store.open(tmp_path, IDENTITY).last is None


OTHER = Identity(
    "other.sql", "f2", "-- other", manifest=Manifest(traces={"t2": Held("r", (), True, True, (), "")})
)
CHANGED = Identity("other.sql", "f2", "-- other")


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_change_of_program_that_ended_anywhere_is_of_one_of_the_two(tmp_path, is_committed):
    """The last record says which; a reader changes nothing, a writer carries it out or takes it back."""
    store = filled(tmp_path, 1)
    store.close()
    (tmp_path / NEXT).write_bytes(OTHER.to_bytes())
    if is_committed:
        changed = replace(commit(2), fingerprint="f2")
        create_whole(record(store, 2), changed.to_bytes())
    expected = OTHER if is_committed else IDENTITY
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert owner(tmp_path) == expected
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert settled_owner(tmp_path, durable=True) == expected
    assert not (tmp_path / NEXT).exists()
    assert owner(tmp_path) == expected


def test_a_reader_in_whose_midst_the_program_changes_reads_the_changed_one(tmp_path, monkeypatch):
    """Its name is read before the record, which is another's then."""
    store, calls = filled(tmp_path, 1), []

    def asked(root):
        found = owner(root)
        if not calls:
            (tmp_path / NAME).write_bytes(CHANGED.to_bytes())
            create_whole(record(store, 2), replace(commit(2), fingerprint="f2").to_bytes())
        calls.append(found)
        return found

    monkeypatch.setattr(store_module, "owner", asked)
    read, found = Store.read(tmp_path)
    assert (read.last.step, found, calls) == (2, CHANGED, [IDENTITY, CHANGED])
    (tmp_path / NAME).write_bytes(IDENTITY.to_bytes())
    with pytest.raises(OtherProgram):  # as it was left: that is no change
        Store.read(tmp_path)
    store.close()


def test_nobody_s_directory_is_nobody_s(tmp_path):
    assert owner(tmp_path) is None


def test_a_failed_program_s_first_offsets_go(tmp_path):
    """Another program may take a directory in which no step was made; its sources begin anew."""
    assert claim(tmp_path, IDENTITY, durable=False) is None
    (tmp_path / "checkpoint").mkdir()
    assert claim(tmp_path, OTHER, durable=False) is None
    assert owner(tmp_path) == OTHER
    assert not (tmp_path / "checkpoint").exists()


def test_a_directory_that_went_back_before_a_change_is_its_old_program_s(tmp_path):
    filled(tmp_path, 1).close()
    (tmp_path / NAME).write_bytes(OTHER.to_bytes())
    assert claim(tmp_path, IDENTITY, durable=True) is None
    assert owner(tmp_path) == IDENTITY


def test_a_state_is_told_from_others_whatever_becomes_of_its_program(tmp_path):
    """One of an older release is given its name by the next step."""
    filled(tmp_path / "another", 1).close()
    (tmp_path / "s" / "commits").mkdir(parents=True)
    (tmp_path / "s" / "segments").mkdir()
    (tmp_path / "s" / NAME).write_bytes(IDENTITY.to_bytes())
    create_whole(tmp_path / "s" / "commits" / f"{1:012d}.json", commit(1).to_bytes())
    states = [owner(tmp_path / "s").state]
    with closing(Store.open(tmp_path / "s", IDENTITY)) as store:
        states.append(owner(tmp_path / "s").state)
        store.commit(commit(2))
        states.append(owner(tmp_path / "s").state)
    with closing(Store.open(tmp_path / "s", IDENTITY)) as store:
        store.commit(replace(commit(2), step=3, fingerprint="f2"), OTHER)
        states.append(owner(tmp_path / "s").state)
    assert owner(tmp_path / "s").fingerprint == "f2"
    record(store, 3).unlink()
    assert claim(tmp_path / "s", IDENTITY, durable=False) is None  # it has gone back
    states.append(owner(tmp_path / "s").state)
    name = states[2]
    assert states == ["", "", name, name, name]
    assert name not in ("", owner(tmp_path / "another").state)


def test_the_same_program_in_other_words_is_written_down(tmp_path):
    """As with another path: who goes on with a state's program reads from there. What it keeps stays said."""
    filled(tmp_path, 1).close()
    worded = replace(IDENTITY, name="again.sql", text="-- other words", manifest=Manifest())
    with closing(Store.open(tmp_path, worded)) as store:
        assert owner(tmp_path).text == IDENTITY.text
        store.commit(commit(2))
    known = owner(tmp_path)
    assert (known.name, known.text) == ("again.sql", "-- other words")
    assert known.manifest == IDENTITY.manifest
