"""The state directory: what survives the process.

    DIR/program.json        program text, what it keeps, format      DIR/lock    held by its one writer
    DIR/commits/*.json      the commit log, one record per step      DIR/segments/*    what commits refer to
    DIR/keep.json           how many steps are kept                  DIR/tags/*        steps that stay

Opening it reads the last commit. The records of the steps that a rule keeps (`dbsp.state.keep`) or a tag pins
are kept; a segment goes when no kept commit refers to it. What a step that died wrote is referred to by none
and goes at the next opening: never before, so that files of a running step are safe.

On a store (`s3://…`) the same names are objects, and `lease` is in the place of `lock`. Nothing is deleted
there but by name: what goes is collected over some steps and goes in one request, records before segments.
Another writer may still be at work, which doesn't know that its lease has ended: what seems to be left of a
step that died could be what it is about to commit. So that goes once this one's own record of that step is
there.
"""

from __future__ import annotations

import errno
import logging
import os
import tempfile
import weakref
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from shutil import rmtree

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import Overtaken, StateError
from dbsp.state.commits import (
    LAST,
    Commit,
    create_whole,
    load_commit,
    mark_last,
    marked_last,
    move,
    record_name,
    record_path,
    recorded_steps,
    sync,
    traces_of,
    write_whole,
)
from dbsp.state.identity import (
    FORMAT,
    NAME,
    NEXT,
    Identity,
    OtherProgram,
    of_another,
    read_identity,
    refuse_foreign,
)
from dbsp.state.keep import Keep, read_keep, write_keep
from dbsp.state.kept import Kept, Known, oldest_with
from dbsp.state.lock import Lock
from dbsp.state.objects.lease import Lease
from dbsp.state.objects.path import ObjectPath
from dbsp.state.objects.refusals import Unanswered
from dbsp.state.opening import only_writer, open_segments
from dbsp.state.places import Place, place_of
from dbsp.state.sweep import Sweep, delete
from dbsp.state.tags import Tags

# when a chunk is compared with its checksum: all at opening, each when it is first read, or not at all
VERIFY = ("open", "first read", "never")
# of a store: how many records have expired before they are deleted, in one request
EXPIRED = 20
# what `link` fails with where there are no hard links, as on FAT
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS}

log = logging.getLogger("dbsp")


class Unsettled(StateError):
    """Whether a step is true isn't known: the disk doesn't say."""


class Store:
    """An open state directory. writable: holds the lock, and may commit.

    durable: every commit is synced to disk; not for a directory that ends with the process, a temporary one.
    verify: see `VERIFY`.
    """

    def __init__(
        self,
        root: Place,
        durable: bool,
        keep: Keep,
        lock: Lock | Lease | None,
        temporary: bool,
        verify: str = VERIFY[1],
    ) -> None:
        self.root = root.absolute()  # Spark's workers have a working directory of their own
        self.durable = durable
        self.keep = keep
        self._lock = lock
        self.is_temporary = temporary
        self.segments = open_segments(self.root, verify != "never")
        self._sweep = Sweep(self.segments)
        self.tags = Tags(self.root)
        self._kept = Kept()
        self._expired: dict[int, frozenset[str]] = {}  # segments of those whose record is to be deleted
        self._freed: set[str] = set()  # of those whose record was deleted since `commits` was last synced
        self._damaged: set[int] = set()
        self._unwritten: Identity | None = None  # what program.json is to say before the next record is there
        self.last: Commit | None = None
        self._behind: frozenset[str] = frozenset()  # on a store: segments of steps after the last, at opening
        self._asked: Commit | None = None  # whose record may be there, or come to be there
        self._created: Commit | None = None  # whose record is there

    # -- opening ------------------------------------------------------------------------------------

    @staticmethod
    def temporary(identity: Identity, keep: Keep | None = None, at_least: int = 1) -> Store:
        """A new directory that `close` removes."""
        directory = tempfile.mkdtemp(prefix="dbsp-state-")
        store = Store.open(directory, identity, keep, temporary=True, at_least=at_least)
        weakref.finalize(store, _remove, directory, os.getpid())  # also where nobody closes it
        return store

    @staticmethod
    def open(
        directory: str | Place,
        identity: Identity,
        keep: Keep | None = None,
        temporary: bool = False,
        verify: str = VERIFY[1],
        at_least: int = 1,
    ) -> Store:
        """The directory as its last commit left it; a new one where there is none. Takes the lock.

        keep: from now on; None: as the directory says. at_least: for now, as many steps. Raises StateError
        for a directory of something else, of another program, or in use.
        """
        root = place_of(directory)
        try:
            refuse_foreign(root)
            if isinstance(root, Path):
                root.mkdir(parents=True, exist_ok=True)
            lock = only_writer(root)
        except OSError as error:
            raise StateError(f"{root}: can't be used for state: {error.strerror}") from None
        try:
            store = Store(
                root, not temporary, (keep or read_keep(root)).at_least(at_least), lock, temporary, verify
            )
            with disk(root):
                store._claim(identity)
                if keep is not None and keep != read_keep(root):
                    write_keep(root, keep, store.durable)
                store._recover(identity)
                store._sweep_leftovers()
        except BaseException:
            lock.close()
            raise
        return store

    @staticmethod
    def read(directory: str | Place, verify: str = VERIFY[1]) -> tuple[Store, Identity]:
        """For looking only: no lock, nothing changed, beside a writer too."""
        root = place_of(directory)
        if isinstance(root, Path) and not root.is_dir():
            raise StateError(f"{root}: no such directory; give the --state directory of a run")
        with disk(root):
            store = Store(root, False, read_keep(root), None, False, verify)
            identity = store._program()
        if identity is None:
            raise StateError(f"{root}: no state directory (it has no program.json)")
        with disk(root):
            while store.last is None and recorded_steps(
                root
            ):  # again where a writer has forgotten all that were listed
                store._recover(identity)
        return store, identity

    def _program(self) -> Identity | None:
        """The program of the last record; None: there is no program.json.

        Where a change of program was interrupted, which one that is. A writer tidies up.
        """
        found, coming = read_identity(self.root), read_identity(self.root, NEXT)
        if coming is None:
            return found
        steps = recorded_steps(self.root)
        last = self._load(steps[-1]) if steps else None
        is_true = last is not None and coming.describes(last.fingerprint, traces_of(last))
        if self._lock is not None:
            if is_true:
                move(self.root / NEXT, self.root / NAME)
            else:
                (self.root / NEXT).unlink()
            if self.durable:
                sync(self.root)
        return coming if is_true else found

    def _claim(self, identity: Identity) -> None:
        found = self._program()
        if found is not None and found.fingerprint == identity.fingerprint:
            if found.format < FORMAT:
                self._unwritten = identity
            return
        steps = recorded_steps(self.root)
        if steps:
            if found is None:
                return  # program.json was lost: the commits say whether they are this program's
            last = self._load(steps[-1])
            if last is None or last.fingerprint != identity.fingerprint:
                raise of_another(self.root, found.name, found.fingerprint, identity)
            # gone back to a step from before a change of program
            write_whole(self.root / NAME, identity.to_bytes(), self.durable)
            return
        # a program that failed before its first step leaves nothing to keep but a query's first offsets
        if isinstance(self.root, Path):
            rmtree(self.root / "checkpoint", ignore_errors=True)
            (self.root / "segments").mkdir(exist_ok=True)
            (self.root / "commits").mkdir(exist_ok=True)
        write_whole(self.root / NAME, identity.to_bytes(), self.durable)

    def _recover(self, identity: Identity) -> None:
        """Find the last step. One that can't be read is not passed over; an older one may be missing."""
        if self._lock is not None:
            self._put_back(self.tags.steps().keys() - {*recorded_steps(self.root)})
        steps = self._with_marked(recorded_steps(self.root))
        for step in reversed(steps):
            commit = self._load(step) if self.last is None else self._load_old(step)
            if commit is not None:
                self.last = self.last or commit
                self._kept.add(step, Known.of(commit))
        if self.last is not None and self.last.fingerprint != identity.fingerprint:
            raise of_another(self.root, "another program", self.last.fingerprint, identity)
        if self.last is not None and self.last.format == FORMAT:
            self._refuse_other_traces(self.last, identity)
        if self._lock is not None:
            for step in self._past():  # forgotten, but a power failure brought it back
                needed = self._kept.remove(step)
                self._damaged.discard(step)
                if isinstance(self.root, ObjectPath):  # or never deleted, nor what only it needs
                    self._expired[step] = needed
            self._refuse_lost_steps()
            if not (self.root / NAME).exists():
                write_whole(self.root / NAME, identity.to_bytes(), self.durable)

    def _refuse_other_traces(self, last: Commit, identity: Identity) -> None:
        """A program may come to keep other traces than it did, in another release."""
        manifest = identity.manifest
        absent = manifest.traces.keys() - (manifest.goes_on_with(last.state) if manifest.traces else set())
        if absent:
            raise OtherProgram(
                f"{self.root}: '{identity.name}' keeps other rows than it did ({len(absent)} of its traces "
                "aren't there): it was compiled by another release of dbsp or Spark; use that one, or "
                "another state directory"
            )

    def _with_marked(self, steps: list[int]) -> list[int]:
        """And the newest step, if its record was deleted. A writer puts the record back."""
        marked = marked_last(self.root) if self._lock is not None else None
        if marked is None or marked.step <= max(steps, default=0):
            return steps
        path = self._path(marked.step)
        assert isinstance(self.root, Path)
        assert isinstance(path, Path)
        log.warning("%s: damaged: the file was missing, and is back from its second name '%s'", path, LAST)
        os.link(self.root / LAST, path)
        if self.durable:
            sync(path.parent)
        return [*steps, marked.step]

    def _load_old(self, step: int) -> Commit | None:
        """The record of a step before the last; of a damaged one only its name. `commit_of` then says so."""
        try:
            return self._load(step)
        except StateError as error:
            log.warning("%s", error)
            self._damaged.add(step)
            self._kept.add(step, Known())
            return None

    def _refuse_lost_steps(self) -> None:
        """A segment of step n was begun when step n − 1 was committed."""
        last = self.last.step if self.last else 0
        origin = self.segments.origin
        if origin is not None:
            self._behind = frozenset(origin.names("", f"{last + 1:012d}"))
        names = self._behind if isinstance(self.root, ObjectPath) else os.listdir(self.root / "segments")
        begun = [int(name[:12]) for name in names if name[:12].isdigit()]
        if begun and max(begun) > last + 1:
            raise StateError(
                f"{self.root / 'commits'}: damaged: step {max(begun) - 1} was committed, and the last record "
                f"is that of step {last}; restore the directory from a backup, or go back to that step: "
                f"`dbsp fsck {self.root} --restore-to {last}`"
            )

    def _sweep_leftovers(self) -> None:
        """Delete what steps that died wrote."""
        if self._damaged:
            self._behind = frozenset()
            return  # what they need may be wanted yet, when they come back from a backup
        kept = self._kept.segments()
        if isinstance(self.root, ObjectPath):
            self._behind -= kept.union(*self._expired.values())
            return
        for entry in os.scandir(self.root / "commits"):
            if entry.name.endswith(".tmp"):
                delete(Path(entry.path))
        for step in recorded_steps(self.root):
            if step not in self._kept:
                self._path(step).unlink()
        if self.durable and self.last is not None:
            # whoever is told of the last step must not lose it any more; and no record comes back without
            # its segments
            sync(self.root / "commits")
        for entry in os.scandir(self.root / "segments"):
            if entry.name not in kept:
                delete(Path(entry.path))

    # -- commits ------------------------------------------------------------------------------------

    @property
    def steps(self) -> list[int]:
        """The steps that can be read."""
        return self._kept.steps

    @property
    def unbroken(self) -> int:
        """The step from which on all can be read."""
        return self._kept.unbroken

    def oldest_with(self, step: int, instant: datetime, driven: bool) -> int:
        """From which step on none will be missing once the next one is made."""
        return oldest_with(self._kept, self.keep, step, Known(frozenset(), instant, driven))

    def check(self) -> None:
        """Raises Overtaken where another writer may have the directory."""
        assert self._lock is not None, f"{self.root} is open for reading"
        self._lock.check()

    def commit(self, commit: Commit, program: Identity | None = None) -> None:
        """Make a step true, and forget the oldest. Its segments must be on disk already.

        program: from this step on the directory belongs to that one.
        It is true from the instant at which its record has its name (see `create_whole`), and nothing after
        that raises but an interrupt. Raises StateError: it isn't true. Overtaken: neither, and another writer
        has the directory. Unsettled: it may be true.
        """
        assert commit.step == (self.last.step if self.last else 0) + 1, f"step {commit.step} out of turn"
        before = self.last.segments if self.last else frozenset()
        try:
            if not commit.segments <= before:
                self.segments.settle(commit.segments)
                if self.durable:
                    sync(self.root / "segments")
            self.check()
            if self._unwritten is not None:
                write_whole(self.root / NAME, self._unwritten.to_bytes(), self.durable)
                self._unwritten = None
            if program is not None:
                write_whole(self.root / NEXT, program.to_bytes(), self.durable)
            self._create(commit)
        except OSError as error:
            # over a network a name can be made, and the answer get lost: then making it again fails
            if not self._is_there(commit):
                raise self._not_committed(commit.step, error) from error
        self.settle(commit)
        if program is not None:
            try:
                self._program()
            except OSError as error:  # the next opening does it
                log.warning("%s: %s", self.root / NEXT, error)
        self._sweep.add(self._behind)
        self._behind = frozenset()
        mark_last(self.root, commit.step)
        self._forget()

    def _create(self, commit: Commit) -> None:
        """Raises FileExistsError, OSError: on a store there is no such record then, but of Unanswered."""
        self._asked = commit
        try:
            create_whole(self._path(commit.step), commit.to_bytes(), self.durable)
        except Unanswered:
            raise
        except OSError:
            self._asked = None
            raise
        self._created = commit

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
        self._kept.add(commit.step, Known.of(commit))
        self.last = commit
        return True

    def _is_there(self, commit: Commit) -> bool:
        if self._created is commit:
            return True
        path = self._path(commit.step)
        if isinstance(path, ObjectPath):
            return self._asked is commit and self._is_created(commit)
        try:
            return path.read_bytes() == commit.to_bytes()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unsettled(commit.step, error) from error

    def _is_created(self, commit: Commit) -> bool:
        """A store may yet carry out a request that it hasn't answered: it is asked until it answers."""
        try:
            self._create(commit)
        except FileExistsError:
            return False
        except OSError as error:
            raise self._unsettled(commit.step, error) from error
        return True

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
        commit = self._load(step) if step in self._kept else None
        if (
            commit is None
            and self.last is not None
            and max(self.last.oldest, self.steps[0]) < step < self.last.step
        ):
            raise StateError(
                f"{self._path(step)}: damaged: the file is missing; what step {step} changed, and the views "
                "as of it, can't be looked at: the steps after it don't need it"
            )
        if commit is None:
            raise StateError(f"{self.root}: step {step} is not kept; {self.said_kept()} ({self.keep})")
        return commit

    def said_kept(self) -> str:
        """What is kept, in words."""
        if not self.steps:
            return "no step is"
        first, last = self.unbroken, self.steps[-1]
        tagged = [f"{tag.step} ('{name}')" for name, tag in self.tags.all().items()]
        beside = f", and tagged are {', '.join(tagged)}" if tagged else ""
        return f"steps {first} to {last} are{beside}"

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
                if isinstance(self.root, ObjectPath):  # nobody looks for what has no record any more
                    self._sweep.add(self._freed)
                self._sweep.close()
                if self.is_temporary and isinstance(self.root, Path):
                    rmtree(self.root, ignore_errors=True)
            finally:
                lock.close()
            self._lock = None

    def _forget(self) -> None:
        """The records that nothing keeps, and a step later what only they needed.

        `settle` has synced the directory since: no power failure brings back a record without its segments.
        """
        self._sweep.add(self._freed)
        self._freed = set()
        try:
            past = self._past()
        except StateError as error:  # what a damaged tag pins isn't known
            log.warning("%s; nothing is forgotten meanwhile", error)
            return
        for step in past:
            self._expired[step] = self._kept.remove(step)
        for step in self._delete_expired():
            names = self._expired.pop(step)
            self._freed |= names.difference(self._kept.beside(step), *self._expired.values())
        if past:
            self._put_back(self.tags.steps().keys() & {*past})
        self.tags.sweep()
        self._sweep.beside()

    def _delete_expired(self) -> list[int]:
        """The steps whose records are gone; the others can still be read."""
        if not isinstance(self.root, ObjectPath):
            return [step for step in sorted(self._expired) if delete(self._path(step))]
        if len(self._expired) < EXPIRED:
            return []
        try:
            with disk(self.root):
                (self.root / "commits").remove(map(record_name, self._expired))
        except StateError as error:
            log.warning("%s; tried again later", error)
            return []
        return sorted(self._expired)

    def _past(self) -> list[int]:
        """The steps that nothing keeps any more."""
        if self.last is None:
            return []
        oldest = self._kept.oldest(self.keep)
        return self._kept.past(oldest, self.tags.pinned()) if min(self._kept) < oldest else []

    def _put_back(self, steps: Collection[int]) -> None:
        """The records of steps that were tagged while they were forgotten."""
        for tag in [tag for tag in self.tags.all().values() if tag.step in steps]:
            commit = Commit.from_bytes(tag.record.encode(), self._path(tag.step))
            if not all(os.path.exists(Path(self.segments.root) / name) for name in commit.segments):
                log.warning("tag '%s' came too late: step %d had gone", tag.name, tag.step)
                self.tags.remove(tag.name)
                continue
            with suppress(FileExistsError):
                create_whole(self._path(tag.step), tag.record.encode(), self.durable)
            self._kept.add(tag.step, Known.of(commit))
            self._freed -= commit.segments

    def _load(self, step: int) -> Commit | None:
        return load_commit(self.root, step)

    def _path(self, step: int) -> Place:
        return record_path(self.root, step)


def _remove(directory: str, process: int) -> None:
    """In the process that made it: a fork has the same objects."""
    if os.getpid() == process:
        rmtree(directory, ignore_errors=True)
