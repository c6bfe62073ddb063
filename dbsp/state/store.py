"""The state directory: what survives the process.

    DIR/program.json        program text, what it keeps, format      DIR/lock    held by its one writer
    DIR/commits/*.json      the commit log, one record per step      DIR/segments/*    what commits refer to
    DIR/keep.json           how many steps are kept                  DIR/tags/*        steps that stay

Opening it reads the last commit (`Recovery`). A step is made by creating its record (`Recording`). The
records of the steps that a rule keeps or a tag pins are kept; a segment goes when no kept commit refers to it
(`Past`). What a step that died wrote is referred to by none and goes at the next opening: never before, so
that files of a running step are safe. On a store (`s3://…`) the same names are objects, and `lease` is in the
place of `lock`.
"""

from __future__ import annotations

import logging
import os
import tempfile
import weakref
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import NotKept, StateError
from dbsp.state.claim import claim, owner, settled_owner
from dbsp.state.keeping.keep import Keep, read_keep, write_keep
from dbsp.state.keeping.kept import Known, oldest_with
from dbsp.state.keeping.past import Past
from dbsp.state.keeping.tags import Tags
from dbsp.state.lock import Lock
from dbsp.state.opening import only_writer, open_segments
from dbsp.state.recording import Recording
from dbsp.state.records.commits import Commit, load_commit, mark_last, record_path, sync, write_whole
from dbsp.state.records.delivered import first_lacking
from dbsp.state.records.identity import (
    NAME,
    NEXT,
    Identity,
    OtherProgram,
    no_state,
    read_identity,
    refuse_foreign,
)
from dbsp.state.records.places import Place, place_of
from dbsp.state.recovery import Recovery

if TYPE_CHECKING:
    from dbsp.state.objects.lease import Lease

# when a chunk is compared with its checksum: all at opening, each when it is first read, or not at all. The
# second trusts what a writer before has compared within a day (`circuits/compared.py`)
VERIFY = ("open", "first read", "never")

log = logging.getLogger("dbsp")


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
        self._lock = lock
        self.is_temporary = temporary
        self.segments = open_segments(self.root, verify != "never")
        self.past = Past(self.root, self.segments, keep, durable)
        self.last: Commit | None = None
        self._recording = Recording(self.root, durable)
        self._unwritten: Identity | None = None  # what program.json is to say before the next record is there
        self._behind: frozenset[str] = frozenset()  # on a store: segments of steps after the last, at opening

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
                store._unwritten = claim(store.root, identity, store.durable)
                if keep is not None and keep != read_keep(root):
                    write_keep(root, keep, store.durable)
                recovery = Recovery(store.root, identity, store.past)
                if verify == VERIFY[1] and not temporary:
                    store.segments.trust_others()
                store._behind = recovery.recover(store.segments, store.durable)
                store.last = recovery.last
        except BaseException:
            lock.close()
            raise
        return store

    @staticmethod
    def read(directory: str | Place, verify: str = VERIFY[1]) -> tuple[Store, Identity]:
        """For looking only: no lock, nothing changed, beside a writer too."""
        root = place_of(directory)
        try:
            return Store._read(root, verify)
        except OtherProgram:
            # a writer may have changed it since its name was read, which takes longer than to read both again
            return Store._read(root, verify)

    @staticmethod
    def _read(root: Place, verify: str) -> tuple[Store, Identity]:
        with disk(root):
            if isinstance(root, Path) and not root.is_dir():
                is_ = "is a file" if root.exists() else "no such directory"
                raise StateError(f"{root}: {is_}; give the --state directory of a run")
            store = Store(root, False, read_keep(root), None, False, verify)
            identity = owner(root)
        with disk(root):
            if identity is None:
                raise no_state(root)
            recovery = Recovery(store.root, identity, store.past)
            recovery.read(store.segments)
            store.last = recovery.last
        return store, identity

    # -- commits ------------------------------------------------------------------------------------

    @property
    def steps(self) -> list[int]:
        """The steps that can be read."""
        return self.past.kept.steps

    @property
    def keep(self) -> Keep:
        """The rule by which steps are kept."""
        return self.past.keep

    @property
    def tags(self) -> Tags:
        """The names of steps that stay."""
        return self.past.tags

    @property
    def unbroken(self) -> int:
        """The step from which on all can be read."""
        return self.past.kept.unbroken

    def oldest_with(self, step: int, instant: datetime, driven: bool) -> int:
        """From which step on none will be missing once the next one is made."""
        return oldest_with(self.past.kept, self.keep, step, Known(frozenset(), instant, driven))

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
                found = read_identity(self.root)
                program = replace(program, state=found.state if found is not None else "")
                write_whole(self.root / NEXT, program.to_bytes(), self.durable)
            self._recording.create(commit)
        except OSError as error:
            # over a network a name can be made, and the answer get lost: then making it again fails
            if not self._recording.is_there(commit):
                raise self._recording.failed(commit.step, error) from error
        self.settle(commit)
        if program is not None:
            self.past.lacking = first_lacking(self.root, program.manifest.targets)
            try:
                settled_owner(self.root, self.durable)
            except OSError as error:  # the next opening does it
                log.warning("%s: %s", self.root / NEXT, error)
        self.past.sweep.add(self._behind)
        self._behind = frozenset()
        mark_last(self.root, commit.step)
        self.past.forget()

    def settle(self, commit: Commit) -> bool:
        """Whether a commit that was tried is true; then it is the last one here, too. Raises Unsettled."""
        if self.last is commit:
            return True
        if not self._recording.is_there(commit):
            return False
        self._recording.sync(commit.step)
        self.past.kept.add(commit.step, Known.of(commit))
        self.last = commit
        return True

    def commit_of(self, step: int) -> Commit:
        """The record of a kept step. Raises StateError, which says which steps are kept."""
        if self.last is not None and step == self.last.step:
            return self.last
        commit = load_commit(self.root, step) if step in self.past else None
        if (
            commit is None
            and self.last is not None
            and max(self.last.oldest, self.past.oldest, self.steps[0]) < step < self.last.step
        ):
            raise StateError(
                f"{record_path(self.root, step)}: damaged: the file is missing; what step {step} changed, "
                "and the views as of it, can't be looked at: the steps after it don't need it"
            )
        if commit is None:
            raise NotKept(f"{self.root}: step {step} is not kept; {self.said_kept()} ({self.keep})")
        return commit

    def said_kept(self) -> str:
        """What is kept, in words."""
        return self.past.said()

    def discard(self, names: Iterable[str]) -> None:
        """Delete segments that no commit refers to, of a step that failed or of staged input."""
        self.past.sweep.now(names)

    def discard_attempt(self, prefix: str) -> None:
        """Delete whatever a failed attempt at a step wrote."""
        self.past.sweep.attempt(prefix)

    def close(self) -> None:
        """Release the lock; a temporary directory disappears. Once is enough, and twice does no harm."""
        lock = self._lock
        if lock is not None:
            try:
                self.past.close()
                self.segments.tell_others()
                if self.is_temporary and isinstance(self.root, Path):
                    rmtree(self.root, ignore_errors=True)
            finally:
                lock.close()
            self._lock = None


def _remove(directory: str, process: int) -> None:
    """In the process that made it: a fork has the same objects."""
    if os.getpid() == process:
        rmtree(directory, ignore_errors=True)
