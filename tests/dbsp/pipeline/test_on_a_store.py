"""A pipeline whose state is on a store does what one with a directory does, whatever the store does.

The server is a real one, behind a proxy: each request of a step is lost, refused, throttled, or the last
thing that the process does.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import dbsp
from dbsp.circuits.errors import Overtaken, StateError
from dbsp.circuits.traces import spine
from dbsp.commands.fsck import examine, go_back
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running import inline
from dbsp.state.keeping import past, sweep
from dbsp.state.objects.lease import NAME
from dbsp.state.objects.path import ObjectPath
from dbsp.state.recording import Unsettled
from dbsp.state.records.commits import load_commit
from dbsp.state.records.places import place_of
from dbsp.state.store import Store
from tests.dbsp.build import pipeline, settle
from tests.dbsp.pipeline.test_faults import VIEWS, queue, shown
from tests.dbsp.state.objects.places import OnStore, on_azure, on_hdfs, on_store
from tests.effort import QUICK
from tests.servers.s3 import ENVIRONMENT, Request, Server

pytestmark = pytest.mark.slow
LAST, RETAIN = 9, 3
BASE = 4
STRIDE = 1 if settings.default.max_examples > QUICK else 3  # of the requests that are disturbed, and odd


@pytest.fixture(autouse=True)
def patched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Merges in pieces of a few rows, some ahead in a thread; deletions in every step."""
    for name, value in {"SMALL": 1, "PIECE": 4, "FAN_IN": 2, "WIDE": 1 << 40}.items():
        monkeypatch.setattr(spine, name, value)
    monkeypatch.setattr(inline, "_WORTH_A_THREAD", 2)
    monkeypatch.setattr(past, "EXPIRED", 2)
    monkeypatch.setattr(sweep, "COLLECTED", 3)


Place = Callable[[Path], AbstractContextManager[OnStore]]


@pytest.fixture(params=["s3", "azure", "hdfs"])
def place_on(request: pytest.FixtureRequest) -> Place:
    """A new place on a store, given where copies are."""
    server = request.getfixturevalue(f"{request.param}_server")
    return partial({"s3": on_store, "azure": on_azure, "hdfs": on_hdfs}[request.param], server)


@pytest.fixture
def place(place_on: Place, tmp_path: Path) -> Iterator[OnStore]:
    with place_on(tmp_path / "cache") as found:
        yield found


def opened(place: OnStore | Path, **options: Any) -> Pipeline:
    return pipeline(place.uri if isinstance(place, OnStore) else place, keep_steps=RETAIN, **options)


def made(p: Pipeline, until: int) -> None:
    while p.last_step < until:
        queue(p)
        p.step()


@pytest.fixture
def expected(tmp_path: Path) -> dict[int, dict[str, Any]]:
    """What is to be seen after each step, of a local directory."""
    after = {}
    with opened(tmp_path / "local") as p:
        while p.last_step < LAST:
            made(p, p.last_step + 1)
            after[p.last_step] = shown(p)
    return after


def check(p: Pipeline, expected: dict[int, dict[str, Any]]) -> None:
    found, wanted = shown(p), dict(expected[p.last_step])
    # a record that wasn't deleted is one that is kept for longer; and one that was doesn't come back
    common = found["changes"].keys() & wanted["changes"].keys()
    assert len(common) >= len(VIEWS)
    for each in (found, wanted):
        each["changes"] = {key: each["changes"][key] for key in common}
    assert found == wanted


def leftovers(p: Pipeline) -> set[str]:
    """Objects that nothing needs."""
    assert p.store.segments.origin is not None
    return {*p.store.segments.origin.names("")} - p.store.past.needed()


def test_the_same_steps_make_the_same_commits(
    place: OnStore, tmp_path: Path, expected: dict[int, Any]
) -> None:
    with opened(place) as p:
        for step in range(1, LAST + 1):
            made(p, step)
            assert shown(p) == expected[step]
        there, here = (p.store.commit_of(LAST), load_commit(tmp_path / "local", LAST))
    assert here is not None
    # but for the names of segments
    assert (there.views, there.fingerprint, there.waterlines) == (
        here.views,
        here.fingerprint,
        here.waterlines,
    )
    assert there.state.keys() == here.state.keys()
    for cold in (False, True):
        if cold:
            shutil.rmtree(os.environ["DBSP_CACHE"])
        with opened(place) as p:
            check(p, expected)
    assert examine(place_of(place.uri))[0] == []
    with opened(place) as p:
        assert not leftovers(p)


@pytest.mark.parametrize("place_on", ["s3"], indirect=True)
def test_a_step_asks_for_little(place: OnStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for one in twenty, at which records go."""
    monkeypatch.setattr(past, "EXPIRED", 20)
    with opened(place) as p:
        made(p, BASE)
        first = len(place.proxy.seen)
        queue(p)
        traffic = p.step().metrics.traffic
        seen = [request for request in place.proxy.seen[first:] if request.method != "POST"]
    # the lease may be renewed meanwhile, by a thread of its own
    asked = [request for request in seen if not request.path.endswith(f"/{NAME}")]
    assert {request.method for request in asked} == {"PUT"}
    assert sum("/commits/" in request.path for request in asked) == 1
    assert len(asked) <= traffic.puts <= len(seen)
    assert (traffic.gets, traffic.lists, traffic.bytes_read) == (0, 0, 0)
    assert traffic.bytes_written > 0


def test_a_second_writer_is_refused_and_readers_are_not(place: OnStore, expected: dict[int, Any]) -> None:
    with opened(place) as p:
        made(p, BASE)
        with pytest.raises(StateError, match=r"in use by process \d+ on "):
            opened(place)
        store, identity = Store.read(place.uri)
        assert store.last is not None
        assert (store.last.step, identity.fingerprint) == (BASE, p.program.fingerprint)
        check(p, expected)


def steal(place: OnStore) -> None:
    """As if the holder's lease had ended."""
    root = place_of(place.uri)
    assert isinstance(root, ObjectPath)
    root.bucket.delete([NAME])


def test_a_zombie_is_fenced_by_the_record(place: OnStore, expected: dict[int, Any]) -> None:
    zombie = opened(place)
    made(zombie, BASE)
    queue(zombie)
    steal(place)
    with opened(place) as p:
        made(p, BASE + 1)
        with pytest.raises(Overtaken, match="was committed by another writer; this one has stopped"):
            zombie.step()
        with pytest.raises(StateError, match="closed"):
            zombie.step()
        check(p, expected)
        made(p, LAST)
        check(p, expected)


def test_a_zombie_that_is_first_loses_nothing(place: OnStore, expected: dict[int, Any]) -> None:
    """What it wrote before its lease ended isn't swept by whoever took it over."""
    zombie = opened(place)
    made(zombie, BASE)
    create = zombie.store._recording.create

    def late(commit: Any) -> None:
        steal(place)
        taken.append(opened(place))
        create(commit)

    taken: list[Pipeline] = []
    zombie.store._recording.create = late  # type: ignore[method-assign]
    made(zombie, BASE + 1)
    check(zombie, expected)
    with taken[0] as p:
        queue(p)
        with pytest.raises(Overtaken):
            p.step()
    zombie.close()
    steal(place)
    with opened(place) as p:
        check(p, expected)
        made(p, LAST)
        check(p, expected)


def test_of_two_writers_one_makes_each_step(place: OnStore) -> None:
    """In any order: nothing keeps them apart but the record."""
    with opened(place) as p:
        made(p, 1)
    writers = []
    for _ in range(3):
        writers.append(opened(place))
        steal(place)
    stopped = 0
    for p in writers:
        queue(p)
        try:
            p.step()
        except Overtaken:
            stopped += 1
        p.close()
    assert stopped == 2
    steal(place)
    with opened(place) as p:
        assert p.last_step == 2
        assert examine_closed(p, place) == []


def examine_closed(p: Pipeline, place: OnStore) -> list[str]:
    p.close()
    return examine(place_of(place.uri))[0]


# -- faults -----------------------------------------------------------------------------------------


@dataclass
class Disturbance:
    """One request, or it and all that follow. kind: what happens to it, and after a comma to those. fired:
    whether it came to that.
    """

    first: int
    kind: str
    lasting: bool
    fired: bool = False

    def __call__(self, n: int, request: Request) -> str | None:
        if n != self.first and not (self.lasting and n > self.first):
            return None
        self.fired = True
        first, _, others = self.kind.partition(", ")
        return first if n == self.first else others or first


FAULTS = [("lose", False), ("lose", True), ("refuse", True), ("throttle", False), ("error", True)]
FAULTS += [("lose, deny", True)]
# what answers is our own client: each fault at one store, and every other at the others
SOME = FAULTS if STRIDE == 1 else FAULTS[::2]


@pytest.mark.parametrize(
    ("place_on", "kind", "lasting"),
    [("s3", *fault) for fault in FAULTS] + [(at, *fault) for at in ("azure", "hdfs") for fault in SOME],
    indirect=["place_on"],
)
def test_a_step_disturbed_at_any_request(
    place_on: Place, tmp_path: Path, expected: dict[int, Any], kind: str, lasting: bool
) -> None:
    """Either the step is made, or it isn't and can be tried again; where nobody knows, the pipeline ends."""
    offset, fired = len(kind) % STRIDE, True
    while fired:
        with place_on(tmp_path / f"cache{offset}") as place:
            p = opened(place)
            made(p, BASE)
            settle(p)
            first = len(place.proxy.seen)
            fault = Disturbance(first + offset, kind, lasting)
            place.proxy.fault = fault
            queue(p)
            raised = None
            try:
                p.step()
            except dbsp.Error as error:
                raised = error
            if not p._closed:
                settle(p)
            requests = len(place.proxy.seen) - first
            place.proxy.fault = lambda n, request: None
            assert raised is None or lasting, raised
            if p._closed:
                assert isinstance(raised, Unsettled)
                steal(place)
                p = opened(place)
            elif raised is not None and p.last_step == BASE:
                if offset % 2:  # a host's copies may go at any time
                    for copy in Path(os.environ["DBSP_CACHE"]).rglob("*.trace"):
                        copy.unlink()
                p.step()  # what was queued is
            assert p.last_step == BASE + 1 or raised is not None
            made(p, LAST)
            check(p, expected)
            p.close()
            with suppress(FileNotFoundError):
                steal(place)
            with opened(place) as p:
                check(p, expected)
            damaged, whole = examine(place_of(place.uri))
            assert (damaged, whole[-1]) == ([], LAST)
            with opened(place) as p:
                assert not leftovers(p)
        fired, offset = fault.fired, offset + STRIDE
    assert requests > 3  # those of the last step, undisturbed: a segment, the commit, tags and deletions


CHILD = """
import sys
from tests.dbsp.pipeline.test_on_a_store import made, pipeline, RETAIN
p = pipeline(sys.argv[1], keep_steps=RETAIN)
print("open", flush=True)
sys.stdin.readline()
made(p, p.last_step + 1)
p.close()
"""


def test_a_process_killed_at_any_request(s3_server: Server, tmp_path: Path, expected: dict[int, Any]) -> None:
    """Before it has reached the store, and after."""
    offset, fired = 0, True
    while fired:
        with on_store(s3_server, tmp_path / f"cache{offset}") as place:
            with opened(place) as p:
                made(p, BASE)
            environment = {**os.environ, **ENVIRONMENT, "AWS_ENDPOINT_URL": place.proxy.endpoint}
            child = subprocess.Popen(
                [sys.executable, "-c", CHILD, place.uri],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=Path(dbsp.__file__).parents[1],
            )
            assert child.stdout is not None
            assert child.stdin is not None
            assert child.stdout.readline() == b"open\n"
            kind = "lose" if offset % 2 else "refuse"
            fault = Disturbance(len(place.proxy.seen) + offset // 2, kind, True)
            place.proxy.fault = killing(child, fault)
            child.stdin.write(b"\n")
            child.stdin.close()
            child.wait()
            place.proxy.fault = lambda n, request: None
            with opened(place) as p:  # at once, since its process is gone
                assert p.last_step in (BASE, BASE + 1)
                check(p, expected)
                made(p, LAST)
                check(p, expected)
            assert examine(place_of(place.uri))[0] == []
            with opened(place) as p:
                assert not leftovers(p)
        fired, offset = fault.fired, offset + STRIDE
    assert offset > 6  # the segment's request was refused, the commit's lost


def killing(child: subprocess.Popen[bytes], fault: Disturbance) -> Callable[[int, Request], str | None]:
    def kill(n: int, request: Request) -> str | None:
        kind = fault(n, request)
        if kind is not None:
            child.send_signal(signal.SIGKILL)
        return kind

    return kill


def test_going_back_to_a_step(place: OnStore, expected: dict[int, Any]) -> None:
    with opened(place) as p:
        made(p, LAST)
    root = place_of(place.uri)
    go_back(root, LAST - 1)
    with opened(place) as p:
        check(p, expected)
        made(p, LAST)
        check(p, expected)
        assert {*p.keys()} == {*VIEWS}


@pytest.mark.parametrize("place_on", ["s3"], indirect=True)
def test_places_that_won_t_do(place: OnStore) -> None:
    with pytest.raises(StateError, match="there is no bucket s3://nowhere; make it, or name another one"):
        pipeline("s3://nowhere/state")
    place.proxy.fault = lambda n, request: "deny"
    with pytest.raises(StateError, match=r"s3://.*denied \(AccessDenied\); give these credentials the right"):
        opened(place)
    place.proxy.fault = lambda n, request: None
    with pytest.raises(StateError, match=r"no state directory \(it has no program.json\)"):
        Store.read(place.uri)
    root = place_of(place.uri)
    assert isinstance(root, ObjectPath)
    root.bucket.create("data.csv", b"")
    with pytest.raises(
        StateError, match=r"is no state directory \(it holds 'data.csv' and no program.json\)"
    ):
        opened(place)
