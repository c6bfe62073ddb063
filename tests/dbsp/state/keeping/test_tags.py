"""A tag survives any expiry, whoever is first; what isn't kept can't be tagged."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import StateError
from dbsp.state.keeping import past
from dbsp.state.keeping import tags as module
from dbsp.state.keeping.keep import Keep
from dbsp.state.keeping.tags import FOLDER, Tags
from dbsp.state.objects.path import ObjectPath
from dbsp.state.store import Store
from tests.dbsp.state.objects.places import in_memory
from tests.dbsp.state.stores import IDENTITY, commit, filled, segments, write
from tests.effort import examples


@given(
    tagged=st.lists(st.tuples(st.integers(1, 8), st.booleans()), max_size=4, unique=True),
    keep=st.integers(1, 3),
    reopened=st.integers(1, 9),
)
@examples(10)
def test_a_tag_survives_any_expiry(tmp_path_factory, tagged, keep, reopened) -> None:
    """tagged: steps, each at once when it is made, or just before it would go."""
    root = tmp_path_factory.mktemp("s")
    store = Store.open(root, IDENTITY, Keep(keep))
    store.durable = False
    for step in range(1, 10):
        store.commit(commit(step, write(store, f"{step}.seg")))
        for n, (which, at_once) in enumerate(tagged):
            if step == (which if at_once else which + keep - 1):
                Tags(root).add(f"t{n}", which)
        if step == reopened:
            store.close()
            store = Store.open(root, IDENTITY)
            store.durable = False
    there = {which for which, at_once in tagged if at_once or which + keep - 1 < 10}
    wanted = there | {*range(10 - keep, 10)}
    assert store.steps == sorted(wanted)
    assert {store.commit_of(step).step for step in wanted} == wanted
    store.close()
    assert {f"{step}.seg" for step in wanted} <= segments(store)
    for name in Tags(root).all():
        Tags(root).remove(name)
    Store.open(root, IDENTITY).close()
    assert segments(store) == {f"{step}.seg" for step in range(10 - keep, 10)}


def test_a_tag_that_comes_while_its_step_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the writer's look at the tags and the end of the record, after the tag was found to count."""
    store = filled(tmp_path, 2, Keep(2))
    delete = past.delete

    def tags_first(path: Path) -> bool:
        if path.name == "000000000001.json":
            Tags(tmp_path).add("late", 1)
        return delete(path)

    monkeypatch.setattr(past, "delete", tags_first)
    for step in (3, 4, 5):
        store.commit(commit(step, write(store, f"{step}.seg")))
    assert store.steps == [1, 4, 5]
    assert store.commit_of(1).segments == {"1.seg"}
    store.close()
    assert "1.seg" in segments(store)


def test_a_tag_that_comes_too_late_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its step goes after its record was read, and before the tag is there."""
    store = filled(tmp_path, 2, Keep(1))
    create = module.create_whole

    def late(path: Path, data: bytes) -> None:
        store.commit(commit(3, write(store, "3.seg")))
        create(path, data)

    monkeypatch.setattr(module, "create_whole", late)
    with pytest.raises(StateError, match="step 2 is not kept, so there is nothing to tag"):
        Tags(tmp_path).add("late", 2)
    assert Tags(tmp_path).all() == {}


def test_one_that_nobody_took_back_is_dropped(tmp_path: Path) -> None:
    """Whoever tagged died between the two, and the step has gone."""
    store = filled(tmp_path, 2, Keep(2))
    Tags(tmp_path).add("late", 1)
    store.close()
    (tmp_path / "commits" / "000000000001.json").unlink()
    (tmp_path / "segments" / "1.seg").unlink()
    assert Store.open(tmp_path, IDENTITY).steps == [2]
    assert Tags(tmp_path).all() == {}


def test_a_record_that_was_lost_comes_back_from_its_tag(tmp_path: Path) -> None:
    store = filled(tmp_path, 3, Keep(1))
    store.tags.add("it", 3)
    store.commit(commit(4, write(store, "4.seg")))
    store.close()
    (tmp_path / "commits" / "000000000003.json").unlink()
    assert Store.open(tmp_path, IDENTITY).steps == [3, 4]


class Later(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.now(UTC) + timedelta(hours=2)


def test_a_tag_for_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(tmp_path, 2, Keep(1))
    store.tags.add("short", 2, timedelta(hours=1))
    store.commit(commit(3, write(store, "3.seg")))
    assert store.steps == [2, 3]
    monkeypatch.setattr(module, "datetime", Later)
    assert store.tags.all() == {}
    store.commit(commit(4, write(store, "4.seg")))
    assert store.steps == [4]
    assert list((tmp_path / FOLDER).iterdir()) == []


@pytest.mark.parametrize("on_store", [False, True])
@pytest.mark.parametrize("lasting", [None, timedelta(hours=9)])
def test_a_name_that_is_given_anew_when_its_time_is_over_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_store: bool, lasting: timedelta | None
) -> None:
    """By somebody else, since the writer has read it."""
    monkeypatch.setenv("DBSP_CACHE", str(tmp_path))
    root = ObjectPath(in_memory()) if on_store else tmp_path
    store = Store.open(root, IDENTITY, Keep(5))
    store.commit(commit(1))
    store.tags.add("it", 1, timedelta(hours=1))
    assert store.tags.all().keys() == {"it"}
    monkeypatch.setattr(module, "datetime", Later)
    Tags(root).add("it", 1, lasting)
    store.commit(commit(2))
    assert store.tags.all().keys() == Tags(root).all().keys() == {"it"}


@pytest.mark.parametrize("name", ["", "7", "a/b", "../x", "ä", "x" * 101, "2024-01-01", "a.tmp"])
def test_what_is_no_name(tmp_path: Path, name: str) -> None:
    filled(tmp_path, 1)
    with pytest.raises(StateError, match="no name of a tag; use letters"):
        Tags(tmp_path).add(name, 1)


def test_names_are_taken_once_and_given_back(tmp_path: Path) -> None:
    tags = filled(tmp_path, 2).tags
    tags.add("audit", 1)
    with pytest.raises(StateError, match="tag 'audit' is of step 1; delete it first"):
        tags.add("audit", 2)
    with pytest.raises(StateError, match="step 3 is not kept"):
        tags.add("other", 3)
    with pytest.raises(StateError, match=r"no tag 'audlt'; tags: audit; did you mean 'audit'\?"):
        tags.remove("audlt")
    tags.remove("audit")
    tags.add("audit", 2)
    assert {name: tag.step for name, tag in Tags(tmp_path).all().items()} == {"audit": 2}


def test_while_a_tag_is_damaged_nothing_goes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = filled(tmp_path, 2, Keep(1))
    store.tags.add("it", 2)
    path = tmp_path / FOLDER / "it"
    path.write_bytes(path.read_bytes().replace(b"2", b"1"))
    store.commit(commit(3, write(store, "3.seg")))
    assert store.steps == [2, 3]
    assert "damaged" in caplog.text
