"""What nothing refers to is deleted, and nothing else, in an order that a power failure can't harm."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbsp.circuits.errors import StateError
from dbsp.state.keeping import past
from dbsp.state.keeping.keep import Keep
from dbsp.state.keeping.sweep import Sweep
from dbsp.state.objects.path import ObjectPath
from dbsp.state.records import commits, places
from dbsp.state.records.commits import record_path
from dbsp.state.records.delivered import Delivery, first_lacking, write_delivered
from dbsp.state.records.manifest import Manifest, Sink
from dbsp.state.records.places import Place, names_in
from dbsp.state.store import Store
from tests.dbsp.state.objects.places import in_memory
from tests.dbsp.state.stores import IDENTITY, commit, filled, record, segments, write
from tests.effort import examples


def test_old_commits_go_with_what_only_they_need(tmp_path):
    store = Store.open(tmp_path, IDENTITY, Keep(2))
    store.commit(commit(1, write(store, "a"), write(store, "shared")))
    store.commit(commit(2, write(store, "b"), "shared"))
    write(store, "running")  # a step that is under way
    store.commit(commit(3, write(store, "c"), "shared"))
    store.commit(commit(4, write(store, "d")))
    assert store.steps == [3, 4]
    with pytest.raises(StateError, match=r"step 1 is not kept; steps 3 to 4 are \(keep_steps=2\)"):
        store.commit_of(1)
    store.close()  # waits for what is being deleted
    assert segments(store) == {"b", "c", "d", "shared", "running"}  # b: a step after its record
    assert segments(Store.open(tmp_path, IDENTITY, Keep(2))) == {"c", "d", "shared"}


def test_no_record_comes_back_without_its_segments(tmp_path, monkeypatch):
    """A power failure brings back a name that was deleted after its directory was last synced."""
    on_disk: list[str] = []
    deleted = []

    def synced(path):
        commits.sync(path)
        if path.name == "commits":
            on_disk[:] = [name for name in os.listdir(path) if name.endswith(".json")]

    def watched(path):
        if path.parent.name == "segments":
            deleted.append(path.name)
            assert f"{int(path.stem):012d}.json" not in on_disk
        return places.delete(path)

    monkeypatch.setattr("dbsp.state.recording.sync", synced)
    monkeypatch.setattr("dbsp.state.recovery.sync", synced)
    with monkeypatch.context() as patched:
        patched.setattr("dbsp.state.recovery.delete", watched)
        patched.setattr("dbsp.state.keeping.past.delete", watched)
        patched.setattr(
            Sweep, "_delete", lambda self: [watched(Path(self._segments.root, n)) for n in self._left]
        )
        patched.setattr(Sweep, "beside", lambda self: self._delete())
        filled(tmp_path, 6, Keep(2)).close()
        assert "3.seg" in deleted
        Store.open(tmp_path, IDENTITY, Keep(1)).close()  # forgets step 5, in another order
    assert segments(Store.open(tmp_path, IDENTITY, Keep(1))) == {"6.seg"}


BEFORE = 7  # the steps of the first run


@given(
    lives=st.lists(st.tuples(st.integers(1, BEFORE), st.integers(1, 12)), min_size=1, max_size=8),
    unread=st.dictionaries(st.integers(1, BEFORE - 1), st.integers(1, 12), min_size=1, max_size=3),
    tagged=st.sets(st.integers(1, BEFORE), max_size=2),
    keeps=st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)),
    more=st.integers(1, 8),
    on_store=st.booleans(),
)
@example([(5, 7)], {3: 12}, {3}, (9, 1, 9), 2, False)
@examples(100)
def test_what_a_step_needs_whose_record_can_t_be_read_stays(
    tmp_path_factory, lives, unread, tagged, keeps, more, on_store
) -> None:
    """lives: of segments, the step that began each and the last that needs it. unread: of the steps whose
    records can't be read at an opening, before which later one they can again. more: the steps from there on.
    keeps: how many steps are kept from each opening on.
    """
    root: Place = tmp_path_factory.mktemp("s")
    last = BEFORE + more
    names = [(f"{first:012d}-{n}.seg", first, end) for n, (first, end) in enumerate(lives)]
    needed = {step: {name for name, first, end in names if first <= step <= end} for step in range(last + 1)}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(past, "EXPIRED", 2)
        if on_store:
            patched.setenv("DBSP_CACHE", str(root))
            root = ObjectPath(in_memory())
        store = Store.open(root, IDENTITY, Keep(keeps[0]))
        for name, *_ in names:
            put(root / "segments" / name)
        for step in range(1, BEFORE + 1):
            store.durable = False
            store.commit(commit(step, *needed[step]))
            if step in tagged:
                store.tags.add(f"t{step}", step)
        store.close()
        records = {step: record_path(root, step) for step in unread if record_path(root, step).exists()}
        whole = {step: path.read_bytes() for step, path in records.items()}
        for path in records.values():
            overwrite(path, b"")
        store = Store.open(root, IDENTITY, Keep(keeps[1]))
        store.durable = False
        lost = {step for step in whole if not records[step].exists()}
        for step in range(BEFORE + 1, last + 1):
            lost |= {each for each in whole if each not in store.past}
            for each in whole.keys() - lost:
                if BEFORE + unread[each] == step:
                    overwrite(records[each], whole[each])
            store.commit(commit(step, *needed[step]))
        store.close()
        there = {*names_in(root / "segments")}
        assert there >= set().union(*(needed[step] for step in store.steps))
        for step, data in whole.items():
            if records[step].exists():
                overwrite(records[step], data)
        store = Store.open(root, IDENTITY, Keep(keeps[2]))
        assert {*store.steps} >= {*range(last - min(keeps) + 1, last + 1)} - lost
        assert {*names_in(root / "segments")} >= set().union(*(needed[step] for step in store.steps))
        assert all(store.commit_of(step).segments == needed[step] for step in store.steps)
        store.close()
        if not on_store:  # nobody lists what is there
            assert segments(store) == set().union(*(needed[step] for step in store.steps))


@given(
    st.lists(
        st.one_of(
            st.just(("step", 0)),
            st.tuples(st.sampled_from(["a", "b"]), st.integers(1, 5)),
            st.tuples(st.just("open"), st.integers(1, 6)),
        ),
        max_size=40,
    )
)
@examples(60)
def test_no_step_goes_that_a_sink_lacks(tmp_path_factory, does) -> None:
    """does: a step, if no sink lacks more than it may then; to a sink so many more; an opening, which says
    how many steps a sink may lack, and is that of `evolve` with 1.
    """
    root = tmp_path_factory.mktemp("s")
    identity = replace(IDENTITY, manifest=Manifest(sinks=(Sink("a", "v", ""), Sink("b", "v", ""))))
    store, may_lack, last = Store.open(root, identity, Keep(1), at_least=6), 6, 0
    has = {"a": 0, "b": 0}
    for what, count in does:
        if what == "open":
            store.close()
            store, may_lack = Store.open(root, identity, at_least=count), count
        elif what != "step":
            has[what] = min(has[what] + count, last)
            write_delivered(root, {name: Delivery(step) for name, step in has.items() if step}, False)
            store.past.lacking = first_lacking(root, has)
        elif last - min(has.values()) < may_lack:
            store.durable, last = False, last + 1
            store.commit(commit(last, write(store, f"{last}.seg")))
        assert {*range(min(has.values()) + 1, last + 1)} <= {*store.steps}
        if min(has.values()) == last:  # nothing is kept for nothing
            assert len(store.steps) <= 6 + 1
    store.close()
    has = dict.fromkeys(has, last)
    write_delivered(root, {name: Delivery(last) for name in has}, False)
    assert len(Store.open(root, identity).steps) == min(last, 1)


def test_what_only_a_sink_lacks_that_is_gone_goes_with_it(tmp_path):
    """The program becomes one without it."""
    identity = replace(IDENTITY, manifest=Manifest(sinks=(Sink("a", "v", ""),)))
    store = Store.open(tmp_path, identity, Keep(1), at_least=3)
    for step in (1, 2, 3):
        store.commit(commit(step))
    store.close()
    store = Store.open(tmp_path, identity)
    assert store.steps == [1, 2, 3]
    store.commit(commit(4), IDENTITY)
    assert store.steps == [4]


def put(path: Place) -> None:
    if isinstance(path, Path):
        path.write_bytes(b"x")
    else:
        path.put(b"x")


def overwrite(path: Place, data: bytes) -> None:
    if isinstance(path, Path):
        path.write_bytes(data)
    else:
        path.write(data)


def test_what_waited_for_a_record_goes_once_it_can_be_read(tmp_path):
    """It is asked for again when something is about to go."""
    store = Store.open(tmp_path, IDENTITY, Keep(2))
    needed = write(store, "000000000001-a.seg")
    for step in range(1, 7):
        store.commit(commit(step, needed))
        if step == 4:
            store.tags.add("it", 3)
    store.close()
    whole = record(store, 3).read_bytes()
    record(store, 3).write_bytes(b"")
    store = Store.open(tmp_path, IDENTITY)
    for step in (7, 8, 9, 10):
        store.commit(commit(step, write(store, f"{step:012d}-a.seg")))
    assert store.steps == [3, 9, 10]
    assert store.past._waiting == {needed}  # what was begun later it can't need
    record(store, 3).write_bytes(whole)
    store.commit(commit(11))
    assert not store.past._waiting
    store.tags.remove("it")
    for step in (12, 13):
        store.commit(commit(step))
    store.close()
    assert needed not in segments(store)
