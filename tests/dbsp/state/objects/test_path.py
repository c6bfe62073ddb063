"""The laws of a place for state, whatever it is: what commits rely on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.state.objects.path import ObjectPath
from dbsp.state.objects.refusals import Changed, Refused, Unanswered
from dbsp.state.records.commits import create_whole, move, write_whole
from dbsp.state.records.places import Place, delete, names_in, place_of
from tests.dbsp.state.objects.places import OnStore, in_memory, on_store


@pytest.fixture
def s3_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OnStore]:
    with on_store(request.getfixturevalue("s3_server"), tmp_path / "cache") as place:
        yield place


@pytest.fixture(params=["directory", "memory", pytest.param("s3", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "s3":
        return place_of(request.getfixturevalue("s3_place").uri)
    return tmp_path if request.param == "directory" else ObjectPath(in_memory())


def test_what_is_created_is_there_and_stays(place: Place) -> None:
    one = place / "one"
    with pytest.raises(FileNotFoundError):
        one.read_bytes()
    create_whole(one, b"first")
    with pytest.raises(FileExistsError):
        create_whole(one, b"second")
    assert one.read_bytes() == b"first"
    assert names_in(place) == ["one"]


def test_of_many_who_create_one_wins(place: Place) -> None:
    def create(n: int) -> bool:
        try:
            create_whole(place / "record", b"%d" % n)
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        won = [n for n, created in enumerate(threads.map(create, range(8))) if created]
    assert len(won) == 1
    assert (place / "record").read_bytes() == b"%d" % won[0]


def test_what_is_written_replaces(place: Place) -> None:
    for content in (b"a", b"b", b"b"):
        write_whole(place / "note", content)
        assert (place / "note").read_bytes() == content


def test_what_is_deleted_is_gone_once_and_twice(place: Place) -> None:
    write_whole(place / "note", b"x")
    assert delete(place / "note")
    assert delete(place / "note")
    assert not (place / "note").exists()
    create_whole(place / "note", b"again")


def test_what_is_moved_takes_the_place_of_what_was_there(place: Place) -> None:
    write_whole(place / "old", b"old")
    write_whole(place / "new", b"new")
    move(place / "new", place / "old")
    assert (place / "old").read_bytes() == b"new"
    assert names_in(place) == ["old"]


def test_a_folder_is_what_is_in_it() -> None:
    root = ObjectPath(in_memory())
    assert not (root / "commits").is_dir()
    create_whole(root / "commits" / "1.json", b"")
    create_whole(root / "lease", b"")
    assert (root / "commits").is_dir()
    assert names_in(root) == ["commits", "lease"]
    assert (root / "commits" / "1.json").parents[1] == root
    (root / "commits").remove(["1.json", "2.json"])
    assert names_in(root) == ["lease"]


def test_a_writer_finds_that_another_has_written() -> None:
    bucket = in_memory()
    one, other = ObjectPath(bucket) / "note", ObjectPath(bucket) / "note"
    one.write(b"1")
    other.write(b"2")
    with pytest.raises(Changed):
        one.write(b"3")
    assert other.read_bytes() == b"2"


@pytest.mark.parametrize("uri", ["s3://b/a/", "S3://b/a", "s3:/b/a", Path("s3://b/a")])
def test_spellings_of_a_uri(uri: str | Path) -> None:
    assert str(place_of(uri)) == "s3://b/a"
    assert str(place_of(uri) / "commits") == "s3://b/a/commits"


def test_what_is_no_uri_is_a_path() -> None:
    assert place_of("state") == Path("state")
    assert place_of("file:/state") == Path("/state")
    with pytest.raises(StateError, match="state on ftp is not supported; stores: s3, gs, az, abfs, abfss"):
        place_of("ftp://host/state")


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["lose", "refuse", "error", "throttle"])
def test_a_request_that_is_lost_is_made_again_and_known(s3_place: OnStore, fault: str) -> None:
    root, proxy = place_of(s3_place.uri), s3_place.proxy

    def disturbed() -> None:
        first = len(proxy.seen)
        proxy.fault = lambda n, request: fault if n == first else None

    disturbed()
    create_whole(root / "record", b"ours")
    disturbed()
    with pytest.raises(FileExistsError):
        create_whole(root / "record", b"theirs")
    assert (root / "record").read_bytes() == b"ours"
    write_whole(root / "note", b"1")
    disturbed()
    if fault == "lose":  # whose answer is looked up
        write_whole(root / "note", b"2")
    else:
        with pytest.raises(Unanswered):
            write_whole(root / "note", b"2")
    assert (root / "note").read_bytes() == (b"2" if fault == "lose" else b"1")


@pytest.mark.slow
def test_a_request_that_nobody_answers_is_neither_done_nor_not(s3_place: OnStore) -> None:
    root = place_of(s3_place.uri)
    for fault, there in (("lose", True), ("refuse", False)):
        s3_place.proxy.fault = lambda n, request, fault=fault: fault
        with pytest.raises(Unanswered, match="can't be reached"):
            create_whole(root / fault, b"x")
        s3_place.proxy.fault = lambda n, request: None
        assert (root / fault).exists() == there
        create_whole(root / fault, b"x")  # the same again is the same


@pytest.mark.slow
def test_a_repeated_request_that_is_refused_says_nothing_of_the_first(s3_place: OnStore) -> None:
    root, proxy = place_of(s3_place.uri), s3_place.proxy
    first = len(proxy.seen)
    proxy.fault = lambda n, request: "lose" if n == first else "deny"
    with pytest.raises(Unanswered, match="denied"):
        create_whole(root / "record", b"x")
    with pytest.raises(Refused) as refused:
        create_whole(root / "other", b"x")
    assert not isinstance(refused.value, Unanswered)
    proxy.fault = lambda n, request: None
    assert (root / "record").read_bytes() == b"x"
    assert not (root / "other").exists()
