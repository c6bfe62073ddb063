"""The state directory through crashes, damage, strangers and other programs."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import dbsp.state.commits
from dbsp.circuits.errors import StateError
from dbsp.circuits.traces.segments import Chunk
from dbsp.state import commits, sweep
from dbsp.state.commits import Commit
from dbsp.state.identity import FORMAT, Identity
from dbsp.state.sealed import seal
from dbsp.state.store import Store
from dbsp.state.sweep import Sweep

IDENTITY = Identity("program.sql", "f1", "-- text")


def commit(step: int, *segments: str) -> Commit:
    return Commit(step, "f1", {"spines": {f"t{step}": step}}, segments=frozenset(segments))


def write(store: Store, name: str) -> str:
    (store.root / "segments" / name).write_bytes(b"x")
    return name


def segments(store: Store) -> set[str]:
    return set(os.listdir(store.root / "segments"))


def record(store: Store, step: int) -> Path:
    return store.root / "commits" / f"{step:012d}.json"


def filled(root: Path, steps: int, retain: int = 10) -> Store:
    store = Store.open(root, IDENTITY, retain)
    for step in range(1, steps + 1):
        store.commit(commit(step, write(store, f"{step}.seg")))
    return store


def test_a_commit_reads_back_as_it_was(tmp_path):
    whole = Commit(
        1,
        "f1",
        {"spines": {"3": [1, 2]}},
        changes={"v": [["a.seg", 0, 64, 1, 0, 0]]},
        segments=frozenset({"a.seg"}),
        stream="query",
        batch=7,
        offsets={"t": "ü"},
        waterlines={"t.ts": 5},
    )
    with_clock = Commit.from_bytes(whole.to_bytes(), Path("s", "commits", "000000000001.json"))
    assert with_clock == whole
    assert json.loads(whole.to_bytes())["commit"]["batch"] == 7


def test_the_last_commit_is_where_it_goes_on(tmp_path):
    filled(tmp_path / "s", 3).close()
    store = Store.open(tmp_path / "s", IDENTITY)
    assert store.last == commit(3, "3.seg")
    assert store.steps == [1, 2, 3]
    assert store.commit_of(2) == commit(2, "2.seg")


def test_an_empty_directory_is_a_new_one(tmp_path):
    assert Store.open(tmp_path, IDENTITY).last is None


@pytest.mark.parametrize("moment", ["write", "fsync", "link"])
def test_a_crash_before_the_link_leaves_the_step_before(tmp_path, monkeypatch, moment):
    store = filled(tmp_path, 2)
    write(store, "3.seg")

    class Killed(BaseException):
        pass

    def die(*_):
        raise Killed

    if moment == "write":
        monkeypatch.setattr(Commit, "to_bytes", lambda _: die())
    else:
        monkeypatch.setattr(dbsp.state.commits.os, moment, die)
    with pytest.raises(Killed):
        store.commit(commit(3, "3.seg"))
    monkeypatch.undo()
    store.close()
    again = Store.open(tmp_path, IDENTITY)
    assert again.last == commit(2, "2.seg")
    assert segments(again) == {"1.seg", "2.seg"}
    assert not list((tmp_path / "commits").glob("*.tmp"))
    again.commit(commit(3, write(again, "3b.seg")))
    assert again.last.step == 3


def test_a_file_system_without_hard_links_is_told(tmp_path, monkeypatch):
    store = filled(tmp_path, 1)

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(dbsp.state.commits.os, "link", refuse)
    with pytest.raises(
        StateError, match=r"step 2 was not committed: .* hard link, which this file system may"
    ):
        store.commit(commit(2))
    assert not record(store, 2).exists()


def test_a_killed_process_leaves_the_step_before_and_no_lock(tmp_path):
    script = f"""
        import os, signal
        import dbsp.state.commits
        from tests.dbsp.state.test_store import filled, commit, write
        store = filled({str(tmp_path / "s")!r}, 2)
        write(store, "3.seg")
        dbsp.state.commits.os.link = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        store.commit(commit(3, "3.seg"))
    """
    here = Path(__file__).parents[3]
    died = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=here, check=False)
    assert died.returncode == -9
    again = Store.open(tmp_path / "s", IDENTITY)
    assert again.last == commit(2, "2.seg")
    assert segments(again) == {"1.seg", "2.seg"}


@pytest.mark.parametrize("kept", [0, 1, 40, 90, -2, -1])
def test_a_torn_commit_was_whole_once(tmp_path, kept):
    """It has its name, and its bytes were on disk before."""
    store = filled(tmp_path, 3)
    store.close()
    whole = record(store, 3).read_bytes()
    record(store, 3).write_bytes(whole[:kept])
    with pytest.raises(StateError, match=r"000000000003.json: damaged: .*; restore .* `dbsp fsck "):
        Store.open(tmp_path, IDENTITY)
    with pytest.raises(StateError, match=r"000000000003.json: damaged"):
        Store.read(tmp_path)
    assert segments(store) == {"1.seg", "2.seg", "3.seg"}
    record(store, 3).write_bytes(whole)
    assert Store.open(tmp_path, IDENTITY).last == commit(3, "3.seg")


def test_a_record_under_another_name_is_no_step(tmp_path):
    store = filled(tmp_path, 3)
    store.close()
    record(store, 3).write_bytes(record(store, 2).read_bytes())
    with pytest.raises(StateError, match=r"000000000003.json: damaged: the file is the record of step 2"):
        Store.open(tmp_path, IDENTITY)


def test_a_damaged_old_commit_only_can_t_be_looked_at(tmp_path, caplog):
    store = filled(tmp_path, 3)
    store.close()
    whole = record(store, 2).read_bytes()
    record(store, 2).write_bytes(b"{}\n")
    again = Store.open(tmp_path, IDENTITY)
    assert again.last == commit(3, "3.seg")
    with pytest.raises(StateError, match=r"000000000002.json: damaged"):
        again.commit_of(2)
    assert "000000000002.json: damaged" in caplog.text
    again.close()
    record(store, 2).unlink()
    again = Store.open(tmp_path, IDENTITY)
    with pytest.raises(StateError, match="the file is missing"):
        again.commit_of(2)
    again.close()
    record(store, 2).write_bytes(whole)  # from a backup: what it needs was left alone
    assert Store.read(tmp_path)[0].commit_of(2) == commit(2, "2.seg")


def test_records_that_were_lost_are_missed(tmp_path):
    store = filled(tmp_path, 4)
    write(store, "000000000004-abc-1.trace")
    store.close()
    (tmp_path / "commits" / "last").unlink()
    for step in (3, 4):
        record(store, step).unlink()
    with pytest.raises(StateError, match="step 3 was committed, and the last record is that of step 2"):
        Store.open(tmp_path, IDENTITY)
    for step in (1, 2):
        record(store, step).unlink()
    with pytest.raises(StateError, match="last record is that of step 0"):
        Store.open(tmp_path, IDENTITY)
    (tmp_path / "commits").rmdir()
    with pytest.raises(StateError, match="commits: damaged: the directory is missing"):
        Store.open(tmp_path, IDENTITY)


def test_the_newest_record_has_a_second_name(tmp_path, caplog):
    store = filled(tmp_path, 3)
    store.close()
    record(store, 3).unlink()
    again = Store.open(tmp_path, IDENTITY)
    assert again.last == commit(3, "3.seg")
    assert "000000000003.json: damaged: the file was missing" in caplog.text
    again.commit(commit(4, write(again, "4.seg")))
    again.close()
    (tmp_path / "commits" / "last").write_bytes(b"")  # under both names: they are one file
    with pytest.raises(StateError, match=r"000000000004.json: damaged: the file is empty"):
        Store.open(tmp_path, IDENTITY)
    (tmp_path / "commits" / "last").unlink()
    record(store, 4).unlink()
    assert Store.open(tmp_path, IDENTITY).last == commit(3, "3.seg")  # without any witness


def test_a_lost_program_json_is_written_anew_by_its_program(tmp_path):
    filled(tmp_path, 2).close()
    (tmp_path / "program.json").unlink()
    with pytest.raises(StateError, match="no state directory"):
        Store.read(tmp_path)
    with pytest.raises(StateError, match="which differs from"):
        Store.open(tmp_path, Identity("other.sql", "f2", ""))
    Store.open(tmp_path, IDENTITY).close()
    assert Store.read(tmp_path)[1] == IDENTITY


def test_old_commits_go_with_what_only_they_need(tmp_path):
    store = Store.open(tmp_path, IDENTITY, retain=2)
    store.commit(commit(1, write(store, "a"), write(store, "shared")))
    store.commit(commit(2, write(store, "b"), "shared"))
    write(store, "running")  # a step that is under way
    store.commit(commit(3, write(store, "c"), "shared"))
    store.commit(commit(4, write(store, "d")))
    assert store.steps == [3, 4]
    with pytest.raises(StateError, match=r"step 1 is not kept; steps 3 to 4 are \(retain=2\)"):
        store.commit_of(1)
    store.close()  # waits for what is being deleted
    assert segments(store) == {"b", "c", "d", "shared", "running"}  # b: a step after its record
    assert segments(Store.open(tmp_path, IDENTITY, retain=2)) == {"c", "d", "shared"}


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
        return sweep.delete(path)

    monkeypatch.setattr("dbsp.state.store.sync", synced)
    with monkeypatch.context() as patched:
        patched.setattr("dbsp.state.store.delete", watched)
        patched.setattr(
            Sweep, "_delete", lambda self: [watched(Path(self._segments.root, n)) for n in self._left]
        )
        patched.setattr(Sweep, "beside", lambda self: self._delete())
        filled(tmp_path, 6, retain=2).close()
        assert "3.seg" in deleted
        Store.open(tmp_path, IDENTITY, retain=1).close()  # forgets step 5, in another order
    assert segments(Store.open(tmp_path, IDENTITY, retain=1)) == {"6.seg"}


@pytest.mark.parametrize("name", ["../program.json", "/etc/passwd", "..", "a/b", "", None])
def test_a_record_that_names_files_elsewhere_is_damaged(tmp_path, name):
    """What it names is read, and deleted when nothing needs it any more."""
    whole = commit(1).to_bytes()
    outside = json.loads(whole)["commit"] | {"segments": [name]}
    store = Store.open(tmp_path, IDENTITY)
    record(store, 1).write_bytes(seal("commit", outside))
    store.close()
    with pytest.raises(StateError, match=r"000000000001\.json: damaged: '.*' is no name of a segment"):
        Store.open(tmp_path, IDENTITY)
    with pytest.raises(StateError, match="is no segment; the record is damaged"):
        Chunk.from_json([name, 0, 64, 1, 1, 0, 0])


def test_one_writer_at_a_time(tmp_path):
    store = filled(tmp_path, 1)
    with pytest.raises(
        StateError, match=rf"{tmp_path}: in use by process {os.getpid()} on .*; close it first"
    ):
        Store.open(tmp_path, IDENTITY)
    looking, identity = Store.read(tmp_path)
    assert (looking.last, identity) == (commit(1, "1.seg"), IDENTITY)
    store.close()
    Store.open(tmp_path, IDENTITY).close()


def test_a_reader_changes_nothing(tmp_path):
    store = filled(tmp_path, 2)
    write(store, "3.seg")
    Store.read(tmp_path)[0].close()
    assert segments(store) == {"1.seg", "2.seg", "3.seg"}


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


@pytest.mark.parametrize(
    ("number", "said"), [(1, "older dbsp .format 1"), (FORMAT + 1, "newer dbsp .*upgrade")]
)
def test_another_format_is_refused(tmp_path, number, said):
    filled(tmp_path, 1).close()
    record = {"format": number, "program": "program.sql"}
    content = json.dumps(record, indent=1).encode() if number == 1 else seal("state of", record)
    (tmp_path / "program.json").write_bytes(content)
    with pytest.raises(StateError, match=said):
        Store.open(tmp_path, IDENTITY)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "x"}', "\0"])
def test_a_strange_program_json_is_refused(tmp_path, content):
    (tmp_path / "program.json").write_text(content)
    with pytest.raises(
        StateError, match=r"program\.json: damaged: .*; restore it from a backup, or delete it"
    ):
        Store.open(tmp_path, IDENTITY)


def test_somebody_else_s_directory_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(StateError, match=r"is no state directory \(it holds 'thesis.tex'"):
        Store.open(tmp_path, IDENTITY)
    assert os.listdir(tmp_path) == ["thesis.tex"]
    with pytest.raises(StateError, match="is a file"):
        Store.open(tmp_path / "thesis.tex", IDENTITY)


def test_a_crash_while_it_was_made_does_no_harm(tmp_path):
    for left in ("segments", "commits"):
        (tmp_path / left).mkdir()
    (tmp_path / "program.json.tmp").write_text("{")
    assert Store.open(tmp_path, IDENTITY).last is None


@pytest.mark.parametrize(
    ("directory", "said"),
    [
        ("s3://bucket/state", "state on s3 is not supported yet"),
        ("dbfs:/state", "dbfs:/state: state on dbfs is not supported yet; use a local directory"),
        (Path("abfss://x/state"), "state on abfss is not supported yet"),
        ("file://tmp/state", "'tmp' is read as the name of a host; write file:/tmp/state"),
        ("/proc/nowhere/state", "can't be used for state"),
    ],
)
def test_places_that_won_t_do(directory, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for opened in (lambda: Store.open(directory, IDENTITY), lambda: Store.read(directory)):
        with pytest.raises(StateError, match=said if "proc" not in str(directory) else "nowhere"):
            opened()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("form", ["file:{}", "file://{}", "file://localhost{}", "FILE:{}", "{}"])
def test_a_uri_of_local_files_is_their_path(tmp_path, form):
    directory = form.format(tmp_path / "state")
    Store.open(directory, IDENTITY).close()
    assert (tmp_path / "state" / "program.json").exists()
    assert Store.read(directory)[1] == IDENTITY


def test_reading_what_isn_t_there(tmp_path):
    with pytest.raises(StateError, match="no such directory"):
        Store.read(tmp_path / "nowhere")
    with pytest.raises(StateError, match=r"no state directory \(it has no program.json\)"):
        Store.read(tmp_path)


def test_a_temporary_directory_ends_with_its_store():
    store = Store.temporary(IDENTITY)
    store.commit(commit(1, write(store, "1.seg")))
    assert store.root.is_dir()
    store.close()
    assert not store.root.exists()


def test_a_temporary_directory_goes_with_a_store_nobody_closed():
    store = Store.temporary(IDENTITY)
    root = store.root
    del store
    gc.collect()
    assert not root.exists()


def test_the_directory_is_synced_before_the_step_is_acknowledged(tmp_path, monkeypatch):
    """Power failure: what a record refers to, then the record, then its name reach the disk in that order."""
    store = filled(tmp_path, 1)
    order = []
    fsync, link = os.fsync, os.link
    monkeypatch.setattr(os, "fsync", lambda fd: order.append(os.readlink(f"/proc/self/fd/{fd}")) or fsync(fd))
    monkeypatch.setattr(os, "link", lambda a, b: order.append(f"link {b.name}") or link(a, b))
    store.commit(commit(2, write(store, "2.seg")))
    commits = tmp_path / "commits"
    directory, record, named, log, last = order
    assert (directory, named, log) == (str(tmp_path / "segments"), "link 000000000002.json", str(commits))
    assert record.startswith(f"{commits}/000000000002.json.")
    assert record.endswith(".tmp")
    assert last == "link last.tmp"
