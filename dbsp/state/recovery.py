"""What an opening finds in a state directory: its last step, what is kept before it, and what to clear away.

A last record that can't be read is not passed over: going on from the one before would lose a step silently.
A damaged or missing older one is said, and missed by nobody but who asks for it. What a step that died wrote
is referred to by no record. On a store it could also be what another writer is about to commit, who doesn't
know that its lease has ended: it goes once this one's own record of that step is there.
"""

from __future__ import annotations

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.circuits.segments.segments import Segments
from dbsp.state.keeping.kept import UNREAD, Known, begun_by
from dbsp.state.keeping.past import Past
from dbsp.state.objects.path import ObjectPath
from dbsp.state.records.commits import (
    LAST,
    Commit,
    load_commit,
    marked_last,
    record_path,
    recorded_steps,
    sync,
    write_whole,
)
from dbsp.state.records.delivered import first_lacking
from dbsp.state.records.identity import NAME, NUMBERED, Identity, OtherProgram, of_another, of_before
from dbsp.state.records.places import Place, delete

# records that are asked for together, of a store
AT_ONCE = 32

log = logging.getLogger("dbsp")


class Recovery:
    """Of a state directory, for one program. Fills `past`."""

    def __init__(self, root: Place, identity: Identity, past: Past) -> None:
        self.last: Commit | None = None
        self._root = root
        self._identity = identity
        self._past = past
        self._damaged: set[int] = set()

    def read(self, segments: Segments) -> None:
        """For one who only reads. Raises StateError."""
        while self.last is None and (steps := recorded_steps(self._root)):
            self._load(steps)  # again where a writer has forgotten all that were listed
        if self.last is None:
            try:
                begun_after(self._root, 0, segments)
            except StateError:
                if not recorded_steps(self._root):
                    raise
                self.read(segments)  # a writer has begun meanwhile

    def recover(self, segments: Segments, durable: bool) -> frozenset[str]:
        """For the one who writes: puts back what is missing and can be. Raises StateError, OSError.

        Gives, on a store, the segments of steps after the last.
        """
        steps = {*recorded_steps(self._root)}
        self._past.put_back(lambda step: step not in steps)
        self._load(self._with_marked(recorded_steps(self._root), durable))
        if self.last is not None:  # with other arguments a sink may have been allowed to lag further
            self._past.lacking = first_lacking(self._root, self._identity.manifest.targets)
        self._damaged.difference_update(self._past.forget_again())
        last = self.last.step if self.last else 0
        behind = begun_after(self._root, last, segments)
        if not (self._root / NAME).exists():
            write_whole(self._root / NAME, self._identity.to_bytes(), durable)
        if isinstance(self._root, Path):
            self._clear(self._root, durable)
        if self._damaged or not behind:
            return frozenset()
        return behind - self._past.needed()

    def _load(self, steps: list[int]) -> None:
        older = [*steps]
        while older and self.last is None:
            self.last = load_commit(self._root, older.pop())
        if self.last is None:
            return
        self._past.kept.add(self.last.step, Known.of(self.last))
        for step, known in zip(older, self._load_old(older), strict=True):
            if isinstance(known, StateError):  # `commit_of` then says so
                log.warning("%s", known)
                self._damaged.add(step)
                self._past.kept.add(step, UNREAD)
            elif known is not None:
                self._past.kept.add(step, known)
        if self.last.fingerprint != self._identity.fingerprint:
            if (self._root / NAME).exists():
                raise of_before(self._root, self.last.step, self._identity)
            raise of_another(self._root, "another program", self.last.fingerprint, self._identity)
        if self.last.format > NUMBERED:
            self._refuse_other_traces(self.last)

    def _load_old(self, steps: list[int]) -> list[Known | StateError | None]:
        """Of the records before the last. On a store one by one they would take as many round trips."""
        if isinstance(self._root, Path):
            return list(map(self._known, steps))
        with ThreadPoolExecutor(AT_ONCE, "dbsp-read") as readers:
            return list(readers.map(self._known, steps))

    def _known(self, step: int) -> Known | StateError | None:
        """What a record says, or why it can't be read; None: a writer has just forgotten it."""
        try:
            commit = load_commit(self._root, step)
        except StateError as error:
            return error
        return None if commit is None else Known.of(commit)

    def _refuse_other_traces(self, last: Commit) -> None:
        """A program may come to keep other traces than it did, in another release."""
        manifest = self._identity.manifest
        there = manifest.goes_on_with(last.state) if manifest.traces else set()
        absent = manifest.traces.keys() - there - manifest.begun
        if absent:
            raise OtherProgram(
                f"{self._root}: '{self._identity.name}' keeps other rows than it did ({len(absent)} of its "
                "traces aren't there): it was compiled by another release of dbsp or Spark; use that one, or "
                "another state directory"
            )

    def _with_marked(self, steps: list[int], durable: bool) -> list[int]:
        """And the newest step, if its record was deleted: it is put back."""
        marked = marked_last(self._root)
        if marked is None or marked.step <= max(steps, default=0):
            return steps
        path = record_path(self._root, marked.step)
        assert isinstance(self._root, Path)
        assert isinstance(path, Path)
        log.warning("%s: damaged: the file was missing, and is back from its second name '%s'", path, LAST)
        os.link(self._root / LAST, path)
        if durable:
            sync(path.parent)
        return [*steps, marked.step]

    def _clear(self, root: Path, durable: bool) -> None:
        """Delete the records of forgotten steps, and what steps that died wrote."""
        for entry in os.scandir(root / "commits"):
            if entry.name.endswith(".tmp"):
                delete(Path(entry.path))
        for step in recorded_steps(root):
            if step not in self._past.kept:
                record_path(root, step).unlink()
        if durable and self.last is not None:
            # whoever is told of the last step must not lose it any more; and no record comes back without
            # its segments
            sync(root / "commits")
        if self._damaged:
            return  # what they need may be wanted yet, when they come back from a backup
        needed = self._past.kept.segments()
        for entry in os.scandir(root / "segments"):
            if entry.name not in needed:
                delete(Path(entry.path))


def begun_after(root: Place, last: int, segments: Segments) -> frozenset[str]:
    """On a store, the segments of steps after the last. Raises StateError where a record was lost.

    A segment of step n was begun when step n − 1 was committed.
    """
    origin = segments.origin
    behind = frozenset[str]() if origin is None else frozenset(origin.names("", f"{last + 1:012d}"))
    with disk(root):
        names = behind if isinstance(root, ObjectPath) else os.listdir(root / "segments")
    begun = max(map(begun_by, names), default=0)
    if begun > last + 1:
        back = f"or go back to that step: `dbsp fsck {root} --restore-to {last}`"
        raise StateError(
            f"{root / 'commits'}: damaged: step {begun - 1} was committed, and the last record is that "
            f"of step {last}; restore the directory from a backup, {back if last else 'or take a new one'}"
        )
    return behind
