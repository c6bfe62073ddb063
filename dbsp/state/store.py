"""The state directory: what survives the process.

    DIR/program.json        format, program text and fingerprint     DIR/lock    held by its one writer
    DIR/commits/*.json      the commit log, one record per step      DIR/segments/*    what commits refer to

Opening it reads the last commit. The records of the last `retain` steps are kept; a segment goes when no
kept commit refers to it. What a step that died wrote is referred to by none and goes at the next opening:
never before, so that files of a running step are safe.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import tempfile
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from dbsp.circuits.errors import Error, StateError
from dbsp.circuits.traces.segments import Segments
from dbsp.sql.plans.declared import Declared
from dbsp.state.commits import Commit, create_whole, sync, write_whole
from dbsp.state.lock import Lock, Overtaken
from dbsp.state.places import local_path, scheme_of
from dbsp.state.sweep import Sweep, delete

FORMAT = 1
RETAIN = 10
_OURS = {"program.json", "program.json.tmp", "commits", "segments", "lock", "checkpoint"}
# what `link` fails with where there are no hard links, as on FAT
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS}

log = logging.getLogger("dbsp")


@dataclass(frozen=True)
class Identity:
    """The program a state directory belongs to. text: all of it, so that the directory can be queried.

    functions: those that aren't in the text, as records.
    """

    name: str
    fingerprint: str
    text: str
    timezone: str = "UTC"
    functions: tuple[Declared, ...] = ()


class Unsettled(StateError):
    """Whether a step is true isn't known: the disk doesn't say."""


class Store:
    """An open state directory. writable: holds the lock, and may commit.

    durable: every commit is synced to disk; not for a directory that ends with the process.
    """

    def __init__(self, root: Path, durable: bool, retain: int, lock: Lock | None, temporary: bool) -> None:
        self.root = root.absolute()  # Spark's workers have a working directory of their own
        self.durable = durable
        self.retain = retain
        self._lock = lock
        self._temporary = temporary
        self.segments = Segments(self.root / "segments")
        self._sweep = Sweep(self.segments)
        self._needed: dict[int, frozenset[str]] = {}  # per kept step, its segments
        self._expired: dict[int, frozenset[str]] = {}  # the same of those whose record is to be deleted
        self.last: Commit | None = None

    # -- opening ------------------------------------------------------------------------------------

    @staticmethod
    def temporary(identity: Identity, retain: int = RETAIN) -> Store:
        """A new directory that `close` removes."""
        directory = tempfile.mkdtemp(prefix="dbsp-state-")
        store = Store.open(directory, identity, retain, temporary=True)
        weakref.finalize(store, _remove, directory, os.getpid())  # also where nobody closes it
        return store

    @staticmethod
    def open(
        directory: str | Path, identity: Identity, retain: int = RETAIN, temporary: bool = False
    ) -> Store:
        """The directory as its last commit left it; a new one where there is none. Takes the lock.

        Raises StateError for a directory of something else, of another program, or in use.
        """
        if retain < 1:
            raise StateError(f"retain={retain}: at least the last commit must be kept; use retain=1 or more")
        root = local_root(directory)
        try:
            _refuse_foreign(root)
            root.mkdir(parents=True, exist_ok=True)
            lock = Lock(root / "lock")
        except OSError as error:
            raise StateError(f"{root}: can't be used for state: {error.strerror}") from None
        try:
            store = Store(root, not temporary, retain, lock, temporary)
            store._claim(identity)
            store._recover()
            store._sweep_leftovers()
        except BaseException:
            lock.close()
            raise
        return store

    @staticmethod
    def read(directory: str | Path) -> tuple[Store, Identity]:
        """For looking only: no lock, nothing changed, beside a writer too."""
        root = local_root(directory)
        if not root.is_dir():
            raise StateError(f"{root}: no such directory; give the --state directory of a run")
        identity = read_identity(root)
        if identity is None:
            raise StateError(f"{root}: no state directory (it has no program.json)")
        store = Store(root, False, RETAIN, None, False)
        store._recover()
        return store, identity

    def _claim(self, identity: Identity) -> None:
        found = read_identity(self.root)
        if found is None or (found.fingerprint != identity.fingerprint and not _steps(self.root)):
            # a program that failed before its first step leaves nothing to keep but a query's first offsets
            rmtree(self.root / "checkpoint", ignore_errors=True)
            (self.root / "segments").mkdir(exist_ok=True)
            (self.root / "commits").mkdir(exist_ok=True)
            record = {
                "format": FORMAT,
                "program": identity.name,
                "fingerprint": identity.fingerprint,
                "timezone": identity.timezone,
                "text": identity.text,
                "functions": [function.to_json() for function in identity.functions],
            }
            write_whole(self.root / "program.json", json.dumps(record, indent=1).encode(), self.durable)
        elif found.fingerprint != identity.fingerprint:
            raise StateError(
                f"{self.root}: holds the state of '{found.name}' ({found.fingerprint[:12]}), which differs "
                f"from '{identity.name}' ({identity.fingerprint[:12]}); use another state directory, or "
                "delete this one to start from nothing"
            )

    def _recover(self) -> None:
        steps = sorted(_steps(self.root))
        for step in reversed(steps):
            try:
                commit = self._load(step)
            except StateError as error:
                if self.last is None:
                    raise
                log.warning("%s", error)  # a later step is whole; this one just can't be looked at
                continue
            if commit is None:
                log.warning("%s: never fully written; going on from the step before it", self._path(step))
                continue
            if self.last is None:
                self.last = commit
            self._needed[step] = commit.segments
        if steps and self.last is None:
            raise StateError(
                f"{self.root}: none of its {len(steps)} commits is readable; restore it from a backup"
            )

    def _sweep_leftovers(self) -> None:
        """Delete what steps that died wrote, and records that end early."""
        kept = frozenset().union(*self._needed.values())
        for entry in os.scandir(self.root / "segments"):
            if entry.name not in kept:
                delete(Path(entry.path))
        for entry in os.scandir(self.root / "commits"):
            if entry.name.endswith(".tmp"):
                delete(Path(entry.path))
        for step in _steps(self.root):
            if step not in self._needed:
                self._path(step).unlink()
        if self.durable and self.last is not None:
            sync(self.root / "commits")  # whoever is told of the last step must not lose it any more

    # -- commits ------------------------------------------------------------------------------------

    @property
    def steps(self) -> list[int]:
        """The steps that can be read."""
        return sorted(self._needed)

    def check(self) -> None:
        """Raises Overtaken where another writer may have the directory."""
        assert self._lock is not None, f"{self.root} is open for reading"
        self._lock.check()

    def commit(self, commit: Commit) -> None:
        """Make a step true, and forget the oldest. Its segments must be on disk already.

        It is true from the instant at which its record has its name (see `create_whole`), and nothing after
        that raises but an interrupt. Raises StateError: it isn't true. Overtaken: neither, and another writer
        has the directory. Unsettled: it may be true.
        """
        assert commit.step == (self.last.step if self.last else 0) + 1, f"step {commit.step} out of turn"
        before = self.last.segments if self.last else frozenset()
        try:
            if self.durable and not commit.segments <= before:
                sync(self.root / "segments")
            self.check()
            create_whole(self._path(commit.step), commit.to_bytes(), self.durable)
        except OSError as error:
            # over a network a name can be made, and the answer get lost: then making it again fails
            if not self._is_there(commit):
                raise self._not_committed(commit.step, error) from error
        self.settle(commit)
        self._forget()

    def settle(self, commit: Commit) -> bool:
        """Whether a commit that was tried is true; then it is the last one here, too. Raises Unsettled."""
        if self.last is commit:
            return True
        if not self._is_there(commit):
            return False
        if self.durable:
            try:
                sync(self.root / "commits")
            except OSError as error:
                raise self._unsettled(commit.step, error) from error
        self._needed[commit.step] = commit.segments
        self.last = commit
        return True

    def _is_there(self, commit: Commit) -> bool:
        path = self._path(commit.step)
        try:
            return path.read_bytes() == commit.to_bytes()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unsettled(commit.step, error) from error

    def _not_committed(self, step: int, error: OSError) -> StateError:
        if isinstance(error, FileExistsError):
            return Overtaken(
                f"{self.root}: step {step} was committed by another writer; this one has stopped, and its "
                f"step {step} is not there: open the state directory again"
            )
        if error.errno in _NO_LINKS:
            return StateError(
                f"{self.root}: step {step} was not committed: {error.strerror}; a commit is a hard link, "
                "which this file system may not have: use another one for state"
            )
        return StateError(f"{self.root}: step {step} was not committed: {error.strerror}")

    def _unsettled(self, step: int, error: OSError) -> Unsettled:
        return Unsettled(
            f"{self.root}: whether step {step} was committed isn't known ({error.strerror}); open the state "
            "directory again, and see which step is its last"
        )

    def commit_of(self, step: int) -> Commit:
        """The record of a kept step. Raises StateError, which says which steps are kept."""
        if self.last is not None and step == self.last.step:
            return self.last
        commit = self._load(step) if step in self._needed else None
        if commit is None:
            kept = f"steps {self.steps[0]} to {self.steps[-1]} are" if self.steps else "no step is"
            raise StateError(f"{self.root}: step {step} is not kept; {kept} (retain={self.retain})")
        return commit

    def discard(self, names: Iterable[str]) -> None:
        """Delete segments that no commit refers to, of a step that failed or of staged input."""
        self._sweep.now(names)

    def discard_attempt(self, prefix: str) -> None:
        """Delete whatever a failed attempt at a step wrote."""
        self._sweep.attempt(prefix)

    def close(self) -> None:
        """Release the lock; a temporary directory disappears. Once is enough, and twice does no harm."""
        lock = self._lock
        if lock is not None:
            try:
                self._sweep.close()
                if self._temporary:
                    rmtree(self.root, ignore_errors=True)
            finally:
                lock.close()
            self._lock = None

    def _forget(self) -> None:
        """The records before the last `retain`, and what only they need."""
        assert self.last is not None
        for step in [step for step in self._needed if step <= self.last.step - self.retain]:
            self._expired[step] = self._needed[step]
            del self._needed[step]
        for step, names in sorted(self._expired.items()):
            if delete(self._path(step)):  # else it can still be read
                del self._expired[step]
                self._sweep.add(names.difference(*self._needed.values(), *self._expired.values()))
        self._sweep.beside()

    def _load(self, step: int) -> Commit | None:
        path = self._path(step)
        try:
            data = path.read_bytes()
        except FileNotFoundError:  # a writer forgot it meanwhile
            return None
        except OSError as error:
            raise StateError(f"{path}: can't be read: {error.strerror}") from None
        return Commit.from_bytes(data, str(path))

    def _path(self, step: int) -> Path:
        return self.root / "commits" / f"{step:012d}.json"


def _remove(directory: str, process: int) -> None:
    """In the process that made it: a fork has the same objects."""
    if os.getpid() == process:
        rmtree(directory, ignore_errors=True)


def local_root(directory: str | Path) -> Path:
    """Raises StateError for a URI of anything but local files."""
    scheme = scheme_of(str(directory))
    if scheme is not None:
        raise StateError(f"{directory}: state on {scheme} is not supported yet; use a local directory")
    try:
        return Path(local_path(str(directory)))
    except Error as error:
        raise StateError(str(error)) from None


def read_identity(root: Path) -> Identity | None:
    """Which program the directory belongs to; None: it is new. Raises StateError."""
    path = root / "program.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        version = record["format"]
        if version > FORMAT:
            raise StateError(
                f"{root}: written by a newer dbsp (format {version}, this one reads {FORMAT}); upgrade dbsp"
            )
        functions = tuple(Declared.from_json(each) for each in record.get("functions", ()))
        return Identity(
            record["program"], record["fingerprint"], record["text"], record["timezone"], functions
        )
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StateError(f"{path}: can't be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise StateError(f"{path}: not a program.json of dbsp; use another directory for state") from None


def _refuse_foreign(root: Path) -> None:
    if root.exists() and not root.is_dir():
        raise StateError(f"{root}: is a file; state needs a directory")
    if root.is_dir() and not (root / "program.json").exists():
        strange = sorted({entry.name for entry in os.scandir(root)} - _OURS)
        if strange:
            raise StateError(
                f"{root}: is no state directory (it holds '{strange[0]}' and no program.json); "
                "use an empty or a new directory"
            )


def _steps(root: Path) -> list[int]:
    try:
        names = [entry.name for entry in os.scandir(root / "commits")]
    except FileNotFoundError:
        return []
    return [int(name[:-5]) for name in names if name.endswith(".json") and name[:-5].isdigit()]
