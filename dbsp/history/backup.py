"""Backups: a state directory as of one step, taken while its writer runs, and put back.

    TO/backup.json    the small files, whole and sealed, as of a step      TO/segments/*    what they refer to

TO and the state are directories, or places on stores, the one as well as the other.

A backup is made at the instant at which backup.json is replaced: segments are there before, and those that
only the backup before needed go after: of those that were there before that instant, for on a store another
may make the next backup while this one sleeps through its lease. So one that is interrupted leaves the one
before. A segment that is there, and is what its checksums say, isn't copied again. The steps are pinned
meanwhile, by a tag that goes by itself.

A backup is renewed by the state that it is of, which has a name of its own (`Identity.state`). What is put
back becomes a state directory at the instant at which it gets its path, and keeps that name: where the first
is lost, it goes on in its place, and into the same backup. Where both go on, both may renew it, unless a step
is in both that differs; so one of them should have another place. What begins with a step of another state
(`branch`) is never taken for that.
"""

from __future__ import annotations

import base64
import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import DamagedChunk, StateError
from dbsp.history.chunks import copy_segments
from dbsp.history.copied import Changing, Copied, copied
from dbsp.history.placing import place
from dbsp.state.lock import Lock
from dbsp.state.objects.path import SEGMENTS
from dbsp.state.opening import only_writer
from dbsp.state.records.commits import Commit, write_whole
from dbsp.state.records.identity import BACKUP
from dbsp.state.records.places import Place, delete, names_in, place_of
from dbsp.state.records.sealed import read_sealed, seal
from dbsp.state.store import Store

if TYPE_CHECKING:
    from dbsp.state.objects.lease import Lease

NAME = BACKUP
_OURS = {NAME, NAME + ".tmp", SEGMENTS, "lock", "lease"}
_ATTEMPTS = 5
# what a backup that was killed leaves pinned
_PINNED = timedelta(days=1)

log = logging.getLogger("dbsp")


@dataclass(frozen=True)
class Copy:
    """What was done: of which step, with which before it, and how many segments and bytes were copied."""

    step: int
    steps: tuple[int, ...]
    segments: int
    size: int


def back_up(state: str | Path, to: str | Path) -> Copy:
    """Make, or renew, the backup in a directory. Raises StateError; then the one before is as it was."""
    root, target = place_of(state).absolute(), place_of(to).absolute()
    if f"{target}/".startswith(f"{root}/"):
        raise StateError(f"{target}: is in the state directory {root}; a backup goes to another place")
    _claim(target)
    with disk(target):
        lock = only_writer(target)
    try:
        for attempt in range(_ATTEMPTS):
            try:
                return _backed_up(root, target, lock)
            except (Changing, DamagedChunk) as error:
                # a step that was forgotten meanwhile took its segments with it
                needed = isinstance(error, DamagedChunk) and _is_needed(root, error)
                if needed or attempt == _ATTEMPTS - 1:
                    raise
    finally:
        lock.close()
    raise AssertionError(target)


def _backed_up(root: Place, target: Place, lock: Lock | Lease) -> Copy:
    with _pinned(root) as step:
        store, identity = Store.read(root)
        found = copied(store, identity, step, [other for other in store.steps if other < step])
        _refuse_another(target, root, found)
        if isinstance(target, Path):
            with disk(target):
                (target / SEGMENTS).mkdir(exist_ok=True)
        count, size = copy_segments(root, target, found.commits)
        with disk(target):
            there = {*names_in(target / SEGMENTS)}
        lock.check()
        _write(target, root, found)
    _sweep(target, there - {name for commit in found.commits for name in commit.segments})
    return Copy(found.step, tuple(commit.step for commit in found.commits), count, size)


def restore(source: str | Path, state: str | Path) -> Copy:
    """Make a state directory of a backup. Raises StateError; then there is none."""
    origin, root = place_of(source), place_of(state)
    found = _read(origin)
    if found is None:
        raise StateError(
            f"{origin}: no backup (it has no {NAME}); give the directory that `dbsp backup` made"
        )
    count, size = place(found, origin, root)
    return Copy(found.step, tuple(commit.step for commit in found.commits), count, size)


def _claim(target: Place) -> None:
    """Raises StateError for a directory of something else."""
    with disk(target):
        if isinstance(target, Path):
            if target.exists() and not target.is_dir():
                raise StateError(f"{target}: is a file; a backup needs a directory")
            _make(target)
        strange = sorted({*names_in(target)} - _OURS)
    if strange:
        raise StateError(
            f"{target}: is no backup (it holds '{strange[0]}'); use a new directory, or that of a backup"
        )


def _make(target: Path) -> None:
    """Where nothing was before. Raises StateError."""
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StateError(f"{target}: can't be made for a backup: {error.strerror}") from None


def _refuse_another(target: Place, root: Place, found: Copied) -> None:
    """Raises StateError where the backup that is there is of another state."""
    before = _read(target)
    if before is None:
        return
    if before.state and found.state and before.state != found.state:
        raise StateError(f"{target}: holds step {before.step} of another state; use another directory")
    now = {commit.step: commit for commit in found.commits}
    common = [commit for commit in before.commits if commit.step in now]
    differs = any(now[commit.step].attempt != commit.attempt for commit in common)
    if differs or before.step > found.step:
        raise StateError(
            f"{target}: holds step {before.step} of another state, or of this one before it went back to "
            f"step {found.step}; use another directory"
        )


def _write(target: Place, root: Place, found: Copied) -> None:
    files = {name: base64.b64encode(content).decode() for name, content in found.files.items()}
    of = {"of": str(root.absolute()), "state": found.state, "step": found.step}
    record = {"format": 1, **of, "files": files}
    with disk(target / NAME):
        write_whole(target / NAME, seal("backup", record))


def _read(target: Place) -> Copied | None:
    """Raises StateError for a damaged one."""
    advice = "use a backup before it, in another directory"
    record: Any = read_sealed("backup", target / NAME, advice)
    if record is None:
        return None
    if record["format"] != 1:
        raise StateError(f"{target}: made by a newer dbsp (format {record['format']}); upgrade dbsp")
    files = {name: base64.b64decode(content) for name, content in record["files"].items()}
    outside = [name for name in files if name.startswith("/") or ".." in Path(name).parts]
    if outside:
        raise StateError(
            f"{target / NAME}: damaged: '{outside[0]}' is no file of a state directory; {advice}"
        )
    records = sorted(name for name in files if name.startswith("commits/"))
    commits = tuple(Commit.from_bytes(files[name], target / name) for name in records)
    return Copied(commits, files, record.get("state", ""))


def _sweep(target: Place, others: set[str]) -> None:
    """What only the backup before needed, and what one that was interrupted left."""
    segments = target / SEGMENTS
    try:
        if isinstance(segments, Path):
            for name in others:
                delete(segments / name)
        else:
            segments.remove(others)
    except OSError as error:
        log.warning("%s: can't be swept (%s); the next backup does it", segments, error)


@contextmanager
def _pinned(root: Place) -> Iterator[int]:
    """The last step, which stays meanwhile."""
    name = f"backup-{secrets.token_hex(8)}"
    store = Store.read(root)[0]
    if store.last is None:
        raise StateError(f"{root}: there is no step yet, so nothing to back up")
    try:
        store.tags.add(name, store.last.step, _PINNED, since=store.unbroken)
    except StateError as error:
        if (root / "tags" / name).exists() or not store.last.step < Store.read(root)[0].steps[-1]:
            raise
        raise Changing(str(error)) from None
    try:
        yield store.last.step
    finally:
        with suppress(StateError):
            store.tags.remove(name)


def _is_needed(root: Place, error: DamagedChunk) -> bool:
    """Whether a kept step needs the segment that is damaged."""
    store = Store.read(root)[0]
    name = Path(error.path).name
    return any(name in store.commit_of(step).segments for step in store.steps)
