"""The steps before the last: which of them stay, and how the others go.

The record of a step goes first, once nothing keeps it (`Keep`, `Tags`). What only it needed goes a step
later, when the deletion of its record has been synced: no power failure brings back a record without its
segments. On a store nothing is deleted but by name: records are collected over some steps and go in one
request.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.circuits.traces.segments import Segments
from dbsp.state.keeping.keep import Keep
from dbsp.state.keeping.kept import Kept, Known
from dbsp.state.keeping.sweep import Sweep
from dbsp.state.keeping.tags import Tags
from dbsp.state.objects.path import ObjectPath
from dbsp.state.records.commits import Commit, create_whole, record_name, record_path
from dbsp.state.records.places import Place, delete

# of a store: how many records have expired before they are deleted, in one request
EXPIRED = 20

log = logging.getLogger("dbsp")


class Past:
    """Of a state directory. durable: what is put back survives a power failure."""

    def __init__(self, root: Place, segments: Segments, keep: Keep, durable: bool) -> None:
        self.keep = keep
        self.kept = Kept()
        self.tags = Tags(root)
        self.sweep = Sweep(segments)
        self._root = root
        self._segments = segments
        self._durable = durable
        self._expired: dict[int, frozenset[str]] = {}  # segments of those whose record is to be deleted
        self._freed: set[str] = set()  # of those whose record was deleted since `commits` was last synced

    def needed(self) -> set[str]:
        """The segments that a record refers to, or one that is to be deleted."""
        return self.kept.segments().union(*self._expired.values())

    def forget(self) -> None:
        """The records that nothing keeps, and what only those needed that were deleted before."""
        self.sweep.add(self._freed)
        self._freed = set()
        try:
            over = self._over()
        except StateError as error:  # what a damaged tag pins isn't known
            log.warning("%s; nothing is forgotten meanwhile", error)
            return
        for step in over:
            self._expired[step] = self.kept.remove(step)
        for step in self._delete_expired():
            names = self._expired.pop(step)
            self._freed |= names.difference(self.kept.beside(step), *self._expired.values())
        if over:
            self.put_back(self.tags.steps().keys() & {*over})
        self.tags.sweep()
        self.sweep.beside()

    def forget_again(self) -> list[int]:
        """What was forgotten, and is listed: a power failure brought it back, or a store still has it."""
        over = self._over()
        for step in over:
            needed = self.kept.remove(step)
            if isinstance(self._root, ObjectPath):
                self._expired[step] = needed
        return over

    def put_back(self, steps: Collection[int]) -> None:
        """The records of steps that were tagged while they were forgotten."""
        for tag in [tag for tag in self.tags.all().values() if tag.step in steps]:
            path = record_path(self._root, tag.step)
            commit = Commit.from_bytes(tag.record.encode(), path)
            if not all(os.path.exists(Path(self._segments.root) / name) for name in commit.segments):
                log.warning("tag '%s' came too late: step %d had gone", tag.name, tag.step)
                self.tags.remove(tag.name)
                continue
            with suppress(FileExistsError):
                create_whole(path, tag.record.encode(), self._durable)
            self.kept.add(tag.step, Known.of(commit))
            self._freed -= commit.segments

    def said(self) -> str:
        """What is kept, in words."""
        if not self.kept.steps:
            return "no step is"
        tagged = [f"{tag.step} ('{name}')" for name, tag in self.tags.all().items()]
        beside = f", and tagged are {', '.join(tagged)}" if tagged else ""
        return f"steps {self.kept.unbroken} to {self.kept.steps[-1]} are{beside}"

    def close(self) -> None:
        """Waits for what is being deleted."""
        if isinstance(self._root, ObjectPath):  # nobody looks for what has no record any more
            self.sweep.add(self._freed)
        self.sweep.close()

    def _over(self) -> list[int]:
        """The steps that nothing keeps any more."""
        if not self.kept.steps:
            return []
        oldest = self.kept.oldest(self.keep)
        return self.kept.past(oldest, self.tags.pinned()) if min(self.kept) < oldest else []

    def _delete_expired(self) -> list[int]:
        """The steps whose records are gone; the others can still be read."""
        if not isinstance(self._root, ObjectPath):
            return [step for step in sorted(self._expired) if delete(record_path(self._root, step))]
        if len(self._expired) < EXPIRED:
            return []
        try:
            with disk(self._root):
                (self._root / "commits").remove(map(record_name, self._expired))
        except StateError as error:
            log.warning("%s; tried again later", error)
            return []
        return sorted(self._expired)
