"""What the operating system refuses, anywhere under the state directory, is one line that names the path."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.pipeline.pipeline import Pipeline
from tests.dbsp.build import feed, pipeline


def insert(p: Pipeline, rows: int = 3000) -> None:
    p.insert("votes", [(user, user % 7) for user in range(rows)])


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """A write beyond fails with EFBIG, in any thread of this process."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def said(caught: pytest.ExceptionInfo[StateError]) -> str:
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize("size", [0, 100, 5000])
def test_a_file_that_can_not_be_written(tmp_path: Path, size: int) -> None:
    with pipeline(tmp_path / "s") as p:
        feed(p)
        insert(p)
        with files_up_to(size), pytest.raises(StateError, match=rf"{tmp_path}/s.*: File too large") as caught:
            p.step()
        said(caught)
        assert p.step().step == 5  # what was queued still is
        assert len(p["all_votes"]) == 3000 + 25


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts a small disk")
def test_a_full_disk(tmp_path: Path) -> None:
    """In a name space of its own, so that nothing stays mounted."""
    disk = tmp_path / "disk"
    script = f"""
        from pathlib import Path
        from dbsp.circuits.errors import StateError
        from tests.dbsp.state.test_disk import insert, pipeline
        disk = Path({str(disk)!r})
        with pipeline(disk / "s") as p:
            insert(p)
            p.step()
            room = (disk / "room").open("wb", buffering=0)
            try:
                while room.write(bytes(4096)):
                    pass
            except OSError:
                pass
            insert(p)
            try:
                p.step()
            except StateError as error:
                print(error)
            room.close()
            (disk / "room").unlink()
            print(p.step().step, len(p["all_votes"]))
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(script))
    disk.mkdir()
    mounted = f"mount -t tmpfs -o size=2m tmpfs {disk} && exec {sys.executable} {tmp_path / 'script.py'}"
    ran = subprocess.run(
        ["unshare", "-m", "sh", "-c", mounted],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in ran.stderr or "mount:" in ran.stderr:
        pytest.skip("can't mount here")
    assert not ran.stderr
    first, second = ran.stdout.splitlines()
    assert first.startswith(f"{disk}/s/")
    assert ": No space left on device; make room on that disk, then try again" in first
    assert second == "2 6000"


@pytest.mark.parametrize("what", ["s", "s/segments", "s/commits"])
def test_a_directory_that_is_moved_away(tmp_path: Path, what: str) -> None:
    with pipeline(tmp_path / "s") as p:
        feed(p)
        insert(p)
        (tmp_path / what).rename(tmp_path / "elsewhere")
        with pytest.raises(StateError, match=rf"^{tmp_path}/s.*: No such file or directory") as caught:
            p.step()
        said(caught)
        (tmp_path / "elsewhere").rename(tmp_path / what)
        assert p.step().step == 5


@pytest.mark.parametrize("name", ["lock", "program.json", "commits/000000000004.json"])
def test_a_directory_in_place_of_a_file(tmp_path: Path, name: str) -> None:
    with pipeline(tmp_path / "s") as p:
        feed(p)
    (tmp_path / "s" / name).unlink()
    (tmp_path / "s" / name).mkdir()
    with pytest.raises(StateError, match=rf"{tmp_path}/s.*: .*Is a directory") as caught:
        pipeline(tmp_path / "s")
    said(caught)


def test_a_segment_that_is_a_directory(tmp_path: Path) -> None:
    with pipeline(tmp_path / "s") as p:
        feed(p)
    for path in (tmp_path / "s" / "segments").iterdir():
        path.unlink()
        path.mkdir()
    with pipeline(tmp_path / "s") as p:
        with pytest.raises(
            StateError, match=r"segments/.*: damaged: the chunk of .* can't be read"
        ) as caught:
            p["counts"].rows()
        said(caught)
        for path in (tmp_path / "s" / "segments").iterdir():
            path.rmdir()
        with pytest.raises(StateError, match=r"segments/.*: damaged: the chunk of .* is missing"):
            p["counts"].rows()
